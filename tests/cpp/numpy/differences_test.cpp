// Reductions that pass over NaN, differences and integrals from C++.
#include "composit/numpy/differences.h"

#include "composit/numpy/nan_reductions.h"
#include "values.h"

#include <cmath>
#include <limits>

namespace composit::numpy {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(nan_reductions, pass_over_nan) {
    const Tensor x = array<double>({1, not_a_number, 3, 4, 5, not_a_number}, {2, 3});
    expect_values<double>(nansum(x, 1), {2}, {4, 9});
    expect_values<double>(nanprod(x, 0), {3}, {4, 5, 3});
    expect_values<double>(nanmax(x), {}, {5});
    expect_values<double>(nanmin(x, 1, true), {2, 1}, {1, 4});
    expect_values<double>(nanmean(x, 1), {2}, {2, 4.5});
    expect_values<double>(nanvar(x, 1, {}, 1), {2}, {2, 0.5});
    expect_values<double>(nanstd(x, 1), {2}, {1, 0.5});
    expect_values<int64_t>(nanargmax(x, 1), {2}, {2, 1});
    expect_values<int64_t>(nanargmin(x), {}, {0});
    expect_values<double>(nancumsum(x, 1), {2, 3}, {1, 1, 4, 4, 9, 9});
    expect_values<double>(nancumprod(x), {6}, {1, 1, 3, 12, 60, 60});
    expect_values<int64_t>(nansum(array<int8_t>({1, 2})), {}, {3});
}

TEST(nan_reductions, nothing_but_nan) {
    const Tensor x = full({2}, not_a_number);
    for (const Tensor& y : {nanmax(x), nanmin(x), nanmean(x), nanvar(x), nanstd(x)})
        EXPECT_TRUE(std::isnan(values<double>(y)[0]));
    expect_values<double>(nanmax(x, {}, false, 3), {}, {3});
    expect_error<ValueError>([&] { (void)nanargmax(x); }, "nanargmax: All-NaN slice encountered");
    expect_error<NotSupported>([] { (void)nanargmin(ir::input("x", DType::float64, {2})); },
                               "use argmin(where(isnan(x), inf, x))");
    expect_error<TypeError>([&] { (void)nanmean(x, {}, DType::int32); }, "dtype must be inexact");
    expect_error<ValueError>([] { (void)nanmax(zeros({0})); }, "zero-size array");
}

TEST(differences, totals_and_differences) {
    const Tensor x = array<int32_t>({1, 4, 9});
    expect_values<int64_t>(cumulative_sum(x, {}, {}, true), {4}, {0, 1, 5, 14});
    expect_values<int64_t>(cumulative_prod(x), {3}, {1, 4, 36});
    expect_error<ValueError>([] { (void)cumulative_sum(ones({2, 2})); }, "argument is required");
    expect_values<int32_t>(ediff1d(x, 7, x), {6}, {1, 4, 9, 3, 5, 7});
    expect_error<TypeError>([&] { (void)ediff1d(x, 0.5); }, "dtype of `to_end` must be compatible");
}

TEST(differences, slopes_and_integrals) {
    const Tensor y = array<double>({0, 1, 4, 9});
    expect_values<double>(gradient(y)[0], {4}, {1, 2, 4, 5});
    expect_values<double>(gradient(y, {0.5}, {}, 2)[0], {4}, {0, 4, 8, 12});
    const Tensor places = array<double>({0, 1, 2, 3});
    expect_values<double>(gradient(y, {places})[0], {4}, {1, 2, 4, 5});
    expect_error<TypeError>([&] { (void)gradient(y, {1, 2}); }, "invalid number of arguments");
    expect_error<ValueError>([] { (void)gradient(ones({1})); }, "Shape of array too small");
    expect_values<double>(trapezoid(y), {}, {9.5});
    expect_values<double>(trapezoid(y, array<double>({0, 2, 4, 6})), {}, {19});
    expect_values<int64_t>(unwrap(array<int64_t>({0, 3, 2}), {}, -1, 4), {3}, {0, -1, -2});
}

}  // namespace
}  // namespace composit::numpy
