// Sets: what differs, and what two tensors have in common.
#include "composit/numpy/sets.h"

#include "values.h"

namespace composit::numpy {
namespace {

TEST(sets, elements_without_repetition) {
    const Unique found = unique(array<int32_t>({3, 1, 3, 2}, {2, 2}));
    expect_values<int32_t>(found.values, {3}, {1, 2, 3});
    expect_values<int64_t>(found.indices, {3}, {1, 3, 0});
    expect_values<int64_t>(found.inverse, {2, 2}, {2, 0, 2, 1});
    expect_values<int64_t>(found.counts, {3}, {1, 1, 2});
    const Unique rows = unique(array<int32_t>({1, 2, 0, 9, 1, 2}, {3, 2}), 0);
    expect_values<int32_t>(rows.values, {2, 2}, {0, 9, 1, 2});
    expect_values<int64_t>(rows.inverse, {3}, {1, 0, 1});
    EXPECT_THROW((void)unique(rows.values, 2), AxisError);
}

TEST(sets, of_two) {
    const Tensor a = array<int64_t>({5, 1, 5, 2}), b = array<int64_t>({2, 7, 5});
    expect_values<int64_t>(union1d(a, b), {4}, {1, 2, 5, 7});
    const Intersection common = intersect1d(a, b);
    expect_values<int64_t>(common.values, {2}, {2, 5});
    expect_values<int64_t>(common.indices_a, {2}, {3, 0});
    expect_values<int64_t>(common.indices_b, {2}, {0, 2});
    expect_values<int64_t>(setdiff1d(a, b), {1}, {1});
    expect_values<int64_t>(setxor1d(a, b), {2}, {1, 7});
    expect_values<bool>(isin(a, b), {4}, {true, false, true, true});
    EXPECT_THROW((void)isin(array<double>({1}), a, false, true), ValueError);
}

}  // namespace
}  // namespace composit::numpy
