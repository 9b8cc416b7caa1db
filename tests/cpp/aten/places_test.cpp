// PyTorch's gathers, scatters and factors of matrices in C++.
#include "composit/aten/places.h"

#include "composit/aten/linalg.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/linear.h"
#include "number.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace composit;
using ir::Tensor;

using aten::Values;
using aten::values_of;

TEST(aten_places, what_is_scattered_twice_is_combined) {
    const Tensor x = numpy::array<double>({1, 2, 3}), from = numpy::array<double>({5, 4, 7});
    const Tensor index = numpy::array<int64_t>({0, 0, 2});
    EXPECT_EQ(values_of(aten::gather(x, 0, index)), (Values{1, 1, 3}));
    EXPECT_EQ(values_of(aten::scatter(x, 0, index, from)), (Values{4, 2, 7}));
    EXPECT_EQ(values_of(aten::scatter(x, -1, index, 9)), (Values{9, 2, 9}));
    EXPECT_EQ(values_of(aten::scatter(x, 0, index, from, "add")), (Values{10, 2, 10}));
    EXPECT_EQ(values_of(aten::scatter_reduce(x, 0, index, from, "mean")), (Values{10.0 / 3, 2, 5}));
    EXPECT_EQ(values_of(aten::scatter_reduce(x, 0, index, from, "amin", false)), (Values{4, 2, 7}));
    EXPECT_EQ(values_of(aten::index_add(x, 0, index, from, 2)), (Values{19, 2, 17}));
    EXPECT_THROW((void)aten::scatter_reduce(x, 0, index, from, "median"), RuntimeError);
}

TEST(aten_places, segments_are_reduced) {
    const Tensor rows = numpy::array<double>({1, 2, 3, 4});
    const Tensor lengths = numpy::array<int64_t>({1, 0, 3});
    EXPECT_EQ(values_of(aten::segment_reduce(rows, "sum", lengths)), (Values{1, 0, 9}));
    const Tensor ends = numpy::array<int64_t>({0, 1, 1, 4});
    // The initial value is one more addend, as in PyTorch.
    EXPECT_EQ(values_of(aten::segment_reduce(rows, "mean", ends, true, false, 8)),
              (Values{9, 8, 17.0 / 3}));
    EXPECT_THROW((void)aten::segment_reduce(rows, "sum", numpy::array<int64_t>({1, 2})),
                 RuntimeError);
}

TEST(aten_linalg, factors_give_the_matrix_and_its_solutions) {
    const Tensor a = numpy::array<double>({0, 2, 4, 1}, {2, 2}), b = numpy::array<double>({2, 5});
    const aten::LuResult found = aten::lu_factor(a);
    EXPECT_EQ(values_of(found.pivots), (Values{2, 2}));
    EXPECT_EQ(values_of(aten::order_of(found.pivots, 2)), values_of(found.order));
    const auto [lower, upper] = aten::split_lu(found.lu);
    const Tensor p = aten::permutation_of(found.order, a.dtype());
    EXPECT_EQ(values_of(numpy::matmul(p, numpy::matmul(lower, upper))), (Values{0, 2, 4, 1}));
    EXPECT_EQ(values_of(aten::solve(a, b)), (Values{1, 1}));
    EXPECT_EQ(values_of(aten::pinv(numpy::array<double>({2, 0, 0, 0}, {2, 2}))),
              (Values{0.5, 0, 0, 0}));
    EXPECT_EQ(values_of(aten::vander(b, 3)), (Values{1, 2, 4, 1, 5, 25}));
    EXPECT_EQ(values_of(aten::matrix_exp(numpy::array<double>({0, 3, 0, 0}, {2, 2}))),
              (Values{1, 3, 0, 1}));
}

}  // namespace
