// PyTorch's promotion and losses in C++.
#include "composit/aten/losses.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/pooling.h"
#include "composit/aten/reductions.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using namespace composit;
using aten::number;
using ir::DType;
using ir::Tensor;

TEST(aten_dtypes, tensors_with_dimensions_decide) {
    const Tensor half = numpy::zeros({2}, DType::float16), whole = numpy::zeros({2}, DType::int32);
    const Tensor single = numpy::zeros({}, DType::float64);
    EXPECT_EQ(aten::result_dtype({half, single}), DType::float16);
    EXPECT_EQ(aten::result_dtype({whole, single}), DType::float64);
    EXPECT_EQ(aten::result_dtype({whole, ir::weak_scalar(1.5)}), DType::float32);
    EXPECT_EQ(aten::result_dtype({whole, half}), DType::float16);
    EXPECT_EQ(aten::result_dtype({half, numpy::zeros({2}, DType::bfloat16)}), DType::float32);
    EXPECT_EQ(aten::together_as_floats({whole, ir::weak_scalar(int64_t{2})})[0].dtype(),
              DType::float32);
}

TEST(aten_losses, labels_are_ignored_and_smoothed) {
    const Tensor x = numpy::array<double>({1, 2, 3, 1, 1, 1}, {2, 3});
    const Tensor labels = numpy::array<int64_t>({2, -100});
    const double first = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)) - 3;
    EXPECT_NEAR(number(aten::cross_entropy_loss(x, labels)), first, 1e-15);
    const double smoothed = 0.7 * first + 0.3 * (first + 1);
    EXPECT_NEAR(number(aten::cross_entropy_loss(x, labels, {.label_smoothing = 0.3})), smoothed,
                1e-15);
}

TEST(aten_losses, far_elements_have_lines) {
    const Tensor x = numpy::array<double>({3}), zero = numpy::array<double>({0});
    EXPECT_EQ(number(aten::huber_loss(x, zero)), 2.5);
    EXPECT_EQ(number(aten::smooth_l1_loss(x, zero, aten::Reduction::sum, 2)), 2);
    EXPECT_EQ(number(aten::l1_loss(x, zero)), 3);
}

TEST(aten_losses, divergence_of_targets_outside_the_domain) {
    const Tensor x = numpy::array<double>({-1});
    EXPECT_EQ(number(aten::kl_div(x, numpy::array<double>({0}))), 0);
    EXPECT_TRUE(std::isnan(number(aten::kl_div(x, numpy::array<double>({-1})))));
    EXPECT_EQ(number(aten::kl_div(x, numpy::array<double>({1}))), 1);
}

TEST(aten_losses, targets_that_are_no_signs_have_no_loss) {
    const Tensor a = numpy::array<double>({1, 0}), b = numpy::array<double>({0, 1});
    const auto loss = [&](double sign) {
        return number(aten::cosine_embedding_loss(
            a, b, numpy::reshape(numpy::array<double>({sign}), {}), -0.5));
    };
    EXPECT_EQ(loss(1), 1);
    EXPECT_EQ(loss(-1), 0.5);
    EXPECT_EQ(loss(0), 0);
    EXPECT_THROW(static_cast<void>(aten::cosine_embedding_loss(a, b, a)), ValueError);
}

TEST(aten_reductions, norms_of_many_orders) {
    const Tensor x = numpy::array<double>({3, -4});
    EXPECT_EQ(number(aten::vector_norm(x)), 5);
    EXPECT_EQ(number(aten::vector_norm(x, 1)), 7);
    EXPECT_EQ(number(aten::vector_norm(x, INFINITY)), 4);
    EXPECT_EQ(number(aten::vector_norm(x, 0)), 2);
    EXPECT_NEAR(number(aten::vector_norm(x, 3)), std::cbrt(91.0), 1e-14);
}

TEST(aten_pooling, with_or_without_a_batch) {
    const Tensor x = numpy::array<double>({1, 2, 3, 4}, {1, 4});
    const Tensor pooled = aten::average_pool(x, 1, {.kernel_size = {2}});
    EXPECT_EQ(pooled.shape(), (ir::Shape{1, 2}));
    EXPECT_EQ(number(pooled), 1.5);
    EXPECT_EQ(number(aten::average_pool(x, 1, {.kernel_size = {2}}, true, 4)), 0.75);
    const auto [values, places] = aten::adaptive_max_pool(x, 1, {2});
    EXPECT_EQ(number(values), 2);
    EXPECT_EQ(number(places), 1);
}

}  // namespace
