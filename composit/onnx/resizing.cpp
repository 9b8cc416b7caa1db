// Images of another size: along each axis, elements are weighted sums of near ones.
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace composit::onnx {
namespace resizing {
namespace {

using numpy::apply;

struct Options {
    std::string mode, positions, nearest;
    double cubic = -0.75, extrapolated = 0;
    bool excludes_outside = false, is_antialiased = false;
};

// One axis: its lengths, the factor between them, and the part of x that is looked at, from 0 to 1.
struct ResizedAxis {
    int64_t axis = 0, before = 0, after = 0;
    double factor = 1, start = 0, stop = 1;
};

// Where element number i comes from.
double position(const Options& options, const ResizedAxis& axis, int64_t i) {
    const double place = static_cast<double>(i), last = static_cast<double>(axis.before - 1);
    const double length = axis.factor * static_cast<double>(axis.before);
    if (options.positions == "align_corners") return length == 1 ? 0 : place * last / (length - 1);
    if (options.positions == "asymmetric") return place / axis.factor;
    if (options.positions == "tf_half_pixel_for_nn") return (place + 0.5) / axis.factor;
    if (options.positions == "pytorch_half_pixel" && length == 1) return -0.5;
    if (options.positions == "tf_crop_and_resize") {
        const double part = axis.stop - axis.start;
        return axis.start * last +
               (length == 1 ? part * last / 2 : place * part * last / (length - 1));
    }
    const double middle = (place + 0.5) / axis.factor - 0.5;
    if (options.positions != "half_pixel_symmetric") return middle;
    const double adjustment = static_cast<double>(axis.after) / length;
    return middle + static_cast<double>(axis.before) / 2 * (1 - adjustment);
}

double cubic_weight(double distance, double a) {
    const double d = std::abs(distance);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    return 0;
}

// Elements and their weights, as many for each element of the result.
struct Taps {
    std::vector<std::vector<int64_t>> indices;  // [tap][element]
    std::vector<std::vector<double>> weights;
    std::vector<bool> is_outside;  // of the elements that are extrapolated
};

int64_t nearest_index(const Options& options, double place) {
    if (options.nearest == "floor") return static_cast<int64_t>(std::floor(place));
    if (options.nearest == "ceil") return static_cast<int64_t>(std::ceil(place));
    if (options.nearest == "round_prefer_ceil")
        return static_cast<int64_t>(std::floor(place + 0.5));
    return static_cast<int64_t>(std::ceil(place - 0.5));
}

Taps taps_of(const Options& options, const ResizedAxis& axis) {
    const bool is_nearest = options.mode == "nearest", is_cubic = options.mode == "cubic";
    const double scale = options.is_antialiased ? std::min(axis.factor, 1.0) : 1;
    const double reach = is_cubic ? 2 : 1;
    // Elements from so many before the one at or before the position.
    const auto first = static_cast<int64_t>(std::floor(-reach / scale)) + 1;
    const int64_t count = is_nearest ? 1 : 2 - 2 * first;
    Taps taps;
    taps.indices.assign(static_cast<size_t>(count), {});
    taps.weights.assign(static_cast<size_t>(count), {});
    for (int64_t i = 0; i < axis.after; ++i) {
        const double place = position(options, axis, i);
        taps.is_outside.push_back(options.positions == "tf_crop_and_resize" &&
                                  (place < 0 || place > static_cast<double>(axis.before - 1)));
        // The position lies behind `base`, by at most 1.
        const double base =
            is_nearest ? static_cast<double>(nearest_index(options, place)) : std::ceil(place) - 1;
        const double ratio = place - base;
        double total = 0;
        std::vector<double> weights;
        for (int64_t k = 0; k < count; ++k) {
            const int64_t from = static_cast<int64_t>(base) + (is_nearest ? 0 : first + k);
            const double distance = (static_cast<double>(first + k) - ratio) * scale;
            double weight = is_nearest ? 1
                            : is_cubic ? cubic_weight(distance, options.cubic)
                                       : std::max(1 - std::abs(distance), 0.0);
            if (options.excludes_outside && (from < 0 || from >= axis.before)) weight = 0;
            taps.indices[static_cast<size_t>(k)].push_back(
                std::clamp<int64_t>(from, 0, axis.before - 1));
            weights.push_back(weight);
            total += weight;
        }
        const bool is_scaled = options.is_antialiased || options.excludes_outside;
        for (size_t k = 0; k < weights.size(); ++k)
            taps.weights[k].push_back(is_scaled ? weights[k] / total : weights[k]);
    }
    return taps;
}

Tensor resized(const Tensor& x, const Options& options, const ResizedAxis& axis) {
    const Taps taps = taps_of(options, axis);
    Shape along(static_cast<size_t>(x.rank()), 1);
    along[static_cast<size_t>(axis.axis)] = axis.after;
    Tensor sum;
    for (size_t k = 0; k < taps.indices.size(); ++k) {
        const Tensor near = numpy::take(x, numpy::array<int64_t>(taps.indices[k]), axis.axis);
        if (options.mode == "nearest") {
            sum = near;
            continue;
        }
        const Tensor weights =
            numpy::astype(numpy::array<double>(taps.weights[k], along), x.dtype());
        const Tensor term = near * weights;
        sum = sum ? sum + term : term;
    }
    return sum;
}

bool any_outside(const Options& options, const std::vector<ResizedAxis>& axes) {
    if (options.positions != "tf_crop_and_resize") return false;
    for (const ResizedAxis& axis : axes)
        for (const bool outside : taps_of(options, axis).is_outside)
            if (outside) return true;
    return false;
}

Tensor resize_all(const Tensor& x, const Options& options, const std::vector<ResizedAxis>& axes) {
    const bool is_exact = options.mode == "nearest";
    // Sums are computed in float32, or float64 where x is.
    const DType wide = is_exact                      ? x.dtype()
                       : x.dtype() == DType::float64 ? DType::float64
                                                     : DType::float32;
    Tensor result = numpy::astype(x, wide);
    for (const ResizedAxis& axis : axes) {
        if (axis.before == axis.after && axis.factor == 1 && axis.start == 0 && axis.stop == 1)
            continue;
        result = resized(result, options, axis);
    }
    if (any_outside(options, axes)) {
        for (const ResizedAxis& axis : axes) {
            const std::vector<bool> outside = taps_of(options, axis).is_outside;
            Shape along(static_cast<size_t>(x.rank()), 1);
            along[static_cast<size_t>(axis.axis)] = axis.after;
            const Tensor is_outside = numpy::reshape(
                numpy::astype(numpy::array<int64_t>({outside.begin(), outside.end()}),
                              DType::boolean),
                along);
            result = apply("where", {is_outside, options.extrapolated, result});
        }
    }
    if (ir::is_integer(x.dtype()) && !is_exact) result = apply("rint", {result});
    return numpy::astype(result, x.dtype());
}

Options options_of(const Call& call) {
    Options options;
    options.mode = call.text("mode", "nearest");
    options.positions = call.text("coordinate_transformation_mode", "half_pixel");
    options.nearest = call.text("nearest_mode", "round_prefer_floor");
    options.cubic = call.number("cubic_coeff_a", -0.75);
    options.extrapolated = call.number("extrapolation_value", 0);
    options.excludes_outside = call.flag("exclude_outside");
    options.is_antialiased = call.flag("antialias");
    if (call.opset() < 11) {
        options.positions = "asymmetric";
        options.nearest = "floor";
    }
    call.check(options.mode == "nearest" || options.mode == "linear" || options.mode == "cubic",
               "mode is '", options.mode, "'. nearest, linear or cubic is required.");
    return options;
}

int64_t rounded(double length) { return static_cast<int64_t>(std::floor(length + 0.5)); }

// By factors, or to sizes.
std::vector<ResizedAxis> axes_of(Call& call, const Tensor& x, const std::vector<double>& factors,
                                 std::vector<int64_t> sizes) {
    std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    if (const auto given = call.axes(size_t(-1), "axes", x.rank())) axes = *given;
    const size_t count = sizes.empty() ? factors.size() : sizes.size();
    call.check(count == axes.size(), "there are ", count, " factors or sizes for ", axes.size(),
               " axes. As many are required.");
    std::vector<ResizedAxis> all;
    for (size_t i = 0; i < axes.size(); ++i) {
        ResizedAxis axis{axes[i], x.shape()[static_cast<size_t>(axes[i])]};
        axis.factor = sizes.empty()
                          ? factors[i]
                          : static_cast<double>(sizes[i]) / static_cast<double>(axis.before);
        all.push_back(axis);
    }
    const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
    if (!sizes.empty() && policy != "stretch") {
        const auto smaller = [](const ResizedAxis& a, const ResizedAxis& b) {
            return a.factor < b.factor;
        };
        const double factor = policy == "not_larger"
                                  ? std::min_element(all.begin(), all.end(), smaller)->factor
                                  : std::max_element(all.begin(), all.end(), smaller)->factor;
        for (size_t i = 0; i < all.size(); ++i) {
            all[i].factor = factor;
            sizes[i] = rounded(factor * static_cast<double>(all[i].before));
        }
    }
    for (size_t i = 0; i < all.size(); ++i) {
        all[i].after = sizes.empty() ? static_cast<int64_t>(std::floor(
                                           all[i].factor * static_cast<double>(all[i].before)))
                                     : sizes[i];
        call.check(all[i].after > 0 && all[i].before > 0, "axis ", all[i].axis, " of length ",
                   all[i].before, " becomes one of ", all[i].after,
                   ". Positive lengths are required.");
    }
    return all;
}

Values resize(Call& call) {
    const Tensor& x = call.tensor(0);
    Options options = options_of(call);
    const size_t of_factors = call.opset() < 11 ? 1 : 2;
    std::vector<double> factors;
    std::vector<int64_t> sizes;
    if (call.has(of_factors)) factors = call.known_numbers(of_factors);
    if (call.has(3)) sizes = call.known_integers(3);
    std::vector<ResizedAxis> axes = axes_of(call, x, factors, sizes);
    if (options.positions == "tf_crop_and_resize") {
        const std::vector<double> parts = call.known_numbers(1);
        call.check(parts.size() == 2 * axes.size(), "roi has ", parts.size(), " numbers. ",
                   2 * axes.size(), " are required.");
        for (size_t i = 0; i < axes.size(); ++i) {
            axes[i].start = parts[i];
            axes[i].stop = parts[i + axes.size()];
        }
    }
    return {Value(resize_all(x, options, axes), call.value(0).element())};
}

Values upsample(Call& call) {
    const Tensor& x = call.tensor(0);
    Options options;
    options.mode = call.text("mode", "nearest");
    options.positions = "asymmetric";
    options.nearest = "floor";
    const std::vector<double> factors =
        call.opset() < 9 ? call.numbers("scales") : call.known_numbers(1);
    return {resize_all(x, options, axes_of(call, x, factors, {}))};
}

}  // namespace
}  // namespace resizing

void add_resizing(Registry& registry) {
    using namespace resizing;
    registry.add("Resize", resize);
    registry.add("Upsample", upsample);
}

}  // namespace composit::onnx
