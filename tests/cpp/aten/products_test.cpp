// PyTorch's products and draws in C++.
#include "composit/aten/products.h"

#include "composit/aten/places.h"
#include "composit/aten/reductions.h"
#include "composit/aten/sampling.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/ops/ops.h"
#include "number.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace composit;
using aten::Values;
using aten::values_of;
using ir::DType;
using ir::Tensor;

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

}  // namespace
