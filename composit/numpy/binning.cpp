// Bins over searches, and sums over scatters.
#include "composit/numpy/binning.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/execute/devices.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/histogram_parts.h"
#include "composit/numpy/known_values.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>
#include <cmath>

namespace composit::numpy {
namespace {

// `result`, which holds the sum of the weights of each bin, added in their order: its node keeps
// that where they are known, and nothing of the sums is to be reported.
Tensor with_known_sums(const Tensor& result, const Array& bins, const Array& weights) {
    if (!weights || result.size() > most_known_elements) return result;
    const DefaultFloatingPoint floating_point;
    const Array sums = Array::zeros(DType::float64, result.shape());
    auto* const sum = static_cast<double*>(sums.mutable_data());
    for (int64_t i = 0; i < bins.size(); ++i)
        sum[bins.data_as<int64_t>()[i]] += weights.data_as<double>()[i];
    const bool are_finite =
        std::all_of(sum, sum + sums.size(), [](double value) { return std::isfinite(value); });
    return are_finite ? with_known_value(result, sums) : result;
}

}  // namespace

Tensor digitize(const Tensor& x, const Tensor& bins, bool is_right) {
    user_check<TypeError>(!ir::is_complex(x.dtype()), "digitize: x may not be complex, but is ",
                          x.dtype(), ".");
    user_check<TypeError>(!ir::is_complex(bins.dtype()),
                          "digitize: bins may not be complex, but "
                          "are ",
                          bins.dtype(), ".");
    user_check(bins.rank() == 1,
               "digitize: object of too small or too great depth for desired "
               "array: bins have shape ",
               bins.shape(), ". One dimension is required.");
    return errors_as("digitize", [&] {
        const Side side = is_right ? Side::left : Side::right;
        const int64_t count = bins.size();
        if (count < 2) return searchsorted(bins, x, side);
        const Tensor edges = strong(bins);
        const Tensor before = ops::part(edges, 0, 0, count - 1);
        const Tensor after = ops::part(edges, 0, 1, count - 1);
        const Tensor rises = all(apply("less_equal", {before, after}));
        const Tensor falls = all(apply("greater_equal", {before, after}));
        user_check(!is_violated(apply("logical_or", {rises, falls})),
                   "digitize: bins must be monotonically increasing or decreasing.");
        if (!depends_on_placeholder(edges)) {
            if (!is_violated(rises)) return searchsorted(edges, x, side);
            return count - searchsorted(flip(edges), x, side);
        }
        const Tensor found = searchsorted(apply("where", {rises, edges, flip(edges)}), x, side);
        return apply("where", {rises, found, count - found});
    });
}

Tensor sums_of_bins(const Tensor& bins, const Tensor& weights, int64_t count) {
    const Tensor flat = ravel(bins);
    const Tensor is_inside =
        apply("logical_and", {apply("greater_equal", {flat, 0}), apply("less", {flat, count})});
    const Tensor at = apply("where", {is_inside, flat, count});
    const Tensor update = weights ? ravel(strong(weights)) : full(flat.shape(), int64_t{1});
    const Tensor totals = ops::scatter(zeros({count + 1}, update.dtype()), {at}, {0}, update, true);
    return ops::part(totals, 0, 0, count);
}

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t least) {
    user_check(x.rank() == 1,
               "bincount: object too deep, or of too small depth, for desired array: "
               "x has shape ",
               x.shape(), ". One dimension is required.");
    user_check<TypeError>(x.dtype() == DType::boolean || ir::is_integer(x.dtype()),
                          "bincount: Cannot cast array data from dtype('", x.dtype(),
                          "') to dtype('int64') according to the rule 'safe'.");
    user_check(least >= 0, "bincount: 'minlength' must not be negative: ", least, ".");
    Tensor w;
    if (weights) {
        user_check<TypeError>(!ir::is_complex(weights.dtype()),
                              "bincount: Cannot cast array data from dtype('", weights.dtype(),
                              "') to dtype('float64') according to the rule 'safe'.");
        user_check(weights.rank() == 1, "bincount: weights have shape ", weights.shape(),
                   ". One dimension is required.");
        user_check(weights.size() == x.size(),
                   "bincount: The weights and list don't have the same "
                   "length: ",
                   weights.size(), " and ", x.size(), ".");
        w = ops::astype(weights, DType::float64);
    }
    const Tensor positions = ops::astype(strong(x), DType::int64);
    if (x.size() == 0) return execute::made_beside(zeros({least}, w ? w.dtype() : DType::int64), x);
    Array known = known_cast(strong(x), DType::int64);
    if (!known) known = concrete("bincount", "x", positions);
    const auto* bins = known.data_as<int64_t>();
    int64_t lowest = 0, highest = 0;
    for (int64_t i = 0, n = known.size(); i < n; ++i) {
        lowest = std::min(lowest, bins[i]);
        highest = std::max(highest, bins[i]);
    }
    user_check(lowest >= 0, "bincount: 'list' argument must have no negative elements: ", lowest,
               " is among them.");
    const int64_t count = std::max(least, highest + 1);
    return errors_as("bincount", [&] {
        if (w) {
            const Tensor sums =
                ops::scatter(zeros({count}, w.dtype()), {asarray(known)}, {0}, w, true);
            return with_known_sums(sums, known, known_cast(weights, DType::float64));
        }
        Array totals = Array::zeros(DType::int64, {count});
        auto* total = static_cast<int64_t*>(totals.mutable_data());
        for (int64_t i = 0, n = known.size(); i < n; ++i) ++total[bins[i]];
        return execute::made_beside(asarray(std::move(totals)), x);
    });
}

}  // namespace composit::numpy
