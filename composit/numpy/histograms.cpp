// Histograms as NumPy counts them: a value's bin is guessed from its place in the range, and
// corrected by the edges.
#include "composit/numpy/histograms.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/execute/execute.h"
#include "composit/ir/scalar/values.h"
#include "composit/numpy/binning.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/histogram_parts.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/known_values.h"
#include "composit/numpy/literal.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/numpy/spacing.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace composit::numpy {
namespace {

using Ends = std::pair<Operand, Operand>;

Tensor both(const Tensor& a, const Tensor& b) { return apply("logical_and", {a, b}); }

// function(first, one behind the last) for the elements of an array, where these are bool,
// integers, float32 or float64; else a value of its type.
template <class Function>
auto with_elements(const Array& values, const Function& function) {
    using Found = decltype(function(values.data_as<double>(), values.data_as<double>()));
    if (ir::is_complex(values.dtype())) return Found();
    return ir::scalar::with_type(values.dtype(), "histogram", [&](auto zero) -> Found {
        using T = decltype(zero);
        if constexpr (ir::scalar::is_short<T>)
            return Found();
        else
            return function(values.data_as<T>(), values.data_as<T>() + values.size());
    });
}

// Whether the least and the greatest of few known elements are found here, for their nodes to keep.
// Not where there is NaN, or one of them may be either zero.
bool keep_ends(const Tensor& x, const Tensor& least, const Tensor& greatest) {
    const ir::ConstantArray known = few_known(x);
    if (!known) return false;
    const Array values = known.value();
    return with_elements(values, [&]<class T>(const T* first, const T* last) {
        if (std::any_of(first, last, [](T value) { return value != value; })) return false;
        const auto [low, high] = std::minmax_element(first, last);
        if (std::is_floating_point_v<T> && (*low == T(0) || *high == T(0))) return false;
        with_known_value(least, Array::of<T>(x.dtype(), {}, {*low}));
        with_known_value(greatest, Array::of<T>(x.dtype(), {}, {*high}));
        return true;
    });
}

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
        if (!keep_ends(x, first, last) && !depends_on_placeholder(x))
            execute::values_now({first, last});  // by one plan
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

bool has_plain_values(const Tensor& x) {
    return !ir::is_complex(x.dtype()) && !ir::is_short_float(x.dtype());
}

// Whether each edge is less than the next one, as far as can be known now.
bool do_rise(std::string_view function, const Tensor& edges) {
    const int64_t count = edges.size() - 1;
    if (depends_on_placeholder(edges) || !has_plain_values(edges)) {
        const Tensor low = ops::part(edges, 0, 0, count), high = ops::part(edges, 0, 1, count);
        return !is_violated(all(apply("less", {low, high})));
    }
    const auto stays = []<class T>(T low, T high) { return !(low < high); };
    return with_elements(concrete(function, "bins", edges),
                         [&]<class T>(const T* first, const T* last) {
                             return std::adjacent_find(first, last, stays) == last;
                         });
}

void check_edges(std::string_view function, const Tensor& edges, std::string_view message) {
    const int64_t n = edges.size();
    if (n < 2) return;
    if (const ir::ConstantArray known = few_known(edges); known && has_plain_values(edges)) {
        const bool falls = with_elements(known.value(), []<class T>(const T* first, const T* last) {
            return std::adjacent_find(first, last, std::greater<T>()) != last;
        });
        return user_check(!falls, function, message);
    }
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
    user_check(do_rise(function, edges), function, ": Too many bins for data range. Cannot create ",
               count, " finite-sized bins.");
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

// `counts`, of values that are known, as are the edges and, of equal bins, their ends: the values
// are counted here as equal_bins and found_bins do it. Nothing of it is to be reported.
Tensor with_known_counts(const Tensor& counts, const Tensor& x, const Edges& bins) {
    const Tensor& edges = bins.edges;
    const ir::ConstantArray known = few_known(x), known_edges = few_known(edges);
    if (!known || !known_edges || !has_plain_values(x) || counts.dtype() != DType::int64)
        return counts;
    const Array values = known.value(), edge_values = known_edges.value();
    const Array made = Array::zeros(DType::int64, counts.shape());
    auto* const count_of = static_cast<int64_t*>(made.mutable_data());
    const int64_t count = counts.size();
    if (!bins.equal) {
        if (edges.dtype() != x.dtype()) return counts;
        const bool is_counted = with_elements(values, [&]<class T>(const T* first, const T* last) {
            const T* const edge = edge_values.data_as<T>();
            const T* const end = edge + count + 1;
            if (std::any_of(edge, end, [](T value) { return value != value; })) return false;
            for (const T* value = first; value != last; ++value) {
                if (!(*value >= edge[0]) || *value > end[-1]) continue;  // NaN, too
                const int64_t found = std::upper_bound(edge, end, *value) - edge - 1;
                ++count_of[std::min(found, count - 1)];
            }
            return true;
        });
        return is_counted ? with_known_value(counts, made) : counts;
    }
    const ir::ConstantArray low = few_known(bins.equal->first),
                            high = few_known(bins.equal->second);
    if (!low || !high || low.dtype() != x.dtype() || high.dtype() != x.dtype()) return counts;
    const Array lowest = low.value(), highest = high.value();
    const DefaultFloatingPoint floating_point;
    const bool is_counted = with_elements(values, [&]<class T>(const T* first, const T* last) {
        using Place = std::conditional_t<std::is_same_v<T, float>, float, double>;
        if (edges.dtype() != dtype_of<Place>()) return false;
        const T least = *lowest.data_as<T>(), greatest = *highest.data_as<T>();
        const Place* const edge = edge_values.data_as<Place>();
        Place width;
        if constexpr (std::is_floating_point_v<T>)
            width = greatest - least;
        else
            width =
                static_cast<Place>(static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least));
        if (!std::isnormal(width)) return false;
        for (const T* value = first; value != last; ++value) {
            if (!(*value >= least && *value <= greatest)) continue;
            const auto x_value = static_cast<Place>(*value);
            const Place away = x_value - static_cast<Place>(least);
            const Place part = away / width;
            const auto guess = static_cast<int64_t>(part * static_cast<Place>(count));
            int64_t at = std::min(guess, count - 1);
            at = std::max(at - (x_value < edge[at] ? 1 : 0), int64_t{0});
            at += x_value >= edge[at + 1] && at != count - 1 ? 1 : 0;
            ++count_of[at];
        }
        return true;
    });
    return is_counted ? with_known_value(counts, made) : counts;
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
        const Edges found = edges_of("histogram", values, bins, range, static_cast<bool>(weights));
        const auto& [edges, ends] = found;
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
            if (!weights) with_known_counts(counts, values, found);
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
