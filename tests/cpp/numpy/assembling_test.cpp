// Assembling, index arrays, choosing and writing, from C++.
#include "composit/numpy/assembling.h"

#include "composit/numpy/functions.h"
#include "composit/numpy/index_arrays.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/selecting.h"
#include "composit/numpy/spacing.h"
#include "composit/numpy/writing.h"
#include "values.h"

namespace composit::numpy {
namespace {

TEST(assembling, blocks_and_columns) {
    const Tensor a = counting({2, 2}), b = array<double>({8, 9}, {2, 1});
    expect_values<double>(column_stack({a, array<double>({5, 6})}), {2, 3}, {0, 1, 5, 2, 3, 6});
    const Block row(std::vector<Block>{a, b});
    expect_values<double>(block(std::vector<Block>{row, row}), {4, 3},
                          {0, 1, 8, 2, 3, 9, 0, 1, 8, 2, 3, 9});
    expect_error<ValueError>([&] { (void)block(std::vector<Block>{row, a}); },
                             "block: list depths are mismatched");
    expect_values<double>(hsplit(a, 2)[1], {2, 1}, {1, 3});
    expect_error<ValueError>([&] { (void)vsplit(counting({2}), 1); },
                             "vsplit only works on arrays of 2 or more dimensions");
}

TEST(assembling, products) {
    const Tensor m = counting({2, 3}), v = array<double>({1, 0, 2});
    expect_values<double>(matvec(m, v), {2}, {4, 13});
    expect_values<double>(vecmat(array<double>({1, 1}), m), {3}, {3, 5, 7});
    expect_values<double>(vecdot(m, v), {2}, {4, 13});
    expect_values<int64_t>(kron(array<int64_t>({1, 2}), array<int64_t>({3, 4})), {4}, {3, 4, 6, 8});
    expect_values<int64_t>(vander(array<int64_t>({2, 3}), 3), {2, 3}, {4, 2, 1, 9, 3, 1});
    expect_near(geomspace(1, 8, 4), {4}, {1, 2, 4, 8});
    expect_near(logspace(0, 2, 3), {3}, {1, 10, 100});
}

TEST(index_arrays, triangles_and_grids) {
    const auto lower = tril_indices(3, -1), upper = triu_indices(2, 0, 3);
    expect_values<int64_t>(lower[0], {3}, {1, 2, 2});
    expect_values<int64_t>(lower[1], {3}, {0, 0, 1});
    expect_values<int64_t>(upper[0], {5}, {0, 0, 0, 1, 1});
    expect_values<int64_t>(upper[1], {5}, {0, 1, 2, 1, 2});
    expect_values<int64_t>(indices({2, 2}), {2, 2, 2}, {0, 0, 1, 1, 0, 1, 0, 1});
    const auto sum_of = [](const std::vector<Tensor>& at) { return add(at[0], at[1]); };
    expect_values<double>(fromfunction(sum_of, {2, 2}), {2, 2}, {0, 1, 1, 2});
    const auto cross = ix_({array<int64_t>({0, 1}), array<bool>({true, false, true})});
    EXPECT_EQ(cross[0].shape(), (Shape{2, 1}));
    expect_values<int64_t>(cross[1], {1, 2}, {0, 2});
    expect_values<int64_t>(argwhere(lower[1]), {1, 1}, {2});
}

TEST(index_arrays, positions) {
    const auto at = unravel_index(array<int64_t>({5, 11}), {3, 4});
    expect_values<int64_t>(at[0], {2}, {1, 2});
    expect_values<int64_t>(ravel_multi_index(at, {3, 4}), {2}, {5, 11});
    expect_error<ValueError>([] { (void)unravel_index(array<int64_t>({12}), {3, 4}); },
                             "index is out of bounds for array with size 12");
    const Tensor late = add(array<int64_t>({12}), 0);
    EXPECT_THROW((void)values<int64_t>(unravel_index(late, {3, 4})[0]), IndexError);
}

TEST(selecting, conditions_and_functions) {
    const Tensor x = array<double>({-2, 0, 3});
    expect_values<double>(select({less(x, 0), greater(x, 0)}, {1.0, x}, 7), {3}, {1, 7, 3});
    const Piece squared = [](const Tensor& part) { return square(part); };
    expect_values<double>(piecewise(x, {less(x, 0)}, {squared, Operand(5)}), {3}, {4, 5, 5});
    expect_values<double>(choose(array<int64_t>({1, 0, 1}), {x, negative(x)}), {3}, {2, 0, -3});
    expect_values<double>(trim_zeros(array<double>({0, 1, 0, 2, 0})), {3}, {1, 0, 2});
    expect_values<double>(compress(array<bool>({true, false, true}), x), {2}, {-2, 3});
    const auto total = [](const Tensor& row) { return sum(row); };
    expect_values<double>(apply_along_axis(total, 0, counting({2, 2})), {2}, {2, 4});
}

TEST(selecting, insert_and_delete) {
    const Tensor x = counting({3});
    expect_values<double>(insert(x, 1, 9), {4}, {0, 9, 1, 2});
    expect_values<double>(insert(x, array<int64_t>({3, 0}), array<double>({7, 8})), {5},
                          {8, 0, 1, 2, 7});
    expect_values<double>(delete_(x, -1), {2}, {0, 1});
    expect_values<double>(delete_(x, Slice{{}, {}, 2}), {1}, {1});
    expect_error<IndexError>([&] { (void)delete_(x, 3); },
                             "delete: index 3 is out of bounds for axis 0 with size 3.");
}

TEST(writing, leaves_its_argument) {
    const Tensor x = counting({2, 2});
    expect_values<double>(fill_diagonal(x, 9), {2, 2}, {9, 1, 2, 9});
    expect_values<double>(put(x, array<int64_t>({-1, 0}), 7), {2, 2}, {7, 1, 2, 7});
    expect_values<double>(place(x, greater(x, 0), array<double>({5, 6})), {2, 2}, {0, 5, 6, 5});
    expect_values<double>(putmask(x, greater(x, 0), array<double>({5, 6})), {2, 2}, {0, 6, 5, 6});
    expect_values<double>(put_along_axis(x, array<int64_t>({1, 0}, {2, 1}), -1, 1), {2, 2},
                          {0, -1, -1, 3});
    expect_values<double>(copyto(x, 4, "same_kind", array<bool>({true, false})), {2, 2},
                          {4, 1, 4, 3});
    expect_values<double>(x, {2, 2}, {0, 1, 2, 3});
    expect_error<TypeError>([&] { (void)copyto(array<int64_t>({1}), array<double>({1})); },
                            "copyto: Cannot cast array data from dtype('float64') to "
                            "dtype('int64') according to the rule 'same_kind'.");
}

}  // namespace
}  // namespace composit::numpy
