// compile_within: as few layers are computed again as a budget asks for, with the same bits.
#include "composit/nn/budget.h"

#include "../numpy/values.h"
#include "composit/functional/functional.h"
#include "composit/ir/operation.h"
#include "composit/nn/operations.h"
#include "composit/nn/training.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

#include <cstring>

namespace composit::nn {
namespace {

using Tensors = std::vector<Tensor>;
using Wrapped = std::function<TensorFunction(TensorFunction)>;
constexpr int layers = 6;

Tensor drawn(const Shape& shape, int seed) {
    std::vector<float> values;
    for (int64_t i = 0; i < ir::element_count(shape); ++i)
        values.push_back(static_cast<float>((i * 37 + seed * 11) % 23 - 11) / 40);
    return numpy::array<float>(values, shape);
}

// Keeps a multiple of its input, which depends on the weights.
Tensors layer(const Tensors& a) {
    return {a[0] + numpy::matmul(numpy::apply("tanh", {gelu(numpy::matmul(a[0], a[1]))}), a[2])};
}

TensorFunction training(const Wrapped& wrapped) {
    return [wrapped](const Tensors& a) {
        Tensor hidden = a[0];
        for (size_t k = 0; k < layers; ++k)
            hidden = wrapped(layer)({hidden, a[1 + 2 * k], a[2 + 2 * k]})[0];
        const Tensor loss = numpy::mean(hidden * hidden);
        Tensors results{loss};
        for (const Tensor& g : chain_rule({{loss, loss}}, {a.begin() + 1, a.end()}))
            results.push_back(g);
        return results;
    };
}

Tensors arguments() {
    Tensors result{drawn({128, 16}, 0)};
    for (int k = 0; k < layers; ++k) {
        result.push_back(drawn({16, 64}, 2 * k + 1));
        result.push_back(drawn({64, 16}, 2 * k + 2));
    }
    return result;
}

const Wrapped as_it_is = [](const TensorFunction& f) { return f; };
const Wrapped always = [](const TensorFunction& f) { return remat(f); };
const Wrapped when_needed = [](const TensorFunction& f) { return remat_when_needed(f); };

TEST(budget, plans_stay_below_it_with_the_same_bits) {
    const Tensors given = arguments();
    const auto plain = compile_function(training(as_it_is), given);
    const int64_t most = planned_bytes(plain);
    const int64_t least = planned_bytes(compile_function(training(always), given));
    ASSERT_LT(least, most * 9 / 10);
    std::vector<Array> values;
    for (const Tensor& x : given) values.push_back(evaluate(x));
    const std::vector<Array> expected = plain(values);
    for (const int64_t memory : {most, (most + least) / 2, least}) {
        const auto compiled = compile_within(memory, training(when_needed), given);
        const int64_t planned = planned_bytes(compiled);
        EXPECT_LE(planned, memory);
        const bool is_extreme = memory == most || memory == least;
        EXPECT_EQ(planned == memory, is_extreme);  // nothing is computed again unasked
        const std::vector<Array> found = compiled(values);
        for (size_t k = 0; k < expected.size(); ++k)
            EXPECT_EQ(std::memcmp(found[k].data(), expected[k].data(), expected[k].bytes()), 0);
    }
    numpy::expect_error<OutOfMemory>(
        [&] { (void)compile_within(least - 1, training(when_needed), given); },
        text(least - 1, " bytes are allowed; ", least, " are planned at least, ", most,
             " without computing anything again, for 6 calls"));
    numpy::expect_error<OutOfMemory>([&] { (void)compile_within(1000, training(as_it_is), given); },
                                     "for 0 calls");
}

TEST(budget, elsewhere_a_layer_is_as_it_was) {
    const Tensor x = numpy::array<double>({1, 2, 3});
    const Tensor y =
        remat_when_needed([](const Tensors& a) { return Tensors{a[0] * a[0]}; })({x})[0];
    EXPECT_EQ(ir::label(y.node()), "multiply");
    EXPECT_EQ(bytes_within(y), 0);
}

TEST(budget, what_it_is_given_is_checked) {
    const TensorFunction f = [](const Tensors& a) { return a; };
    numpy::expect_error<ValueError>([&] { (void)compile_within(-1, f, {drawn({2}, 0)}); },
                                    "memory is -1");
    numpy::expect_error<ValueError>([&] { (void)compile_within(100, f, {}); },
                                    "no examples are given");
}

}  // namespace
}  // namespace composit::nn
