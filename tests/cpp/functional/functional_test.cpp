// grad, vjp, jvp, vmap and compile of C++ functions, with JAX's meaning.
#include "composit/functional/functional.h"

#include "../numpy/values.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

namespace composit {
namespace {

using numpy::array;
using numpy::expect_error;
using numpy::expect_values;

const auto loss = [](const Tensor& w, const Tensor& x) { return numpy::sum(w * w * x); };

TEST(grad, of_one_and_of_several_arguments) {
    const Tensor w = array<double>({1, 2}), x = array<double>({3, 4});
    expect_values<double>(grad(loss)(w, x), {2}, {6, 16});
    expect_values<double>(grad(loss, 1)(w, x), {2}, {1, 4});
    const Tensors both = grad(loss, std::vector<int64_t>{0, -1})(w, x);
    expect_values<double>(both[1], {2}, {1, 4});
    const auto [value, gradient] = value_and_grad(loss)(w, x);
    expect_values<double>(value, {}, {19});
    expect_values<double>(gradient, {2}, {6, 16});
}

TEST(grad, arguments_are_independent) {
    const Tensor w = array<double>({1, 2});
    expect_values<double>(grad(loss)(w, w), {2}, {2, 8});  // only through the first
    expect_values<double>(grad(loss)(w, w * w), {2}, {2, 16});
}

TEST(grad, of_grad) {
    const auto cube = [](const Tensor& x) { return numpy::sum(x * x * x); };
    const auto slope = [&](const Tensor& x) { return numpy::sum(grad(cube)(x)); };
    expect_values<double>(grad(slope)(array<double>({1, 2})), {2}, {6, 12});
}

TEST(grad, mistakes_in_jaxs_words) {
    const auto identity = [](const Tensor& x) { return x; };
    expect_error<TypeError>([&] { (void)grad(identity)(array<double>({1, 2})); },
                            "Gradient only defined for scalar-output functions. Output had shape: "
                            "(2,)");
    expect_error<TypeError>([&] { (void)grad(identity)(array<int64_t>({1}, {})); },
                            "grad requires real- or complex-valued inputs");
    expect_error<TypeError>([&] { (void)grad(identity, 1)(array<double>({1}, {})); }, "argnum 1");
}

TEST(vjp, pullback_can_be_called_again) {
    const auto f = [](const Tensor& x, const Tensor& y) { return x * y; };
    const auto [values, pullback] = vjp(f, array<double>({1, 2}), array<double>({3, 4}));
    expect_values<double>(values[0], {2}, {3, 8});
    expect_values<double>(pullback({array<double>({1, 0})})[0], {2}, {3, 0});
    expect_values<double>(pullback({array<double>({0, 1})})[1], {2}, {0, 2});
}

TEST(jvp, pushes_tangents_forward) {
    const auto square = [](const Tensor& x) { return x * x; };
    const auto [value, tangent] = jvp(square, array<double>({3, 4}), array<double>({1, 10}));
    expect_values<double>(value, {2}, {9, 16});
    expect_values<double>(tangent, {2}, {6, 80});
}

TEST(vmap, over_leading_and_other_axes) {
    const auto dot = [](const Tensor& x, const Tensor& y) { return numpy::dot(x, y); };
    const Tensor x = numpy::counting({2, 3});
    expect_values<double>(vmap(dot)(x, x), {2}, {5, 50});
    expect_values<double>(vmap(dot, {0, std::nullopt})(x, array<double>({1, 1, 1})), {2}, {3, 12});
    expect_values<double>(vmap(dot, {1, 1})(x, x), {3}, {9, 17, 29});
    expect_error<ValueError>([&] { (void)vmap(dot)(x, numpy::counting({3, 3})); },
                             "vmap got inconsistent sizes for array axes to be mapped: 2 and 3");
}

TEST(vmap, per_example_gradients) {
    const auto f = [](const Tensor& w, const Tensor& x) { return numpy::sum(w * x * x); };
    const Tensor x = numpy::counting({2, 2});
    const Tensor g = vmap(grad(f), {std::nullopt, 0})(array<double>({1, 1}), x);
    expect_values<double>(g, {2, 2}, {0, 1, 4, 9});
}

TEST(compile, serves_any_values_of_its_shapes) {
    const auto f = [](const Tensor& x, const Tensor& y) { return x + 2.0 * y; };
    const Tensor example = numpy::zeros({2});
    const execute::Compiled compiled = compile(f, {}, example, example);
    const auto argument = [](std::vector<double> v) { return Array::of(DType::float64, {2}, v); };
    const auto results = compiled({argument({1, 2}), argument({10, 20})});
    EXPECT_EQ(results[0].data_as<double>()[1], 42);
}

}  // namespace
}  // namespace composit
