// Sparse tensors, names of devices, autocast's lists and LBFGS, in C++.
#include "composit/aten/sparse.h"

#include "composit/aten/autocast.h"
#include "composit/aten/device_names.h"
#include "composit/aten/lbfgs.h"
#include "composit/aten/line_search.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace {

using namespace composit;
using aten::Values;
using aten::values_of;
using ir::Shape;
using ir::Tensor;

// (0, 1): 2 and 3, (1, 0): 4
aten::SparseElements example() {
    return {numpy::array<int64_t>({1, 0, 0, 0, 1, 1}, {2, 3}),
            numpy::array<double>({4, 2, 3}, {3})};
}

TEST(aten_sparse, equal_coordinates_count_together) {
    const aten::SparseElements made = aten::coalesce(example(), {2, 2});
    EXPECT_EQ(values_of(made.indices), (Values{0, 1, 1, 0}));
    EXPECT_EQ(values_of(made.values), (Values{5, 4}));
    EXPECT_EQ(values_of(aten::sparse_to_dense(example(), {2, 2})), (Values{0, 5, 4, 0}));
}

TEST(aten_sparse, products_are_those_of_the_dense_matrix) {
    const Tensor dense = numpy::array<double>({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(values_of(aten::sparse_mm(example(), {2, 2}, dense)), (Values{15, 20, 4, 8}));
    EXPECT_THROW((void)aten::sparse_mm(example(), {2, 3}, dense), RuntimeError);
    const aten::SparseElements hybrid{numpy::array<int64_t>({0, 1}, {1, 2}),
                                      numpy::array<double>({1, 2, 3, 4}, {2, 2})};
    EXPECT_THROW((void)aten::sparse_mm(hybrid, {2, 2}, dense), RuntimeError);
}

TEST(aten_sparse, products_with_vectors) {
    const Tensor vector = numpy::array<double>({1, 2}, {2});
    EXPECT_EQ(values_of(aten::sparse_mv(example(), {2, 2}, vector)), (Values{10, 4}));
    EXPECT_THROW((void)aten::sparse_mv(example(), {2, 3}, vector), RuntimeError);
    EXPECT_THROW((void)aten::sparse_mv(example(), {2, 2}, numpy::ones({2, 2})), RuntimeError);
}

TEST(aten_sparse, shapes_fit_elements) {
    EXPECT_EQ(aten::sparse_size({2, 3}, {3, 5}, {0, 0}, {1, 2}), (Shape{2, 3, 5}));
    EXPECT_EQ(aten::sparse_size({2, 3}, {3, 5}, {0, 0}, {1, 2}, Shape{4, 4, 5}), (Shape{4, 4, 5}));
    for (const Shape& wrong :
         {Shape{4, 4}, Shape{4, 4, 6}, Shape{2, 2, 5}, Shape{4, -4, 5}, Shape{}})
        EXPECT_THROW((void)aten::sparse_size({2, 3}, {3, 5}, {0, 0}, {1, 2}, wrong), RuntimeError);
    EXPECT_THROW((void)aten::sparse_size({2}, {2}, {}, {}), RuntimeError);
    EXPECT_THROW((void)aten::sparse_size({2, 3}, {2}, {0, 0}, {1, 2}), RuntimeError);
    EXPECT_EQ(aten::sparse_transposed(3, 2, 0, -2), (std::vector<int64_t>{1, 0, 2}));
    EXPECT_THROW((void)aten::sparse_transposed(3, 2, 0, 2), RuntimeError);
    EXPECT_THROW((void)aten::sparse_transposed(3, 2, 0, 3), IndexError);
}

TEST(aten_sparse, softmax_is_of_what_is_there) {
    const aten::SparseElements made = aten::coalesce(example(), {2, 2});
    EXPECT_EQ(values_of(aten::sparse_softmax(made, {2, 2}, 1)), (Values{1, 1}));
    EXPECT_EQ(values_of(aten::sparse_softmax(made, {2, 2}, -1, true)), (Values{0, 0}));
    EXPECT_THROW((void)aten::sparse_softmax(made, {2, 2}, 2), IndexError);
}

TEST(aten_device_names, names_are_kinds_and_numbers) {
    EXPECT_EQ(aten::parse_device_name("cuda:1").index, 1);
    EXPECT_EQ(aten::parse_device_name("cuda").kind, "cuda");
    EXPECT_EQ(aten::parse_device_name("mine", {"mine"}).kind, "mine");
    EXPECT_EQ(aten::device_name_with("cuda", 2).index, 2);
    for (const char* wrong : {"", "cuda:", "cuda:x", "cuda:-1", "mine", "cpu:0:1"})
        EXPECT_THROW((void)aten::parse_device_name(wrong), RuntimeError) << wrong;
    EXPECT_THROW((void)aten::device_name_with("cuda:1", 1), RuntimeError);
    EXPECT_THROW((void)aten::device_name_with("cuda", -1), RuntimeError);
}

TEST(aten_autocast, functions_have_their_precision) {
    using aten::Autocast;
    EXPECT_EQ(aten::autocast_of("matmul"), Autocast::lower);
    EXPECT_EQ(aten::autocast_of("linalg_svd"), Autocast::float32);
    EXPECT_EQ(aten::autocast_of("fft_rfft"), Autocast::float32);
    EXPECT_EQ(aten::autocast_of("cat"), Autocast::widest);
    EXPECT_EQ(aten::autocast_of("pad", "reflect"), Autocast::float32);
    EXPECT_EQ(aten::autocast_of("pad"), Autocast::none);
}

TEST(aten_lbfgs, the_direction_goes_by_what_is_known_of_the_curvature) {
    const Tensor gradient = numpy::array<double>({2, 8}, {2});
    EXPECT_EQ(values_of(aten::lbfgs_direction(gradient, {}, {}, 0.5)), (Values{-1, -4}));
    // A quadratic whose second derivatives are 2 and 8: along what was gone it is exact.
    const Tensor move = numpy::array<double>({0, 1}, {2}),
                 change = numpy::array<double>({0, 8}, {2});
    EXPECT_EQ(values_of(aten::lbfgs_direction(gradient, {change}, {move}, 1)), (Values{-2, -1}));
    EXPECT_THROW((void)aten::lbfgs_direction(gradient, {change}, {}, 1), ValueError);
}

TEST(aten_lbfgs, a_quadratic_ends_where_its_gradient_is_nothing) {
    for (const bool searches : {false, true}) {
        Tensor at = numpy::array<double>({3, -2}, {2}), start = at;
        const Tensor curvature = numpy::array<double>({2, 8}, {2});
        const auto compute = [&] {
            const Values x = values_of(at);
            return std::pair(x[0] * x[0] + 4 * x[1] * x[1], at * curvature);
        };
        const aten::LbfgsProblem problem{
            compute, [&] { start = at; },
            [&](double length, const Tensor& direction) { at = start + direction * length; }};
        aten::LbfgsState state;
        aten::lbfgs(state, problem, {.lr = searches ? 1 : 0.5, .searches = searches});
        const int64_t calls = state.func_evals;
        EXPECT_GT(calls, 2);
        EXPECT_LE(calls, 25 + 25);
        EXPECT_EQ(state.changes.size(), state.moves.size());
        EXPECT_LT(std::abs(values_of(at)[0]) + std::abs(values_of(at)[1]), 1e-3);
        aten::lbfgs(state, problem, {.max_iter = 1});
        EXPECT_GT(state.func_evals, calls);
    }
}

}  // namespace
