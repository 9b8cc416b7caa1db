// Quantiles, covariances, histograms, interpolation: values by hand, and what they refuse.
#include "composit/numpy/binning.h"
#include "composit/numpy/covariance.h"
#include "composit/numpy/histograms.h"
#include "composit/numpy/interpolation.h"
#include "composit/numpy/quantiles.h"
#include "composit/numpy/spacing.h"
#include "values.h"

#include <cmath>
#include <limits>

namespace composit::numpy {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(statistics, quantiles_lie_between_sorted_values) {
    const Tensor x = array<double>({4, 1, 3, 2});
    expect_near(quantile(x, 0.5), {}, {2.5});
    expect_near(quantile(x, array<double>({0, 0.25, 1})), {3}, {1, 1.75, 4});
    expect_near(percentile(x, 75, {}, "higher", true), {1}, {4});
    expect_near(quantile(x, 0.5, {}, "inverted_cdf", false, array<double>({1, 0, 0, 9})), {}, {2});
    const Tensor y = array<double>({nan, 1, 3, nan, nan, nan}, {2, 3});
    const std::vector<double> halves = values<double>(nanquantile(y, 0.5, 0));
    EXPECT_TRUE(std::isnan(halves[0]) && halves[1] == 1 && halves[2] == 3);
    const std::vector<double> medians = values<double>(nanmedian(y, 1, true));
    EXPECT_TRUE(medians[0] == 2 && std::isnan(medians[1]));
    EXPECT_THROW((void)quantile(x, 1.5), ValueError);
    EXPECT_THROW((void)quantile(x, 0.5, {}, "middle"), ValueError);
    EXPECT_THROW((void)quantile(x, 0.5, 1), AxisError);
}

TEST(statistics, covariances_of_rows) {
    const Tensor x = array<double>({0, 1, 2, 2, 1, 0}, {2, 3});
    expect_near(cov(x), {2, 2}, {1, -1, -1, 1});
    expect_near(corrcoef(x), {2, 2}, {1, -1, -1, 1});
    Covariance how;
    how.aweights = array<double>({1, 1, 2});
    how.bias = true;
    expect_near(cov(array<double>({0, 4, 8}), {}, how), {}, {11});
    EXPECT_TRUE(lacks_freedom(array<double>({3}), {}));
    how.aweights = array<double>({1, 1, -2});
    EXPECT_THROW((void)cov(array<double>({0, 4, 8}), {}, how), ValueError);
}

TEST(statistics, histograms_count) {
    const Tensor x = array<float>({0, 1, 1, 4, 2});
    const Histogram of_two = histogram(x, 2);
    expect_values<int64_t>(of_two.counts, {2}, {3, 2});
    expect_values<float>(of_two.edges[0], {3}, {0, 2, 4});
    const Histogram weighed =
        histogram(x, array<double>({0, 1, 2}), {}, true, array<double>({1, 2, 3, 4, 5}));
    expect_near(weighed.counts, {2}, {1 / 11.0, 10 / 11.0});
    expect_values<float>(histogram_bin_edges(x, "sqrt"), {4}, {0, 4 / 3.0f, 8 / 3.0f, 4});
    const Tensor points = array<double>({0, 0, 1, 1, 1, 0}, {3, 2});
    expect_near(histogramdd(points, {2, 2}).counts, {2, 2}, {1, 0, 1, 1});
    EXPECT_THROW((void)histogram(x, 0), ValueError);
    EXPECT_THROW((void)histogram(array<double>({nan})), ValueError);
    EXPECT_THROW((void)histogram(x, array<double>({2, 1})), ValueError);
}

TEST(statistics, bins_and_lines) {
    expect_values<int64_t>(digitize(array<double>({0, 1, 9}), array<double>({5, 1})), {3},
                           {2, 1, 0});
    expect_values<int64_t>(bincount(array<int32_t>({3, 0, 3})), {4}, {1, 0, 0, 2});
    expect_near(bincount(array<int32_t>({1}), array<float>({2.5}), 3), {3}, {0, 2.5, 0});
    EXPECT_THROW((void)bincount(array<int32_t>({-1})), ValueError);
    const Tensor xp = array<double>({0, 1, 3}), fp = array<double>({5, 7, 1});
    expect_near(interp(array<double>({-1, 0.5, 2, 3, 9}), xp, fp), {5}, {5, 6, 4, 1, 1});
    expect_near(interp(array<double>({3.5}), xp, fp, {}, {}, 4), {1}, {3});
    expect_near(spaced(array<double>({0, 1}), 3, 3, true, {}, 1), {2, 3}, {0, 1.5, 3, 1, 2, 3});
}

}  // namespace
}  // namespace composit::numpy
