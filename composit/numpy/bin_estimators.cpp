// NumPy's rules for how many bins show a distribution best.
#include "composit/base/error.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/histogram_parts.h"
#include "composit/numpy/histograms.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/quantiles.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/runtime/warning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace composit::numpy {
namespace {

using Ends = std::pair<Operand, Operand>;

double value_of(const Tensor& x) {
    return *concrete("histogram", "a", ops::astype(x, DType::float64)).data_as<double>();
}

struct Values {
    Tensor x;
    double size;
    Tensor extent;  // largest less smallest, 0-d
};

Tensor by_square_root(const Values& of) { return of.extent / std::sqrt(of.size); }

Tensor by_sturges(const Values& of) { return of.extent / (std::log2(of.size) + 1); }

Tensor by_rice(const Values& of) { return of.extent / (2 * std::pow(of.size, 1.0 / 3)); }

Tensor by_scott(const Values& of) {
    const double factor = 24 * std::sqrt(std::numbers::pi) / of.size;
    return std::pow(factor, 1.0 / 3) * std(of.x);
}

Tensor by_doane(const Values& of) {
    const double n = of.size;
    if (n <= 2 || !(value_of(std(of.x)) > 0)) return Operand(0.0);
    const double deviation = std::sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
    const Tensor scaled = (of.x - mean(of.x)) / std(of.x);
    const Tensor skewness = apply("absolute", {mean(apply("power", {scaled, 3}))});
    return of.extent / (1 + std::log2(n) + apply("log2", {1 + skewness / deviation}));
}

Tensor by_quartiles(const Values& of) {
    const Tensor range = percentile(of.x, 75) - percentile(of.x, 25);
    return 2 * range * std::pow(of.size, -1.0 / 3);
}

// The least estimated risk of all counts up to a bound.
Tensor by_stone(const Values& of, const Ends& ends) {
    const double n = of.size, extent = value_of(of.extent);
    if (n <= 1 || extent == 0) return Operand(0.0);
    const auto bound = std::max<int64_t>(100, static_cast<int64_t>(std::sqrt(n)));
    constexpr int64_t at_once = 64;
    int64_t best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (int64_t first = 1; first <= bound; first += at_once) {
        std::vector<Tensor> products;
        for (int64_t count = first; count <= std::min(bound, first + at_once - 1); ++count) {
            const Tensor share = histogram(of.x, count, ends).counts / n;
            products.push_back(sum(share * share));
        }
        const Array values = concrete("histogram", "a", stack(products));
        for (size_t i = 0; i < products.size(); ++i) {
            const int64_t count = first + static_cast<int64_t>(i);
            double width = extent / static_cast<double>(count);
            if (of.extent.dtype() == DType::float32) width = static_cast<float>(width);
            const double risk = (2 - (n + 1) * values.data_as<double>()[i]) / width;
            if (risk < least) least = risk, best = count;
        }
    }
    if (best == bound) runtime::warn("histogram: The number of bins estimated may be suboptimal.");
    return of.extent / best;
}

Tensor width_of(const std::string& estimator, const Values& of, const Ends& ends) {
    if (estimator == "sqrt") return by_square_root(of);
    if (estimator == "sturges") return by_sturges(of);
    if (estimator == "rice") return by_rice(of);
    if (estimator == "scott") return by_scott(of);
    if (estimator == "doane") return by_doane(of);
    if (estimator == "fd") return by_quartiles(of);
    if (estimator == "stone") return by_stone(of, ends);
    const Tensor by_range = apply("maximum", {by_quartiles(of), by_square_root(of) / 2});
    return apply("minimum", {by_range, by_sturges(of)});
}

}  // namespace

int64_t estimated_bins(const std::string& estimator, const Tensor& x, const Ends& ends) {
    const Values of{x, static_cast<double>(x.size()), unsigned_difference(max(x), min(x))};
    Tensor width = width_of(estimator, of, ends);
    if (value_of(width) == 0) return 1;
    if (ir::is_integer(x.dtype())) width = apply("maximum", {width, 1});
    const Tensor extent = unsigned_difference(ends.second, ends.first);
    const double count = value_of(apply("ceil", {extent / width}));
    user_check<OverflowError>(std::fabs(count) < 0x1p62,
                              "histogram: cannot convert float infinity to integer: the estimated "
                              "number of bins is ",
                              count, ".");
    user_check(count >= 1, "histogram: the estimated number of bins is ", count, ".");
    return static_cast<int64_t>(count);
}

}  // namespace composit::numpy
