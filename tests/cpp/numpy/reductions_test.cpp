// Reductions: dtypes, axes, keepdims, initial, where; statistics against their definitions.
#include "composit/numpy/reductions.h"

#include "composit/numpy/manipulation.h"
#include "values.h"

#include <cmath>
#include <limits>

namespace composit::numpy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(reductions, integers_are_totalled_in_64_bits) {
    EXPECT_EQ(sum(array<bool>({true})).dtype(), DType::int64);
    EXPECT_EQ(sum(array<uint8_t>({1})).dtype(), DType::uint64);
    EXPECT_EQ(prod(array<int16_t>({1})).dtype(), DType::int64);
    EXPECT_EQ(sum(array<float>({1})).dtype(), DType::float32);
    expect_values<uint64_t>(sum(array<uint8_t>({200, 100})), {}, {300});
    expect_values<uint8_t>(sum(array<uint8_t>({200, 100}), {}, DType::uint8), {}, {44});
    EXPECT_EQ(max(array<int8_t>({1})).dtype(), DType::int8);
    EXPECT_EQ(cumsum(array<int32_t>({1})).dtype(), DType::int64);
}

TEST(reductions, axes) {
    const Tensor x = counting({2, 3, 2});
    expect_values<double>(sum(x), {}, {66});
    expect_values<double>(sum(x, 1), {2, 2}, {6, 9, 24, 27});
    expect_values<double>(sum(x, -1), {2, 3}, {1, 5, 9, 13, 17, 21});
    expect_values<double>(sum(x, {0, -1}), {3}, {14, 22, 30});
    expect_values<double>(sum(x, {0, 2}, {}, true), {1, 3, 1}, {14, 22, 30});
    expect_values<double>(max(x, 0), {3, 2}, {6, 7, 8, 9, 10, 11});
    expect_values<double>(prod(x, 1), {2, 2}, {0, 15, 480, 693});
    expect_values<double>(ptp(x, 1), {2, 2}, {4, 4, 4, 4});
    expect_values<double>(sum(x, std::vector<int64_t>{}), {2, 3, 2},
                          {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST(reductions, mistakes_in_numpys_words) {
    const Tensor x = counting({2, 3});
    EXPECT_EQ(message_of<AxisError>([&] { (void)sum(x, 2); }),
              "sum: axis 2 is out of bounds for an array of 2 dimensions. Axes are -2 to 1.");
    expect_error<AxisError>([&] { (void)mean(x, -3); }, "mean: axis -3 is out of bounds");
    expect_error<ValueError>([&] { (void)sum(x, {0, -2}); }, "sum: duplicate value in 'axis'");
    expect_error<ValueError>(
        [] { (void)max(zeros({0})); },
        "zero-size array to reduction operation maximum which has no identity");
    expect_error<ValueError>([] { (void)argmax(zeros({0})); },
                             "attempt to get argmax of an empty sequence");
    expect_error<ValueError>([&] { (void)max(x, {}, false, {}, x); }, "'initial'");
    expect_error<TypeError>([&] { (void)sum(x, {}, {}, false, {}, x); }, "where has dtype float64");
}

TEST(reductions, initial_and_where) {
    const Tensor x = array<double>({1, 2, 3, 4}, {2, 2});
    const Tensor mask = array<bool>({true, false});
    expect_values<double>(sum(x, {}, {}, false, 10), {}, {20});
    expect_values<double>(sum(x, 1, {}, false, {}, mask), {2}, {1, 3});
    expect_values<double>(prod(x, 0, {}, false, 2.0), {2}, {6, 16});
    expect_values<double>(max(x, 1, false, 2.5), {2}, {2.5, 4});
    expect_values<double>(min(x, 0, false, 100, mask), {2}, {1, 100});
    expect_values<double>(max(zeros({0}), {}, false, -1.0), {}, {-1});
    expect_values<double>(mean(x, 1, {}, false, mask), {2}, {1, 3});
    expect_values<bool>(any(array<bool>({false, true}), {}, false, mask), {}, {false});
}

TEST(reductions, statistics) {
    const Tensor x = array<double>({1, 2, 4, 8, 16, 32}, {2, 3});
    expect_near(mean(x, 1), {2}, {7.0 / 3, 56.0 / 3});
    expect_near(var(x), {}, {1365.0 / 6 - 63.0 * 63 / 36});
    expect_near(var(x, 0, {}, 1), {3}, {24.5, 98, 392});
    expect_near(std(x, 0, {}, 1, true), {1, 3},
                {std::sqrt(24.5), std::sqrt(98.0), std::sqrt(392.0)});
    EXPECT_EQ(mean(array<int32_t>({1, 2})).dtype(), DType::float64);
    EXPECT_EQ(mean(array<float>({1, 2})).dtype(), DType::float32);
    expect_values<double>(mean(array<bool>({true, false})), {}, {0.5});
    expect_near(average(x, 1, array<double>({1, 1, 2})), {2}, {11.0 / 4, 88.0 / 4});
    EXPECT_TRUE(std::isnan(values<double>(mean(zeros({0})))[0]));
}

TEST(reductions, a_statistic_is_one_node) {
    const Tensor x = ones({3});
    EXPECT_EQ(ir::topological_order({mean(x)}).size(), 2u);
    EXPECT_EQ(ir::topological_order({std(x)}).size(), 2u);
}

TEST(reductions, positions) {
    const Tensor x = array<double>({1, 5, 5, 7, 0, 7}, {2, 3});
    expect_values<int64_t>(argmax(x), {}, {3});
    expect_values<int64_t>(argmax(x, 1), {2}, {1, 0});
    expect_values<int64_t>(argmin(x, 0, true), {1, 3}, {0, 1, 0});
    expect_values<int64_t>(argmax(array<double>({1, NAN, infinity})), {}, {1});
}

TEST(reductions, logic_and_counts) {
    const Tensor x = array<double>({0, 1, NAN, 0}, {2, 2});
    expect_values<bool>(any(x, 0), {2}, {true, true});
    expect_values<bool>(all(x, 1, true), {2, 1}, {false, false});
    expect_values<bool>(all(zeros({0})), {}, {true});
    expect_values<int64_t>(count_nonzero(x), {}, {2});
}

TEST(reductions, running_totals) {
    const Tensor x = counting({2, 3});
    expect_values<double>(cumsum(x), {6}, {0, 1, 3, 6, 10, 15});
    expect_values<double>(cumsum(x, 0), {2, 3}, {0, 1, 2, 3, 5, 7});
    expect_values<double>(cumprod(x, -1), {2, 3}, {0, 0, 0, 3, 12, 60});
}

}  // namespace
}  // namespace composit::numpy
