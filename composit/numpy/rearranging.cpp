// Flipping, rolling, repeating, tiling and padding.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/check.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/padding.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using Axes = std::vector<int64_t>;

using ops::part;

Tensor rolled(const Tensor& x, int64_t shift, int64_t axis) {
    const int64_t length = x.shape()[static_cast<size_t>(axis)];
    const int64_t by = length == 0 ? 0 : ((shift % length) + length) % length;
    if (by == 0) return x;
    return ops::concatenate({part(x, axis, length - by, by), part(x, axis, 0, length - by)}, axis);
}

// x's elements of one axis at known positions.
Tensor picked(const Tensor& x, int64_t axis, const Axes& positions) {
    const Tensor taken = ops::gather(x, {array(positions)}, {axis});
    return moveaxis(taken, 0, axis);
}

// Which element of an axis of this length stands at position i, which may be outside.
int64_t source_of(std::string_view mode, int64_t i, int64_t length) {
    const auto modulo = [](int64_t a, int64_t n) { return ((a % n) + n) % n; };
    if (mode == "edge") return std::clamp(i, int64_t{0}, length - 1);
    if (mode == "wrap") return modulo(i, length);
    if (mode == "symmetric") {
        const int64_t m = modulo(i, 2 * length);
        return m < length ? m : 2 * length - 1 - m;
    }
    if (length == 1) return 0;  // reflect
    const int64_t m = modulo(i, 2 * length - 2);
    return m < length ? m : 2 * length - 2 - m;
}

// x's elements of one axis from `first` on, `count` of them, each `step` (-1, 0 or 1) behind the
// one before.
Tensor run_of(const Tensor& x, int64_t axis, int64_t first, int64_t step, int64_t count) {
    if (step == 1) return part(x, axis, first, count);
    const size_t along = static_cast<size_t>(axis);
    if (step == 0) {
        Shape shape = x.shape();
        shape[along] = count;
        return broadcast_to(part(x, axis, first, 1), shape);
    }
    return flip(part(x, axis, first - count + 1, count), axis);
}

constexpr size_t most_runs = 8;  // of more a gather is made

// As picked: joined from runs of elements, which are copied faster than single ones are, where
// there are few.
Tensor picked_by_runs(const Tensor& x, int64_t axis, const Axes& positions) {
    struct Run {
        int64_t first, step, count;
    };
    std::vector<Run> runs;
    for (const int64_t position : positions) {
        if (!runs.empty()) {
            Run& last = runs.back();
            const int64_t step = position - (last.first + (last.count - 1) * last.step);
            if (step == last.step || (last.count == 1 && std::abs(step) <= 1)) {
                last.step = step;
                ++last.count;
                continue;
            }
        }
        runs.push_back({position, 1, 1});
    }
    if (runs.size() > most_runs) return picked(x, axis, positions);
    std::vector<Tensor> parts;
    for (const Run& run : runs) parts.push_back(run_of(x, axis, run.first, run.step, run.count));
    return parts.size() == 1 ? parts[0] : ops::concatenate(parts, axis);
}

}  // namespace

Tensor flip(const Tensor& x, const Axis& axis) {
    Axes starts(x.shape().size(), 0), steps(x.shape().size(), 1);
    if (x.size() == 0) return x;
    for (int64_t d : axis.of("flip", x.rank())) {
        starts[static_cast<size_t>(d)] = x.shape()[static_cast<size_t>(d)] - 1;
        steps[static_cast<size_t>(d)] = -1;
    }
    return ops::slice(x, starts, x.shape(), steps);
}

Tensor roll(const Tensor& x, const std::vector<int64_t>& shift, const Axis& axis) {
    if (axis.is_none()) {
        int64_t total = 0;
        for (int64_t by : shift) total += by;
        return reshape(rolled(ravel(x), total, 0), x.shape());
    }
    Axes axes;  // an axis may be given several times here
    for (int64_t a : axis.axes()) axes.push_back(normalize_axis("roll", a, x.rank()));
    user_check(shift.size() == axes.size() || shift.size() == 1 || axes.size() == 1,
               "roll: 'shift' and 'axis' should be scalars or 1D sequences of equal length: ",
               shift, " and ", axes, ".");
    Tensor result = x;
    if (shift.empty() || axes.empty()) return result;  // an empty list pairs up with one value
    for (size_t i = 0; i < std::max(shift.size(), axes.size()); ++i)
        result = rolled(result, shift[shift.size() == 1 ? 0 : i], axes[axes.size() == 1 ? 0 : i]);
    return result;
}

Tensor roll(const Tensor& x, int64_t shift, const Axis& axis) { return roll(x, Axes{shift}, axis); }

Tensor rot90(const Tensor& x, int64_t k, std::pair<int64_t, int64_t> axes) {
    const Axes both = normalize_axes("rot90", {axes.first, axes.second}, x.rank());
    switch (((k % 4) + 4) % 4) {
        case 0: return x;
        case 1: return swapaxes(flip(x, both[1]), both[0], both[1]);
        case 2: return flip(x, both);
        default: return flip(swapaxes(x, both[0], both[1]), both[1]);
    }
}

Tensor repeat(const Tensor& x, int64_t repeats, std::optional<int64_t> axis) {
    if (!axis) return repeat(ravel(x), repeats, 0);
    user_check(repeats >= 0, "repeat: repeats may not contain negative values: ", repeats, ".");
    const int64_t along = normalize_axis("repeat", *axis, x.rank());
    Shape wide = x.shape(), result = x.shape();
    wide.insert(wide.begin() + along + 1, repeats);
    ir::check_shape("repeat", wide);
    result[static_cast<size_t>(along)] *= repeats;
    return reshape(broadcast_to(expand_dims(x, along + 1), wide), result);
}

Tensor repeat(const Tensor& x, const std::vector<int64_t>& repeats, std::optional<int64_t> axis) {
    if (!axis) return repeat(ravel(x), repeats, 0);
    const int64_t along = normalize_axis("repeat", *axis, x.rank());
    const int64_t length = x.shape()[static_cast<size_t>(along)];
    if (repeats.size() == 1) return repeat(x, repeats[0], along);
    user_check(static_cast<int64_t>(repeats.size()) == length,
               "repeat: operands could not be broadcast together with shape ", Shape{length}, " ",
               Shape{static_cast<int64_t>(repeats.size())}, ". One count per element is required.");
    Axes positions;
    for (int64_t i = 0; i < length; ++i) {
        const int64_t times = repeats[static_cast<size_t>(i)];
        user_check(times >= 0, "repeat: repeats may not contain negative values: ", repeats, ".");
        positions.insert(positions.end(), static_cast<size_t>(times), i);
    }
    return picked(x, along, positions);
}

Tensor tile(const Tensor& x, const std::vector<int64_t>& repetitions) {
    const size_t rank = std::max(repetitions.size(), x.shape().size());
    Axes times = repetitions;
    times.insert(times.begin(), rank - times.size(), 1);
    Shape shape = x.shape();
    shape.insert(shape.begin(), rank - shape.size(), 1);
    Shape narrow, wide, result;
    for (size_t d = 0; d < rank; ++d) {
        user_check(times[d] >= 0, "tile: negative dimensions are not allowed: ", repetitions, ".");
        narrow.insert(narrow.end(), {1, shape[d]});
        wide.insert(wide.end(), {times[d], shape[d]});
    }
    ir::check_shape("tile", wide);
    for (size_t d = 0; d < rank; ++d) result.push_back(times[d] * shape[d]);
    return reshape(broadcast_to(reshape(x, narrow), wide), result);
}

Tensor resize(const Tensor& x, const Shape& shape) {
    for (int64_t length : shape)
        user_check(length >= 0, "resize: all elements of `new_shape` must be non-negative: ", shape,
                   ".");
    const int64_t count = ir::element_count(shape);
    if (x.size() == 0 || count == 0) return zeros(shape, x.dtype());
    return errors_as("resize", [&] {
        const Tensor flat = ravel(strong(x));
        const int64_t whole = count / x.size(), left = count % x.size();
        std::vector<Tensor> parts;
        if (whole > 0) parts.push_back(ravel(ops::broadcast_to(flat, {whole, x.size()})));
        if (left > 0) parts.push_back(part(flat, 0, 0, left));
        return reshape(parts.size() == 1 ? parts[0] : ops::concatenate(parts, 0), shape);
    });
}

Tensor pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& widths,
           std::string_view mode, const Operand& value) {
    user_check(static_cast<int>(widths.size()) == x.rank() || widths.size() == 1,
               "pad: operands could not be broadcast together with shapes (", widths.size(),
               ", 2) and (", x.rank(), ", 2). One (before, after) per axis is required.");
    Axes low, high;
    for (int d = 0; d < x.rank(); ++d) {
        const auto& [before, after] = widths[widths.size() == 1 ? 0 : static_cast<size_t>(d)];
        user_check(before >= 0 && after >= 0, "pad: index can't contain negative values: (", before,
                   ", ", after, ") for axis ", d, ".");
        user_check(before <= ir::most_length && after <= ir::most_length, "pad: widths (", before,
                   ", ", after, ") for axis ", d, " are too large. At most 2^31 is required.");
        low.push_back(before);
        high.push_back(after);
    }
    if (mode == "constant" || mode == "empty") {
        check_integer_fits("pad", value, x.dtype());
        user_check<NotSupported>(value.tensor().rank() == 0, "pad: the value has shape ",
                                 value.tensor().shape(),
                                 ". One value for all sides, of no dimensions, is required.");
        return errors_as("pad", [&] {
            const Tensor filler =
                mode == "empty" ? scalar(x.dtype(), 0) : ops::astype(value, x.dtype());
            return ops::pad(strong(x), filler, low, high, Axes(low.size(), 0));
        });
    }
    if (mode != "edge" && mode != "wrap" && mode != "symmetric" && mode != "reflect")
        return pad(x, widths, mode, PadOptions{.values = {{value, value}}});
    Tensor result = x;
    for (size_t d = 0; d < low.size(); ++d) {
        if (low[d] == 0 && high[d] == 0) continue;
        const int64_t length = x.shape()[d];
        user_check(length > 0, "pad: can't extend empty axis ", d,
                   " using modes other than "
                   "'constant' or 'empty'.");
        Axes positions;
        for (int64_t i = -low[d]; i < length + high[d]; ++i)
            positions.push_back(source_of(mode, i, length));
        result = picked_by_runs(result, static_cast<int64_t>(d), positions);
    }
    return result;
}

Tensor diff(const Tensor& x, int64_t n, int64_t axis, const Tensor& prepend, const Tensor& append) {
    if (n == 0) return x;
    user_check(n >= 0, "diff: order must be non-negative but got ", n, ".");
    user_check(x.rank() > 0, "diff: diff requires input that is at least one dimensional.");
    const int64_t along = normalize_axis("diff", axis, x.rank());
    std::vector<Tensor> parts;
    for (const Tensor& end : {prepend, x, append}) {
        if (!end) continue;
        Shape one = x.shape();
        one[static_cast<size_t>(along)] = 1;
        parts.push_back(end.rank() == 0 ? broadcast_to(end, one) : end);
    }
    return errors_as("diff", [&] {
        Tensor result = concatenate(parts, along);
        for (int64_t i = 0; i < n; ++i) {
            const int64_t length = result.shape()[static_cast<size_t>(along)];
            const int64_t left = std::max<int64_t>(0, length - 1);
            result =
                apply(result.dtype() == DType::boolean ? "not_equal" : "subtract",
                      {part(result, along, length - left, left), part(result, along, 0, left)});
        }
        return result;
    });
}

}  // namespace composit::numpy
