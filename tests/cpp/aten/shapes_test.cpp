// PyTorch's shapes, parts and sorting in C++.
#include "composit/aten/shapes.h"

#include "composit/aten/sorting.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace composit;
using aten::Values;
using aten::values_of;
using ir::Shape;
using ir::Tensor;

Tensor numbers(const Shape& shape) {
    std::vector<double> values(static_cast<size_t>(ir::element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    return numpy::array<double>(values, shape);
}

TEST(aten_shapes, lengths_of_minus_one_follow) {
    const Tensor x = numbers({2, 3, 4});
    EXPECT_EQ(aten::reshape(x, {4, -1}).shape(), (Shape{4, 6}));
    EXPECT_EQ(aten::flatten(x, 1).shape(), (Shape{2, 12}));
    EXPECT_EQ(aten::flatten(numpy::scalar(ir::DType::float64, 1)).shape(), (Shape{1}));
    EXPECT_EQ(aten::unflatten(x, -1, {2, -1}).shape(), (Shape{2, 3, 2, 2}));
    EXPECT_EQ(aten::expand(numbers({3, 1}), {2, -1, 4}).shape(), (Shape{2, 3, 4}));
    EXPECT_EQ(aten::squeeze(numbers({1, 3, 1}), {0, 1}).shape(), (Shape{3, 1}));
    EXPECT_EQ(aten::unsqueeze(x, -1).shape(), (Shape{2, 3, 4, 1}));
    EXPECT_THROW((void)aten::reshape(x, {-1, -1}), ValueError);
    EXPECT_THROW((void)aten::reshape(x, {5, -1}), ValueError);
    EXPECT_THROW((void)aten::reshape(numbers({0}), {0, -1}), ValueError);
    EXPECT_THROW((void)aten::flatten(x, 2, 1), ValueError);
    EXPECT_THROW((void)aten::unsqueeze(x, 4), IndexError);
}

TEST(aten_shapes, parts_lie_one_after_the_other) {
    const Tensor x = numbers({5});
    const auto parts = aten::split(x, 2);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(values_of(parts[2]), (Values{4}));
    EXPECT_EQ(aten::split(numbers({0}), 0).size(), 1u);
    EXPECT_EQ(values_of(aten::split(x, std::vector<int64_t>{1, 4})[1]), (Values{1, 2, 3, 4}));
    EXPECT_EQ(aten::chunk(x, 2).size(), 2u);
    EXPECT_EQ(values_of(aten::tensor_split(x, 2)[0]), (Values{0, 1, 2}));
    // Places are slices' ends: negative ones count from the end.
    EXPECT_EQ(values_of(aten::tensor_split(x, std::vector<int64_t>{-1})[0]), (Values{0, 1, 2, 3}));
    EXPECT_EQ(values_of(aten::tensor_split(x, std::vector<int64_t>{-1})[1]), (Values{4}));
    EXPECT_EQ(values_of(aten::narrow(x, 0, -2, 2)), (Values{3, 4}));
    EXPECT_EQ(values_of(aten::unbind(numbers({2, 2}), 1)[1]), (Values{1, 3}));
    EXPECT_THROW((void)aten::split(x, std::vector<int64_t>{6, -1}), ValueError);
    EXPECT_THROW((void)aten::split(x, 0), ValueError);
    EXPECT_THROW((void)aten::narrow(x, 0, 4, 2), ValueError);
    EXPECT_THROW((void)aten::chunk(x, 0), RuntimeError);
    EXPECT_THROW((void)aten::tensor_split(x, 0), RuntimeError);
}

TEST(aten_shapes, elements_stand_around_and_on_diagonals) {
    const Tensor x = numpy::array<double>({1, 2, 3});
    EXPECT_EQ(values_of(aten::pad(x, {1, -1}, "constant", 9)), (Values{9, 1, 2}));
    EXPECT_EQ(values_of(aten::pad(x, {2, 0}, "reflect")), (Values{3, 2, 1, 2, 3}));
    EXPECT_EQ(values_of(aten::pad(x, {1, 1}, "replicate")), (Values{1, 1, 2, 3, 3}));
    EXPECT_EQ(values_of(aten::pad(x, {1, 1}, "circular")), (Values{3, 1, 2, 3, 1}));
    EXPECT_THROW((void)aten::pad(x, {3, 0}, "reflect"), RuntimeError);
    EXPECT_THROW((void)aten::pad(x, {1}, "constant"), ValueError);
    const Tensor pair = numpy::array<double>({1, 2});
    EXPECT_EQ(values_of(aten::diag_embed(pair)), (Values{1, 0, 0, 2}));
    // The dimensions may be counted from the first one, too.
    EXPECT_EQ(values_of(aten::diag_embed(pair, 1, 0, 1)), (Values{0, 1, 0, 0, 0, 2, 0, 0, 0}));
    EXPECT_THROW((void)aten::diag_embed(pair, 0, 0, -2), ValueError);
    EXPECT_EQ(values_of(aten::block_diag({pair, numpy::array<double>({3})})),
              (Values{1, 2, 0, 0, 0, 3}));
    EXPECT_EQ(values_of(aten::cartesian_prod({pair, x})), (Values{1, 1, 1, 2, 1, 3,  //
                                                                  2, 1, 2, 2, 2, 3}));
    EXPECT_EQ(values_of(aten::sum_to_size(numbers({2, 2}), {1, 2})), (Values{2, 4}));
    EXPECT_THROW((void)aten::sum_to_size(numbers({2, 2}), {3}), ValueError);
    EXPECT_EQ(values_of(aten::roll(x, {1}, 0)), (Values{3, 1, 2}));
    EXPECT_THROW((void)aten::roll(x, {1, 2}), RuntimeError);
    EXPECT_THROW((void)aten::tril(x), RuntimeError);
}

TEST(aten_sorting, places_and_runs) {
    const Tensor x = numpy::array<double>({3, 1, 3, 2});
    const auto [values, places] = aten::topk(x, 2);
    EXPECT_EQ(values_of(values), (Values{3, 3}));
    EXPECT_EQ(values_of(places), (Values{0, 2}));
    EXPECT_EQ(values_of(aten::kthvalue(x, 2).first), (Values{2}));
    EXPECT_EQ(values_of(aten::median(x).first), (Values{2}));
    EXPECT_THROW((void)aten::topk(x, 5), ValueError);
    EXPECT_THROW((void)aten::kthvalue(x, 0), ValueError);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto [middle, at] = aten::median(numpy::array<double>({1, nan, 2}), 0);
    EXPECT_TRUE(std::isnan(values_of(middle)[0]));
    EXPECT_EQ(values_of(at), (Values{1}));
    EXPECT_TRUE(std::isnan(values_of(aten::median(numbers({0})).first)[0]));
    EXPECT_THROW((void)aten::median(numpy::zeros({0}, ir::DType::int64), 0), IndexError);
    const aten::Runs runs = aten::unique_consecutive(numpy::array<double>({1, 1, 2, 1}));
    EXPECT_EQ(values_of(runs.values), (Values{1, 2, 1}));
    EXPECT_EQ(values_of(runs.inverse), (Values{0, 0, 1, 2}));
    EXPECT_EQ(values_of(runs.counts), (Values{2, 1, 1}));
    const Tensor rows = numpy::array<double>({1, 2, 1, 2, 3, 4}, {3, 2});
    EXPECT_EQ(values_of(aten::unique_consecutive(rows, 0).values), (Values{1, 2, 3, 4}));
    EXPECT_EQ(values_of(aten::unique_consecutive(numbers({0})).counts), (Values{}));
}

}  // namespace
