// Operators that draw numbers. A node's seed begins NumPy's legacy generator, so that the same
// model gives the same numbers; a node without a seed draws anew whenever the graph is built.
#include "composit/numpy/random.h"

#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/operators.h"

#include <random>

namespace composit::onnx {
namespace draws {
namespace {

using numpy::apply;

// The seed is an integer of Dropout, a float of the others.
numpy::RandomState generator_of(const Call& call, bool is_integer) {
    if (!call.has_attribute("seed"))
        return numpy::RandomState(static_cast<int64_t>(std::random_device()()));
    const int64_t seed =
        is_integer ? call.integer("seed", 0) : static_cast<int64_t>(call.number("seed", 0));
    return numpy::RandomState(seed & 0xffffffff);
}

Values dropout(Call& call) {
    const Tensor& x = call.tensor(0);
    const bool is_training = call.opset() >= 12 && call.has(2) && call.known_integer(2) != 0;
    const double ratio = call.has(1) ? call.known_number(1) : 0.5;
    if (!is_training || ratio == 0) return {call.value(0), numpy::ones(x.shape(), DType::boolean)};
    numpy::RandomState generator = generator_of(call, true);
    const Tensor mask = apply("greater_equal", {generator.uniform(0.0, 1.0, x.shape()), ratio});
    return {apply("where", {mask, x, 0.0}) * (1 / (1 - ratio)), mask};
}

Values bernoulli(Call& call) {
    const Tensor& p = call.tensor(0);
    const ElementType type = call.element("dtype", call.value(0).element());
    const Tensor drawn = generator_of(call, false).uniform(0.0, 1.0, p.shape());
    return {Value(cast(apply("less", {drawn, p}), type), type)};
}

Shape shape_of_like(const Call& call) { return call.value(0).shape(); }

Value normal_of(const Call& call, const Shape& shape, ElementType type) {
    const Tensor drawn =
        generator_of(call, false).normal(call.number("mean", 0), call.number("scale", 1), shape);
    return {cast(drawn, type), type};
}
Value uniform_of(const Call& call, const Shape& shape, ElementType type) {
    const Tensor drawn =
        generator_of(call, false).uniform(call.number("low", 0), call.number("high", 1), shape);
    return {cast(drawn, type), type};
}

template <Value (*draw)(const Call&, const Shape&, ElementType)>
Values of_shape(Call& call) {
    return {draw(call, call.integers("shape"), call.element("dtype", ElementType::float32))};
}
template <Value (*draw)(const Call&, const Shape&, ElementType)>
Values of_like(Call& call) {
    return {draw(call, shape_of_like(call), call.element("dtype", call.value(0).element()))};
}

// Labels with probabilities in proportion to exp(x), by the greatest of x plus Gumbel's noise.
Values multinomial(Call& call) {
    const Tensor& x = call.tensor(0);
    call.check(x.rank() == 2, "a tensor of shape ", x.shape(), ". (batch, classes) is required.");
    const int64_t count = call.integer("sample_size", 1);
    const ElementType type = call.element("dtype", ElementType::int32);
    const Tensor noise =
        generator_of(call, false).gumbel(0.0, 1.0, Shape{x.shape()[0], count, x.shape()[1]});
    const Tensor labels = numpy::argmax(numpy::expand_dims(x, 1) + noise, -1);
    return {Value(cast(labels, type), type)};
}

}  // namespace
}  // namespace draws

void add_random(Registry& registry) {
    using namespace draws;
    registry.add("Bernoulli", bernoulli);
    registry.add("Dropout", dropout);
    registry.add("Multinomial", multinomial);
    registry.add("RandomNormal", of_shape<normal_of>);
    registry.add("RandomNormalLike", of_like<normal_of>);
    registry.add("RandomUniform", of_shape<uniform_of>);
    registry.add("RandomUniformLike", of_like<uniform_of>);
}

}  // namespace composit::onnx
