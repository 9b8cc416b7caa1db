// Sorting and searching: orders, positions, what they refuse.
#include "composit/numpy/sorting.h"

#include "composit/numpy/manipulation.h"
#include "values.h"

#include <limits>

namespace composit::numpy {
namespace {

TEST(sorting, nan_come_last_and_equals_keep_their_order) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor x = reshape(array<float>({3, nan, 0, -0.0f, 1, 1, -2, 1}), {2, 4});
    expect_values<int64_t>(argsort(x), {2, 4}, {2, 3, 0, 1, 2, 0, 1, 3});
    expect_values<int64_t>(argsort(x, 0), {2, 4}, {1, 1, 1, 0, 0, 0, 0, 1});
    EXPECT_EQ(sort(x, std::nullopt).shape(), (Shape{8}));
    expect_values<bool>(sort(array<bool>({true, false, true})), {3}, {false, true, true});
    EXPECT_THROW((void)sort(x, 2), AxisError);
    EXPECT_THROW((void)partition(x, {4}), ValueError);
}

TEST(sorting, keys_from_the_last_to_the_first) {
    const Tensor first = array<int32_t>({1, 0, 1, 0}), last = array<float>({2, 2, 1, 1});
    expect_values<int64_t>(lexsort({first, last}), {4}, {3, 2, 1, 0});
}

TEST(sorting, searches_before_or_behind_equals) {
    const Tensor sorted = array<float>({1, 2, 2, 5}), wanted = array<float>({2, 0, 9});
    expect_values<int64_t>(searchsorted(sorted, wanted), {3}, {1, 0, 4});
    expect_values<int64_t>(searchsorted(sorted, wanted, Side::right), {3}, {3, 0, 4});
    expect_values<int64_t>(
        searchsorted(array<float>({5, 1}), array<float>({3}), Side::left, array<int64_t>({1, 0})),
        {1}, {1});
}

TEST(sorting, the_middle_of_axes) {
    const Tensor x = counting({2, 3, 2});
    expect_values<double>(median(x), {}, {5.5});
    expect_values<double>(median(x, {0, 1}, true), {1, 1, 2}, {5, 6});
}

}  // namespace
}  // namespace composit::numpy
