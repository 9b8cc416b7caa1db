// PyTorch's products, elementwise functions, rows of numbers and draws in C++.
#include "composit/aten/products.h"

#include "composit/aten/creation.h"
#include "composit/aten/places.h"
#include "composit/aten/pointwise.h"
#include "composit/aten/reductions.h"
#include "composit/aten/sampling.h"
#include "composit/aten/schedulers.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/ops/ops.h"
#include "number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace composit;
using aten::Values;
using aten::values_of;
using ir::DType;
using ir::Tensor;

TEST(aten_products, short_floats_keep_to_their_greatest_number) {
    const Tensor x = numpy::array<double>({30, -30, 2}, {3});
    const auto square = [&](DType dtype) {
        const Tensor short_x = ops::astype(x, dtype);
        const Tensor made = aten::product(short_x, ops::astype(numpy::array<double>({30}), dtype));
        EXPECT_EQ(made.dtype(), dtype);
        return values_of(ops::astype(made, DType::float64));
    };
    EXPECT_EQ(square(DType::float8_e4m3fn), (Values{448, -448, 60}));
    EXPECT_EQ(square(DType::float32), (Values{900, -900, 60}));
}

TEST(aten_products, dtypes_and_dimensions_are_checked) {
    const Tensor a = numpy::array<double>({1, 2, 3, 4}, {2, 2}), x = numpy::array<double>({5, 6});
    EXPECT_EQ(values_of(aten::mv(a, x)), (Values{17, 39}));
    EXPECT_EQ(values_of(aten::dot(x, x)), (Values{61}));
    EXPECT_EQ(values_of(aten::linear(x, a, x)), (Values{22, 45}));
    const Tensor half = ops::astype(a, DType::float16);
    EXPECT_EQ(aten::mm(half, half, DType::float32).dtype(), DType::float32);
    EXPECT_THROW((void)aten::mm(half, half, DType::float64), ValueError);
    EXPECT_THROW((void)aten::mm(a, half), ValueError);
    EXPECT_THROW((void)aten::mm(a, x), ValueError);
    EXPECT_THROW((void)aten::linear(numpy::zeros({3}), a), ValueError);
}

TEST(aten_products, of_three_elements) {
    const Tensor a = numpy::array<double>({1, 0, 0}, {3, 1}),
                 b = numpy::array<double>({0, 1, 0}, {3, 1});
    EXPECT_EQ(values_of(aten::cross(a, b)), (Values{0, 0, 1}));
    EXPECT_THROW((void)aten::cross(a, b, 1), RuntimeError);
    EXPECT_THROW((void)aten::cross(numpy::zeros({2}), numpy::zeros({2})), RuntimeError);
}

TEST(aten_sampling, places_have_weights) {
    const Tensor key = random::key(int64_t{3}), weights = numpy::array<double>({0, 2, 1, 0});
    Values drawn = values_of(aten::multinomial(key, weights, 2));
    std::sort(drawn.begin(), drawn.end());
    EXPECT_EQ(drawn, (Values{1, 2}));
    const Values many = values_of(aten::multinomial(key, weights, 3000, true));
    EXPECT_EQ(std::count(many.begin(), many.end(), 0), 0);
    EXPECT_NEAR(static_cast<double>(std::count(many.begin(), many.end(), 1)), 2000, 150);
    EXPECT_THROW((void)aten::multinomial(key, weights, 5), RuntimeError);
    EXPECT_THROW((void)aten::multinomial(key, numpy::array<int64_t>({1}), 1), TypeError);
    const Values shares = values_of(aten::dirichlet(key, numpy::array<double>({1, 2, 3})));
    EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1, 1e-12);
}

TEST(aten_places, indices_are_counted_from_the_first) {
    const Tensor x = numpy::zeros({4, 2}), index = numpy::array<int64_t>({0, -1}, {1, 2});
    EXPECT_EQ(values_of(aten::counted_from_first(index, x, 0)), (Values{0, 4}));
    EXPECT_THROW(aten::check_index_rank(numpy::array<int64_t>({0}), x), RuntimeError);
    EXPECT_THROW((void)aten::counted_from_first(index, x, 2), IndexError);
    EXPECT_THROW(aten::check_not_empty("argmax", numpy::zeros({0, 2}), 0), IndexError);
    EXPECT_THROW(aten::check_not_empty("argmax", numpy::zeros({0, 2}), {}), IndexError);
    aten::check_not_empty("argmax", numpy::zeros({0, 2}), 1);
}

TEST(aten_pointwise, dtypes_are_pytorchs) {
    const Tensor x = numpy::array<int64_t>({-7, 7}), y = numpy::array<int64_t>({2, 2});
    EXPECT_EQ(aten::div(x, y).dtype(), DType::float32);
    EXPECT_EQ(values_of(aten::div(x, y, "floor")), (Values{-4, 3}));
    EXPECT_EQ(values_of(aten::div(x, y, "trunc")), (Values{-3, 3}));
    EXPECT_EQ(values_of(aten::div(numpy::array<double>({-7}), 2, "trunc")), (Values{-3}));
    EXPECT_THROW((void)aten::div(x, y, "nearest"), RuntimeError);
    const Tensor image = numpy::array<double>({-1, -1, -1, -1}, {1, 2, 2});
    EXPECT_EQ(values_of(aten::prelu(image, numpy::array<double>({2, 3}))),
              (Values{-2, -2, -3, -3}));
    const Values found = values_of(
        aten::xlogy(numpy::array<double>({0, 0, 2}), numpy::array<double>({0, std::nan(""), 1})));
    EXPECT_EQ(found[0], 0);
    EXPECT_TRUE(std::isnan(found[1]));
    const Tensor v = numpy::array<double>({3, 4, 0, 5}, {2, 2});
    EXPECT_EQ(values_of(aten::norm_except_dim(v)), (Values{5, 5}));
    EXPECT_EQ(values_of(aten::norm_except_dim(v, 2, -1)), (Values{std::sqrt(50.0)}));
    EXPECT_EQ(values_of(aten::norm_except_dim(numpy::array<double>({-2, 1}))), (Values{2, 1}));
}

TEST(aten_creation, rows_of_numbers) {
    const auto values = [](const ir::Array& array) { return values_of(ir::constant(array)); };
    EXPECT_EQ(values(aten::arange(int64_t{5}, int64_t{0}, int64_t{-2}, DType::int32)),
              (Values{5, 3, 1}));
    EXPECT_EQ(values(aten::arange(0.0, 1.0, 0.5, DType::float16)), (Values{0, 0.5}));
    EXPECT_EQ(values(aten::range(0, 1, 0.5, DType::float64)), (Values{0, 0.5, 1}));
    EXPECT_EQ(values(aten::linspace(0, 1, 3, DType::float32)), (Values{0, 0.5, 1}));
    EXPECT_EQ(values(aten::linspace(0, 5, 3, DType::int64)), (Values{0, 2, 5}));
    EXPECT_EQ(values(aten::linspace(2, 5, 1, DType::float32)), (Values{2}));
    EXPECT_THROW((void)aten::arange(0.0, 1.0, 0.0, DType::float32), RuntimeError);
    EXPECT_THROW((void)aten::arange(0.0, 1.0, -1.0, DType::float32), RuntimeError);
    EXPECT_THROW((void)aten::linspace(0, 1, -1, DType::float32), RuntimeError);
    EXPECT_EQ(aten::annealed_share(5, 10, false), 0.5);
    EXPECT_EQ(aten::annealed_share(0, 0, true), 1);
}

}  // namespace
