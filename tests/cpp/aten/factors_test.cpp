// Factors of symmetric matrices, orthogonal matrices, and Airy's function, in C++.
#include "composit/aten/ldl.h"
#include "composit/aten/normalization.h"
#include "composit/aten/orthogonal.h"
#include "composit/aten/special.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

using namespace composit;
using aten::number;
using aten::Values;
using aten::values_of;
using ir::Tensor;

void expect_near(const Tensor& x, const Values& wanted, double bound = 1e-12) {
    const Values found = values_of(x);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], bound) << i;
}

TEST(aten_ldl, blocks_of_two_rows_stand_where_the_diagonal_is_zero) {
    const Tensor a = numpy::array<double>({0, 1, 1, 0}, {2, 2}),
                 b = numpy::array<double>({3, 5}, {2, 1});
    const aten::LdlResult found = aten::ldl_factor(a);
    EXPECT_EQ(values_of(found.ld), (Values{0, 0, 1, 0}));
    EXPECT_EQ(values_of(found.pivots), (Values{-2, -2}));
    EXPECT_EQ(values_of(found.info), (Values{0}));
    expect_near(aten::ldl_solve(found.ld, found.pivots, b), {5, 3});
}

TEST(aten_ldl, rows_are_exchanged_for_large_pivots) {
    const Tensor a = numpy::array<double>({1, 2, 3, 2, 4, 5, 3, 5, 9}, {3, 3});
    const aten::LdlResult found = aten::ldl_factor(a);
    EXPECT_EQ(values_of(found.pivots), (Values{3, 2, 3}));
    const Tensor x = numpy::array<double>({1, -2, 0.5}, {3, 1});
    expect_near(aten::ldl_solve(found.ld, found.pivots, numpy::matmul(a, x)), {1, -2, 0.5}, 1e-10);
    EXPECT_EQ(values_of(aten::ldl_factor(numpy::zeros({2, 2})).info), (Values{1}));
}

TEST(aten_ldl, what_does_not_fit_is_refused) {
    const Tensor one = numpy::eye(2), b = numpy::ones({2, 1});
    EXPECT_THROW((void)aten::ldl_factor(numpy::ones({2, 3})), RuntimeError);
    EXPECT_THROW((void)aten::ldl_solve(one, numpy::array<int64_t>({0, 1}), b), RuntimeError);
    EXPECT_THROW((void)aten::ldl_solve(one, numpy::array<int64_t>({1, -2}), b), RuntimeError);
    EXPECT_THROW((void)aten::ldl_solve(one, numpy::array<int64_t>({1, 2}), numpy::ones({3, 1})),
                 RuntimeError);
}

TEST(aten_orthogonal, all_maps_have_orthonormal_columns) {
    const Tensor x = numpy::array<double>({1, 0.3, -0.5, -1, 0.7, 2}, {3, 2});
    for (const char* map : {"matrix_exp", "cayley", "householder"}) {
        const Tensor q = aten::orthogonal(x, map);
        expect_near(numpy::matmul(numpy::matrix_transpose(q), q), {1, 0, 0, 1});
    }
    const Tensor q = aten::nearest_orthogonal(x);
    expect_near(numpy::matmul(numpy::matrix_transpose(q), q), {1, 0, 0, 1});
    expect_near(aten::orthogonal(aten::householder_form(q), "householder"), values_of(q));
    EXPECT_THROW((void)aten::orthogonal(x, "other"), ValueError);
    EXPECT_THROW((void)aten::orthogonal(numpy::matrix_transpose(x), "cayley"), ValueError);
}

TEST(aten_normalization, the_first_channel_stays_among_the_neighbours) {
    const Tensor x = numpy::array<double>({1, 2, 3, 4}, {1, 4, 1, 1});
    // Sums of squares: 1 + 4, 1 + 4 + 9, 1 + 4 + 9 + 16, 1 + 9 + 16.
    expect_near(aten::cross_map_lrn(x, 3, 3, 1, 0), {1.0 / 5, 2.0 / 14, 3.0 / 30, 4.0 / 26});
    EXPECT_THROW((void)aten::cross_map_lrn(numpy::ones({2, 3}), 3), ValueError);
}

TEST(aten_special, airys_function_has_no_gaps) {
    expect_near(aten::airy_ai(numpy::array<double>({0, 1, -1, 5, -5})),
                {0.355028053887817239, 0.135292416312881416, 0.535560883292352119,
                 1.083444281360744e-4, 0.350761009024114319});
    for (const double edge : {-3.0, 1.5})
        EXPECT_NEAR(number(aten::airy_ai(numpy::full({}, edge - 1e-9))),
                    number(aten::airy_ai(numpy::full({}, edge + 1e-9))), 1e-8);
    EXPECT_TRUE(std::isnan(number(aten::airy_ai(numpy::full({}, INFINITY)))));
}

}  // namespace
