// Padding axis after axis: constants, ramps, statistics, and odd reflections.
#include "composit/numpy/padding.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/numpy/spacing.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using ops::part;
using Widths = std::vector<std::pair<int64_t, int64_t>>;
using Values = std::vector<std::pair<Operand, Operand>>;

// What is added before and behind an axis of x.
struct Margin {
    const Tensor& x;
    int64_t axis, width;
    bool is_behind;

    int64_t length() const { return x.shape()[static_cast<size_t>(axis)]; }
    Tensor at_edge(int64_t count) const {
        return part(x, axis, is_behind ? length() - count : 0, count);
    }
    Shape shape() const {
        Shape result = x.shape();
        result[static_cast<size_t>(axis)] = width;
        return result;
    }
};

Tensor constant_side(const Margin& side, const Operand& value) {
    return broadcast_to(astype(value, side.x.dtype()), side.shape());
}

// From the end to the edge, which is not reached.
Tensor ramp(const Margin& side, const Operand& end) {
    const Tensor line = spaced(end, squeeze(side.at_edge(1), side.axis), side.width, false,
                               side.x.dtype(), side.axis);
    return side.is_behind ? flip(line, side.axis) : line;
}

// One value of the elements at an edge for all that is added beside them.
Tensor statistic(const Margin& side, std::string_view mode, int64_t count) {
    const Tensor some = side.at_edge(std::min(count, side.length()));
    Tensor value = mode == "maximum"   ? max(some, side.axis, true)
                   : mode == "minimum" ? min(some, side.axis, true)
                   : mode == "mean"    ? mean(some, side.axis, {}, true)
                                       : median(some, side.axis, true);
    if (ir::is_integer(side.x.dtype())) value = round(value);
    return broadcast_to(astype(value, side.x.dtype()), side.shape());
}

// Mirrored at both edges and turned upside down there, again where that is too short. `first`: of
// those that are mirrored, 0 with the edge itself, 1 without.
Tensor turned(Tensor x, int64_t axis, std::pair<int64_t, int64_t> width, int64_t first) {
    auto [low, high] = width;
    const auto length = [&] { return x.shape()[static_cast<size_t>(axis)]; };
    const int64_t period = length() - first;
    if (length() == 1) return concatenate({repeat(x, low, axis), x, repeat(x, high, axis)}, axis);
    const auto added = [&](int64_t edge, int64_t from, int64_t count) {
        const Tensor mirrored = flip(part(x, axis, from, count), axis);
        return astype(2 * part(x, axis, edge, 1) - mirrored, x.dtype());
    };
    while (low > 0 || high > 0) {
        // Whole periods of what there was at first.
        const int64_t reach = (length() - first) / period * period;
        if (low > 0) {
            const int64_t count = std::min(reach, low);
            x = concatenate({added(0, first, count), x}, axis);
            low -= count;
        }
        if (high > 0) {
            const int64_t count = std::min(reach, high), end = length() - first;
            x = concatenate({x, added(length() - 1, end - count, count)}, axis);
            high -= count;
        }
    }
    return x;
}

template <class Pair>
const Pair& pair_of(const std::vector<Pair>& pairs, size_t axis) {
    return pairs[pairs.size() == 1 ? 0 : axis];
}

void check_pairs(std::string_view what, size_t count, int rank) {
    user_check(count <= 1 || static_cast<int>(count) == rank, "pad: ", count, " pairs of ", what,
               " are given for ", rank, " axes. One for each, or one for all, is required.");
}

bool is_statistic(std::string_view mode) {
    return mode == "maximum" || mode == "mean" || mode == "median" || mode == "minimum";
}

void check_options(const Tensor& x, const Widths& widths, std::string_view mode,
                   const PadOptions& options) {
    user_check(!widths.empty() || x.rank() == 0,
               "pad: no widths are given. A pair for each axis is required.");
    check_pairs("widths", widths.size(), x.rank());
    check_pairs("values", options.values.size(), x.rank());
    check_pairs("stat_lengths", options.stat_lengths.size(), x.rank());
    for (const auto& [low, high] : widths)
        user_check(low >= 0 && high >= 0, "pad: index can't contain negative values: (", low, ", ",
                   high, ").");
    for (size_t d = 0; d < x.shape().size() && mode != "constant"; ++d) {
        const auto& [low, high] = pair_of(widths, d);
        user_check(x.shape()[d] > 0 || (low == 0 && high == 0), "pad: can't extend empty axis ", d,
                   " using modes other than 'constant' or 'empty'.");
    }
    for (const auto& [low, high] : options.stat_lengths) {
        user_check(low >= 0 && high >= 0, "pad: stat_length can't contain negative values: (", low,
                   ", ", high, ").");
        user_check((mode != "maximum" && mode != "minimum") || (low > 0 && high > 0),
                   "pad: stat_length of 0 yields no value for padding.");
    }
}

}  // namespace

Tensor pad(const Tensor& x, const Widths& widths, std::string_view mode,
           const PadOptions& options) {
    const bool is_mirrored = mode == "reflect" || mode == "symmetric";
    if (!options.is_odd && (is_mirrored || mode == "edge" || mode == "wrap"))
        return pad(x, widths, mode, Operand(0));
    user_check(mode == "constant" || mode == "linear_ramp" || is_mirrored || is_statistic(mode),
               "pad: mode '", mode,
               "' is not supported. One of constant, linear_ramp, maximum, mean, median, minimum, "
               "reflect, symmetric, edge, wrap is required.");
    check_options(x, widths, mode, options);
    const Values zeros = {{0, 0}};
    const Values& values = options.values.empty() ? zeros : options.values;
    return one_node("pad", {strong(x)}, [&](const Tensors& of) {
        Tensor padded = of[0];
        for (int64_t axis = 0; axis < x.rank(); ++axis) {
            const size_t d = static_cast<size_t>(axis);
            const auto [low, high] = pair_of(widths, d);
            if (is_mirrored) {
                padded = turned(padded, axis, {low, high}, mode == "reflect" ? 1 : 0);
                continue;
            }
            const auto side = [&](bool is_behind) {
                const Margin here = {padded, axis, is_behind ? high : low, is_behind};
                const auto& [before, behind] = pair_of(values, d);
                if (mode == "constant") return constant_side(here, is_behind ? behind : before);
                if (mode == "linear_ramp") return ramp(here, is_behind ? behind : before);
                if (options.stat_lengths.empty()) return statistic(here, mode, here.length());
                const auto& [first, last] = pair_of(options.stat_lengths, d);
                return statistic(here, mode, is_behind ? last : first);
            };
            padded = concatenate({side(false), padded, side(true)}, axis);
        }
        return padded;
    });
}

}  // namespace composit::numpy
