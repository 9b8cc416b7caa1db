// Histograms as NumPy counts them: a value's bin is guessed from its place in the range, and
// corrected by the edges.
#include "composit/numpy/histograms.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/binning.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/histogram_parts.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/literal.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/numpy/spacing.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using Ends = std::pair<Operand, Operand>;

Tensor both(const Tensor& a, const Tensor& b) { return apply("logical_and", {a, b}); }

// The first and last edge of equal bins.
Ends outer_edges(std::string_view function, const Tensor& x, const Range& range) {
    Tensor first, last;
    if (range) {
        first = range->first, last = range->second;
        user_check(!is_violated(apply("less_equal", {first, last})), function,
                   ": max must be larger than min in range parameter.");
    } else if (x.size() == 0) {
        first = Operand(0), last = Operand(1);
    } else {
        first = min(x), last = max(x);
    }
    user_check(!is_violated(both(apply("isfinite", {first}), apply("isfinite", {last}))), function,
               range ? ": supplied range is not finite."
                     : ": autodetected range is not finite: there are infinities or NaN.");
    if (!range && x.size() == 0) return {first, last};
    const Tensor is_point = apply("equal", {first, last});
    if (!depends_on_placeholder(
            is_point)) {  // the dtype of Python numbers and integers follows from the values
        if (is_violated(is_point)) return {first, last};
        return {combined("subtract", first, 0.5), combined("add", last, 0.5)};
    }
    return {apply("where", {is_point, first - 0.5, first}),
            apply("where", {is_point, last + 0.5, last})};
}

struct Edges {
    Tensor edges;
    std::optional<Ends> equal;  // of equal bins
};

Tensor within(const Tensor& x, const Ends& ends) {
    return both(apply("greater_equal", {x, ends.first}), apply("less_equal", {x, ends.second}));
}

void check_edges(std::string_view function, const Tensor& edges, std::string_view message) {
    const int64_t n = edges.size();
    if (n < 2) return;
    const Tensor falls =
        any(apply("greater", {ops::part(edges, 0, 0, n - 1), ops::part(edges, 0, 1, n - 1)}));
    user_check(!is_violated(apply("logical_not", {falls})), function, message);
}

// x is 1-d.
Edges edges_of(std::string_view function, const Tensor& x, const Bins& bins, const Range& range,
               bool has_weights) {
    if (const Tensor* given = std::get_if<Tensor>(&bins)) {
        user_check(given->rank() == 1, function,
                   ": `bins` must be 1d, when an array: its shape is ", given->shape(), ".");
        check_edges(function, strong(*given),
                    ": `bins` must increase monotonically, when an array.");
        return {strong(*given), {}};
    }
    int64_t count = 1;
    if (const std::string* estimator = std::get_if<std::string>(&bins)) {
        constexpr std::string_view known[] = {"auto",  "doane", "fd",    "rice",
                                              "scott", "sqrt",  "stone", "sturges"};
        user_check(std::find(std::begin(known), std::end(known), *estimator) != std::end(known),
                   function, ": '", *estimator,
                   "' is not a valid estimator for `bins`. Known are "
                   "auto, doane, fd, rice, scott, sqrt, stone and sturges.");
        user_check<TypeError>(!has_weights, function,
                              ": Automated estimation of the number of "
                              "bins is not supported for weighted data.");
        const Ends ends = outer_edges(function, x, range);
        Tensor inside = asarray(concrete(function, "a", strong(x)));
        if (range) inside = get_item(inside, {within(inside, ends)});
        if (inside.size() > 0) count = estimated_bins(*estimator, inside, ends);
    } else {
        count = std::get<int64_t>(bins);
        user_check(count >= 1, function, ": `bins` must be positive, when an integer, not ", count,
                   ".");
    }
    const Ends ends = outer_edges(function, x, range);
    DType dtype = result_type({ends.first, ends.second, x});
    if (!ir::is_inexact(dtype)) dtype = DType::float64;
    const Tensor edges = spaced(ends.first, ends.second, count + 1, true, dtype);
    const Tensor low = ops::part(edges, 0, 0, count), high = ops::part(edges, 0, 1, count);
    user_check(!is_violated(all(apply("less", {low, high}))), function,
               ": Too many bins for data range. Cannot create ", count, " finite-sized bins.");
    return {edges, ends};
}

// The number of each value's equal bin; their count for what is in none.
Tensor equal_bins(const Tensor& x, const Tensor& edges, const Ends& ends) {
    const int64_t count = edges.size() - 1;
    const Tensor inside = within(x, ends);
    const Tensor values = ops::astype(x, edges.dtype());
    const Tensor width = unsigned_difference(ends.second, ends.first);
    const Tensor place = unsigned_difference(values, ends.first) / width * count;
    const Tensor guess =
        ops::astype(apply("where", {inside, place, scalar(place.dtype(), 0)}), DType::int64);
    Tensor at = apply("minimum", {guess, count - 1});
    const auto edge = [&](const Tensor& positions) { return ops::gather(edges, {positions}, {0}); };
    at = apply("maximum", {at - ops::astype(apply("less", {values, edge(at)}), DType::int64), 0});
    const Tensor is_next =
        both(apply("greater_equal", {values, edge(at + 1)}), apply("not_equal", {at, count - 1}));
    at = at + ops::astype(is_next, DType::int64);
    return apply("where", {inside, at, count});
}

// The same for edges of any kind, which search what lies right of them.
Tensor found_bins(const Tensor& x, const Tensor& edges) {
    const int64_t count = edges.size() - 1;
    const Tensor found = searchsorted(edges, x, Side::right) - 1;
    const Tensor is_last = apply("equal", {x, squeeze(ops::part(edges, 0, count, 1))});
    const Tensor at = apply("where", {is_last, count - 1, found});
    // What is right of all edges has the number `count`; so gets NaN.
    return apply("where", {apply("less", {at, 0}), count, at});
}

Tensor widths(const Tensor& edges) {
    const int64_t n = std::max<int64_t>(edges.size() - 1, 0);
    if (n == 0) return zeros({0}, DType::float64);
    const Tensor difference = ops::part(edges, 0, 1, n) - ops::part(edges, 0, 0, n);
    return ops::astype(difference, DType::float64);
}

// bool counts as uint8.
Tensor countable(const Tensor& x) {
    return ravel(x.dtype() == DType::boolean ? ops::astype(x, DType::uint8) : strong(x));
}

void check_real(std::string_view function, const Tensor& x) {
    user_check<NotSupported>(!ir::is_complex(x.dtype()), function, ": ", x.dtype(),
                             " is not supported. A real dtype is required.");
}

void check_like(std::string_view function, const Tensor& x, const Tensor& weights) {
    user_check(!weights || weights.shape() == x.shape(), function,
               ": weights should have the same shape as a: ", x.shape(), ", not ",
               weights ? weights.shape() : Shape(), ".");
}

}  // namespace

Tensor unsigned_difference(const Operand& a, const Operand& b) {
    const Tensor& x = a;
    const bool is_literal = x.type().weak && b.tensor().type().weak;
    const Tensor difference = is_literal ? strong(a) - strong(b) : x - b.tensor();
    switch (difference.dtype()) {
        case DType::int8: return ops::astype(difference, DType::uint8);
        case DType::int16: return ops::astype(difference, DType::uint16);
        case DType::int32: return ops::astype(difference, DType::uint32);
        case DType::int64: return ops::astype(difference, DType::uint64);
        default: return difference;
    }
}

Tensor histogram_bin_edges(const Tensor& x, const Bins& bins, const Range& range,
                           const Tensor& weights) {
    check_real("histogram_bin_edges", x);
    check_like("histogram_bin_edges", x, weights);
    return errors_as("histogram_bin_edges", [&] {
        return edges_of("histogram_bin_edges", countable(x), bins, range,
                        static_cast<bool>(weights))
            .edges;
    });
}

Histogram histogram(const Tensor& x, const Bins& bins, const Range& range, bool density,
                    const Tensor& weights) {
    check_real("histogram", x);
    check_like("histogram", x, weights);
    return errors_as("histogram", [&]() -> Histogram {
        const Tensor values = countable(x);
        const auto [edges, ends] =
            edges_of("histogram", values, bins, range, static_cast<bool>(weights));
        const DType dtype = weights ? weights.dtype() : DType::int64;
        const int64_t count = std::max<int64_t>(edges.size() - 1, 0);
        Tensor counts = zeros({count}, dtype);
        if (count > 0) {
            const Tensor at = ends ? equal_bins(values, edges, *ends) : found_bins(values, edges);
            user_check<TypeError>(ends || dtype != DType::boolean,
                                  "histogram: Cannot cast sums of "
                                  "bool weights to dtype('bool') with casting rule 'same_kind'.");
            DType wide = DType::float64;
            if (!weights || (!ends && ir::is_integer(dtype))) wide = DType::int64;
            if (ir::is_complex(dtype)) wide = DType::complex128;
            counts = ops::astype(
                sums_of_bins(at, weights ? ops::astype(weights, wide) : Tensor(), count), dtype);
        }
        if (density) counts = counts / widths(edges) / sum(counts);
        return {counts, {edges}};
    });
}

Histogram histogramdd(const Tensor& sample, const std::vector<Bins>& bins,
                      const std::vector<Range>& ranges, bool density, const Tensor& weights) {
    check_real("histogramdd", sample);
    user_check(sample.rank() == 2, "histogramdd: the sample has shape ", sample.shape(),
               ". (count, dimensions) is required.");
    const auto rank = static_cast<size_t>(sample.shape()[1]);
    user_check(bins.size() == rank,
               "histogramdd: The dimension of bins must be equal to the "
               "dimension of the sample x: ",
               bins.size(), " and ", rank, ".");
    user_check(ranges.empty() || ranges.size() == rank,
               "histogramdd: range argument must have one entry per dimension: ", ranges.size(),
               " are given for ", rank, ".");
    return errors_as("histogramdd", [&]() -> Histogram {
        const Tensor points = strong(sample);
        Histogram result;
        Shape shape;
        Tensor position, is_inside;
        int64_t total = 1;
        for (size_t d = 0; d < rank; ++d) {
            const Tensor x = squeeze(ops::part(points, 1, static_cast<int64_t>(d), 1), 1);
            Tensor edges;
            if (const int64_t* count = std::get_if<int64_t>(&bins[d])) {
                user_check(*count >= 1, "histogramdd: `bins[", d,
                           "]` must be positive, when an integer, not ", *count, ".");
                const Ends ends =
                    outer_edges("histogramdd", x, ranges.empty() ? Range() : ranges[d]);
                edges = spaced(ends.first, ends.second, *count + 1);
            } else {
                user_check<TypeError>(std::holds_alternative<Tensor>(bins[d]),
                                      "histogramdd: `bins[", d,
                                      "]` must be an integer, when a scalar.");
                edges = strong(std::get<Tensor>(bins[d]));
                user_check(edges.rank() == 1, "histogramdd: `bins[", d,
                           "]` must be a scalar or 1d array, not of shape ", edges.shape(), ".");
                check_edges(
                    "histogramdd", edges,
                    text(": `bins[", d, "]` must be monotonically increasing, when an array."));
                user_check<IndexError>(edges.size() > 0, "histogramdd: `bins[", d, "]` is empty.");
            }
            const int64_t count = edges.size() - 1;
            const Tensor at = count > 0 ? found_bins(x, edges) : full(x.shape(), int64_t{0});
            const Tensor inside = apply("less", {at, count});
            is_inside = is_inside ? both(is_inside, inside) : inside;
            position = position ? position * count + at : at;
            shape.push_back(count);
            total *= count;
            result.edges.push_back(edges);
        }
        if (!position) position = zeros({sample.shape()[0]}, DType::int64);
        if (is_inside) position = apply("where", {is_inside, position, total});
        user_check(!weights || weights.rank() == 1,
                   "histogramdd: object of too small depth, or too "
                   "deep, for desired array: weights have shape ",
                   weights ? weights.shape() : Shape(), ". One dimension is required.");
        user_check(!weights || weights.size() == sample.shape()[0],
                   "histogramdd: The weights and "
                   "list don't have the same length.");
        Tensor sums = zeros({total}, DType::float64);
        if (total > 0)
            sums = ops::astype(
                sums_of_bins(position, weights ? ops::astype(weights, DType::float64) : Tensor(),
                             total),
                DType::float64);
        result.counts = reshape(sums, shape);
        if (!density) return result;
        const Tensor all_of_them = sum(result.counts);
        for (size_t d = 0; d < rank; ++d) {
            Shape aligned(rank, 1);
            aligned[d] = shape[d];
            result.counts = result.counts / reshape(widths(result.edges[d]), aligned);
        }
        result.counts = result.counts / all_of_them;
        return result;
    });
}

}  // namespace composit::numpy
