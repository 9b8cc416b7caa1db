// How long kernels are taken to last: what is shared out between threads depends on it.
#include "composit/backends/cpp/work.h"

#include "composit/numpy/creation.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/runtime/chunks.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

#include <functional>

namespace composit::tests {
namespace {

using ir::Tensor;

double nanoseconds(const std::function<Tensor(const Tensor&)>& function, const ir::Shape& shape,
                   ir::DType dtype = ir::DType::float32) {
    const Tensor x = ir::input("x", dtype, shape);
    const auto program = transforms::lower({function(x)}, {x}, {.name = "f"}).program;
    double all = 0;
    for (const auto& kernel : program.kernels) all += cpp::nanoseconds_of(kernel, program);
    return all;
}

bool is_shared_out(double nanoseconds) { return nanoseconds >= 2 * runtime::nanoseconds_per_chunk; }

TEST(Work, ThreadsAreNotWokenForLittle) {
    const auto sum = [](const Tensor& x) { return x + x; };
    const auto tanh = [](const Tensor& x) { return ops::map("tanh", {x}); };
    EXPECT_FALSE(is_shared_out(nanoseconds(sum, {128, 64})));
    EXPECT_TRUE(is_shared_out(nanoseconds(sum, {512, 1024})));
    EXPECT_FALSE(is_shared_out(nanoseconds(tanh, {64, 64})));
    EXPECT_TRUE(is_shared_out(nanoseconds(tanh, {512, 64})));
}

TEST(Work, FunctionsAreAsLongAsTheirPolynomials) {
    const double sum = nanoseconds([](const Tensor& x) { return x + x; }, {4096});
    const double exp = nanoseconds([](const Tensor& x) { return ops::map("exp", {x}); }, {4096});
    EXPECT_GT(exp, 2 * sum);
    EXPECT_LT(exp, 20 * sum);
}

TEST(Work, WhatMovesMoreTakesLonger) {
    const auto twice = [](const Tensor& x) { return x + x; };
    EXPECT_NEAR(nanoseconds(twice, {4096}, ir::DType::float64), 2 * nanoseconds(twice, {4096}),
                1e-6);
    const auto product = [](const Tensor& x) { return numpy::matmul(x, x); };
    EXPECT_GT(nanoseconds(product, {64, 64}), 4 * nanoseconds(product, {32, 32}));
    const auto copy = [](const Tensor& x) { return ops::transpose(x, {1, 0}) + x; };
    EXPECT_GT(nanoseconds(copy, {64, 64}), 2 * nanoseconds(twice, {64, 64}));
}

}  // namespace
}  // namespace composit::tests
