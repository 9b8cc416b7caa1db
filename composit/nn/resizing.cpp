// interpolate: one operation resizes one axis, by a few weighted elements for each result.
#include "composit/nn/resizing.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/nn/checks.h"
#include "composit/nn/pooling.h"
#include "composit/nn/spatial.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace composit::nn {
namespace {

using ir::DType;
using ir::Shape;

// One axis of `from` elements resized to `to`. Transposed it is the gradient's way back.
struct Resize {
    int64_t axis, from, to;
    std::string kind;  // nearest, nearest-exact, linear, cubic
    bool align_corners, antialias, is_transposed;
    double scale;  // 0: to / from
};

ir::Attributes attributes_of(const Resize& r) {
    return {{"axis", r.axis},
            {"from", r.from},
            {"to", r.to},
            {"kind", r.kind},
            {"align_corners", r.align_corners},
            {"antialias", r.antialias},
            {"is_transposed", r.is_transposed},
            {"scale", r.scale}};
}

Resize resize_of(const ir::Attributes& a) {
    return {a.get<int64_t>("axis"),       a.get<int64_t>("from"),       a.get<int64_t>("to"),
            a.get<std::string>("kind"),   a.get<bool>("align_corners"), a.get<bool>("antialias"),
            a.get<bool>("is_transposed"), a.get<double>("scale")};
}

// An element that a result is made of, and its weight.
struct Tap {
    int64_t place;
    double weight;
};
using Taps = std::vector<std::vector<Tap>>;

double step_of(const Resize& r) {
    if (r.align_corners)
        return r.to > 1 ? static_cast<double>(r.from - 1) / static_cast<double>(r.to - 1) : 0;
    if (r.scale > 0) return 1 / r.scale;
    return static_cast<double>(r.from) / static_cast<double>(r.to);
}

// PyTorch reckons these positions in float32, and so must who takes the same elements.
int64_t nearest(const Resize& r, int64_t i) {
    const float offset = r.kind == "nearest-exact" ? 0.5F : 0.0F;
    const float place = (static_cast<float>(i) + offset) * static_cast<float>(step_of(r));
    return std::min(static_cast<int64_t>(std::floor(place)), r.from - 1);
}

double cubic(double distance, double a) {
    const double t = std::abs(distance);
    if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

// The two or four elements around a position; those behind the ends are the outermost ones.
std::vector<Tap> neighbours(const Resize& r, int64_t i) {
    const double step = step_of(r), index = static_cast<double>(i);
    double position = r.align_corners ? index * step : (index + 0.5) * step - 0.5;
    const bool is_linear = r.kind == "linear";
    if (is_linear) position = std::clamp(position, 0.0, static_cast<double>(r.from - 1));
    const double start = std::floor(position), share = position - start;
    const auto at = [&](int offset) {
        const double place = start + offset;  // in range before it becomes an integer
        return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(r.from - 1)));
    };
    if (is_linear) return {{at(0), 1 - share}, {at(1), share}};
    std::vector<Tap> taps;
    for (const int offset : {-1, 0, 1, 2})
        taps.push_back({at(offset), cubic(share - offset, -0.75)});
    return taps;
}

// All elements that a result covers, weighted by their distance; the weights' sum is 1.
std::vector<Tap> covered(const Resize& r, int64_t i) {
    const double step = step_of(r), stretch = std::max(step, 1.0);
    const double reach = (r.kind == "linear" ? 1.0 : 2.0) * stretch;
    const double centre = step * (static_cast<double>(i) + 0.5);
    const auto bounded = [&](double place) {
        return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(r.from)));
    };
    std::vector<Tap> taps;
    double total = 0;
    for (int64_t k = bounded(centre - reach + 0.5); k < bounded(centre + reach + 0.5); ++k) {
        const double away = (static_cast<double>(k) - centre + 0.5) / stretch;
        const double weight =
            r.kind == "linear" ? std::max(1 - std::abs(away), 0.0) : cubic(away, -0.5);
        taps.push_back({k, weight});
        total += weight;
    }
    for (Tap& tap : taps) tap.weight /= total;
    return taps;
}

Taps taps_of(const Resize& r) {
    Taps taps;
    for (int64_t i = 0; i < r.to; ++i) {
        if (r.kind.starts_with("nearest"))
            taps.push_back({{nearest(r, i), 1}});
        else
            taps.push_back(r.antialias ? covered(r, i) : neighbours(r, i));
    }
    if (!r.is_transposed) return taps;
    Taps back(static_cast<size_t>(r.from));
    for (int64_t i = 0; i < r.to; ++i)
        for (const Tap& tap : taps[static_cast<size_t>(i)]) {
            auto& others = back[static_cast<size_t>(tap.place)];
            if (!others.empty() && others.back().place == i)
                others.back().weight += tap.weight;  // the outermost element, taken twice
            else
                others.push_back({i, tap.weight});
        }
    return back;
}

// Tap number k of all results as rows: results with fewer taps look at some element and leave it.
struct Row {
    std::vector<int64_t> places;
    std::vector<double> weights, belongs;

    [[nodiscard]] static bool are_ones(const std::vector<double>& values) {
        return std::all_of(values.begin(), values.end(), [](double v) { return v == 1; });
    }
};

Row row_of(const Taps& taps, size_t k) {
    Row row;
    for (const auto& of_result : taps) {
        const bool has = k < of_result.size();
        row.places.push_back(has ? of_result[k].place : 0);
        row.weights.push_back(has ? of_result[k].weight : 0);
        row.belongs.push_back(has ? 1 : 0);
    }
    return row;
}

// How often every element comes, one after the other, where taps say nothing else.
std::optional<int64_t> repeats(const Row& row, int64_t length) {
    const auto count = static_cast<int64_t>(row.places.size());
    if (length == 0 || count % length != 0 || !Row::are_ones(row.weights)) return {};
    for (int64_t i = 0; i < count; ++i)
        if (row.places[static_cast<size_t>(i)] != i / (count / length)) return {};
    return count / length;
}

// What the taps of all results make of x, each by gathers: the k-th taps' elements, weighted.
Tensor gathered(const Tensor& x, int64_t axis, const Taps& taps) {
    const DType dtype = x.dtype();
    size_t width = 1;
    for (const auto& of_result : taps) width = std::max(width, of_result.size());
    Shape column(x.shape().size() - static_cast<size_t>(axis), 1);
    column[0] = static_cast<int64_t>(taps.size());
    Tensor sum;
    for (size_t k = 0; k < width; ++k) {
        const Row row = row_of(taps, k);
        if (const auto times = repeats(row, x.shape()[static_cast<size_t>(axis)]);
            times && width == 1)
            return *times == 1 ? x : numpy::repeat(x, *times, axis);
        const auto aligned = [&](const std::vector<double>& values, DType as) {
            return numpy::astype(numpy::array<double>(values, column), as);
        };
        Tensor term = numpy::take(x, numpy::array<int64_t>(row.places, {column[0]}), axis);
        if (!Row::are_ones(row.weights))
            term = numpy::apply("multiply", {term, aligned(row.weights, dtype)});
        if (!Row::are_ones(row.belongs))
            term = numpy::apply(
                "where", {aligned(row.belongs, DType::boolean), term, numpy::scalar(dtype, 0)});
        sum = k == 0 ? term : numpy::apply("add", {sum, term});
    }
    return sum;
}

// Results by groups: result number results * j + phase, for first <= j < last, has its taps at the
// places elements * j + offsets[phase][k].
struct Groups {
    int64_t results = 1, elements = 1, first = 0, last = 0;
    std::vector<std::vector<int64_t>> offsets;
};

// The largest range of j around the middle for which that holds; without offsets if there is none.
Groups groups_of(const Taps& taps, int64_t length) {
    constexpr int64_t most_results = 8;  // of a group
    const auto count = static_cast<int64_t>(taps.size());
    const int64_t groups = std::gcd(count, length);
    if (groups < 2 || count / groups > most_results) return {};
    Groups g;
    g.results = count / groups;
    g.elements = length / groups;
    const auto of_result = [&](int64_t j, int64_t phase) -> const std::vector<Tap>& {
        return taps[static_cast<size_t>(g.results * j + phase)];
    };
    const int64_t middle = groups / 2;
    for (int64_t phase = 0; phase < g.results; ++phase) {
        g.offsets.emplace_back();
        for (const Tap& tap : of_result(middle, phase))
            g.offsets.back().push_back(tap.place - g.elements * middle);
    }
    const auto holds = [&](int64_t j) {
        for (int64_t phase = 0; phase < g.results; ++phase) {
            const auto& own = of_result(j, phase);
            const auto& offsets = g.offsets[static_cast<size_t>(phase)];
            if (own.size() != offsets.size()) return false;
            for (size_t k = 0; k < own.size(); ++k)
                if (own[k].place != g.elements * j + offsets[k]) return false;
        }
        return true;
    };
    g.first = g.last = middle;
    while (g.first > 0 && holds(g.first - 1)) --g.first;
    while (g.last < groups && holds(g.last)) ++g.last;
    return g;
}

// Elements of one phase and tap: so many, `step` apart.
Tensor spaced(const Tensor& x, int64_t axis, int64_t start, int64_t count, int64_t step) {
    std::vector<int64_t> starts(x.shape().size(), 0), steps(x.shape().size(), 1);
    Shape lengths = x.shape();
    const auto along = static_cast<size_t>(axis);
    starts[along] = start;
    lengths[along] = count;
    steps[along] = step;
    return ops::slice(x, starts, lengths, steps);
}

// Results of one phase are made of elements at equal distances: sums of slices, phase by phase, and
// no gathers but at the ends.
Tensor by_groups(const Tensor& x, int64_t axis, const Taps& taps, const Groups& g) {
    const int64_t count = g.last - g.first;
    Shape column(x.shape().size() - static_cast<size_t>(axis), 1);
    column[0] = count;
    Shape shape = x.shape();
    shape[static_cast<size_t>(axis)] = count;
    std::vector<Tensor> phases;
    for (int64_t phase = 0; phase < g.results; ++phase) {
        const auto& offsets = g.offsets[static_cast<size_t>(phase)];
        Tensor sum;
        for (size_t k = 0; k < offsets.size(); ++k) {
            std::vector<double> weights;
            for (int64_t j = g.first; j < g.last; ++j)
                weights.push_back(taps[static_cast<size_t>(g.results * j + phase)][k].weight);
            Tensor term = spaced(x, axis, g.elements * g.first + offsets[k], count, g.elements);
            if (!Row::are_ones(weights)) {
                const Tensor factors = numpy::array<double>(weights, column);
                term = numpy::apply("multiply", {term, numpy::astype(factors, x.dtype())});
            }
            sum = k == 0 ? term : numpy::apply("add", {sum, term});
        }
        if (offsets.empty()) sum = numpy::zeros(shape, x.dtype());
        phases.push_back(sum);
    }
    shape[static_cast<size_t>(axis)] = count * g.results;
    std::vector<Tensor> parts{numpy::reshape(numpy::stack(phases, axis + 1), shape)};
    const auto begin = taps.begin();
    if (g.first > 0)
        parts.insert(parts.begin(), gathered(x, axis, {begin, begin + g.results * g.first}));
    if (g.results * g.last < static_cast<int64_t>(taps.size()))
        parts.push_back(gathered(x, axis, {begin + g.results * g.last, taps.end()}));
    return parts.size() == 1 ? parts[0] : numpy::concatenate(parts, axis);
}

Tensor resized(const Tensor& x, const Resize& r) {
    const Taps taps = taps_of(r);
    constexpr int64_t enough = 4;  // groups
    const Groups g = groups_of(taps, x.shape()[static_cast<size_t>(r.axis)]);
    // Single elements are gathered as fast.
    const bool is_copied = r.kind.starts_with("nearest") && !r.is_transposed && g.results > 1;
    return g.last - g.first >= enough && !is_copied ? by_groups(x, r.axis, taps, g)
                                                    : gathered(x, r.axis, taps);
}

void check_resize(const std::vector<Tensor>& x, const ir::Attributes& a) {
    ir::check_operand_count("resize", x, 1);
    ir::check_lengths("resize", x);
    const auto integer = [&](std::string_view name, int64_t least, int64_t most) {
        const auto value = ir::checked_attribute<int64_t>("resize", a, name);
        user_check(value >= least && value <= most, "resize: ", name, " ", value,
                   " is out of range. ", least, " to ", most, " is required.");
        return value;
    };
    constexpr int64_t most = int64_t{1} << 31;
    const int64_t axis = integer("axis", 0, x[0].rank() - 1);
    const int64_t from = integer("from", 1, most), to = integer("to", 1, most);
    const auto& kind = ir::checked_attribute<std::string>("resize", a, "kind");
    user_check(kind == "nearest" || kind == "nearest-exact" || kind == "linear" || kind == "cubic",
               "resize: kind '", kind, "' is not known.");
    (void)ir::checked_attribute<bool>("resize", a, "align_corners");
    (void)ir::checked_attribute<bool>("resize", a, "antialias");
    const double scale = ir::checked_attribute<double>("resize", a, "scale");
    user_check(std::isfinite(scale) && scale >= 0, "resize: scale ", scale,
               " is out of range. A finite number of at least 0 is required.");
    const bool is_back = ir::checked_attribute<bool>("resize", a, "is_transposed");
    const int64_t length = x[0].shape()[static_cast<size_t>(axis)];
    user_check(length == (is_back ? to : from), "resize: x has shape ", x[0].shape(), ", axis ",
               axis, " is resized from ", is_back ? to : from, " elements.");
}

const ir::Operation& resize_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "resize",
        .doc = "One axis at another length: each result is a weighted sum of a few elements.",
        .infer =
            [](const std::vector<Tensor>& x, const ir::Attributes& a) {
                const Resize r = resize_of(a);
                Shape shape = x[0].shape();
                shape[static_cast<size_t>(r.axis)] = r.is_transposed ? r.from : r.to;
                return std::vector<ir::TensorType>{{shape, x[0].dtype()}};
            },
        .vjp =
            [](const ir::Node& node, const std::vector<Tensor>& g, const std::vector<bool>&) {
                Resize back = resize_of(node.attributes());
                back.is_transposed = !back.is_transposed;
                return std::vector<Tensor>{
                    ir::make(resize_operation(), {g[0]}, attributes_of(back))};
            },
        .batch =
            [](const ir::Node& node, const std::vector<Tensor>& x, const std::vector<bool>&,
               int64_t) {
                Resize within = resize_of(node.attributes());
                ++within.axis;
                return std::vector<Tensor>{
                    ir::make(resize_operation(), {x[0]}, attributes_of(within))};
            },
        .decompose =
            [](const ir::Node& node) {
                return std::vector<Tensor>{resized(node.operand(0), resize_of(node.attributes()))};
            },
        .check = check_resize,
    });
    return operation;
}

struct Mode {
    std::string_view name, kind;
    size_t axes;  // 0: any number
};
constexpr Mode modes[] = {
    {"nearest", "nearest", 0},  {"nearest-exact", "nearest-exact", 0},
    {"linear", "linear", 0},    {"bilinear", "linear", 2},
    {"trilinear", "linear", 3}, {"bicubic", "cubic", 2},
    {"area", "area", 0},
};

const Mode& mode_of(const Tensor& x, const InterpolateOptions& options, size_t count) {
    const auto* mode = std::find_if(std::begin(modes), std::end(modes),
                                    [&](const Mode& known) { return known.name == options.mode; });
    user_check(mode != std::end(modes), "interpolate: mode is '", options.mode,
               "'. Available: nearest, nearest-exact, linear, bilinear, trilinear, bicubic, area.");
    user_check(mode->axes == 0 || mode->axes == count, "interpolate: mode is '", options.mode,
               "', x has shape ", x.shape(), ". ", mode->axes, " spatial axes are required.");
    const bool is_weighted = mode->kind == "linear" || mode->kind == "cubic";
    user_check(is_weighted || !options.align_corners, "interpolate: align_corners is of mode '",
               options.mode, "'. Linear and cubic modes have it.");
    user_check(!options.antialias || (is_weighted && count == 2),
               "interpolate: antialias is of "
               "mode '",
               options.mode, "' with ", count,
               " spatial axes. Linear and cubic modes "
               "with two spatial axes have it.");
    return *mode;
}

// New lengths of the spatial axes, and their scales (0: the lengths' ratio).
std::vector<std::pair<int64_t, double>> sizes_of(const Tensor& x, const InterpolateOptions& options,
                                                 size_t count) {
    constexpr std::string_view name = "interpolate";
    user_check(!options.size.empty() || !options.scale_factor.empty(),
               "interpolate: neither size nor scale_factor is given. One of them is required.");
    const auto& factors = options.scale_factor;
    user_check(factors.size() <= 1 || factors.size() == count, "interpolate: scale_factor has ",
               factors.size(), " numbers, x has shape ", x.shape(), ". 1 or ", count,
               " is required.");
    const Axes given = per_axis(name, "size", options.size, count, 0, options.size.empty() ? 0 : 1);
    constexpr double most = double{int64_t{1} << 31};
    std::vector<std::pair<int64_t, double>> sizes;
    for (size_t d = 0; d < count; ++d) {
        const int64_t length = x.shape()[d + (options.channels_last ? 1 : 2)];
        user_check(length > 0, "interpolate: x has shape ", x.shape(),
                   ". Spatial axes that are not empty are required.");
        const double factor = factors.empty() ? 0 : factors[factors.size() == 1 ? 0 : d];
        user_check(factors.empty() || (factor > 0 && std::isfinite(factor)),
                   "interpolate: scale_factor is ", factor, ". A positive number is required.");
        const double made = options.size.empty() ? std::floor(static_cast<double>(length) * factor)
                                                 : static_cast<double>(given[d]);
        user_check(made >= 1 && made < most, "interpolate: spatial axis ", d, " of shape ",
                   x.shape(), " would have ", made,
                   " elements. At least 1, less than 2^31 is required.");
        sizes.emplace_back(static_cast<int64_t>(made), factor);
    }
    return sizes;
}

// The spatial axes in the order in which they are resized: innermost first, as PyTorch adds. Where
// elements are only copied, first the axes that get shorter, outer ones before inner ones: whole
// rows are copied faster than elements.
std::vector<size_t> order_of(bool is_nearest, const Tensor& x,
                             const std::vector<std::pair<int64_t, double>>& sizes,
                             bool channels_last) {
    std::vector<size_t> order(sizes.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;
    if (!is_nearest) return order;
    const auto shrinks = [&](size_t d) {
        return sizes[d].first < x.shape()[d + (channels_last ? 1 : 2)];
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        if (shrinks(a) != shrinks(b)) return shrinks(a);
        return shrinks(a) && a < b;
    });
    return order;
}

// Where PyTorch copies an axis that keeps its length, or doubles, whatever the factor says.
bool ignores_factor(const Mode& mode, const InterpolateOptions& options, size_t count, int64_t from,
                    int64_t to) {
    if (mode.kind == "nearest") return count == 2 && (to == from || to == 2 * from);
    return to == from && (mode.kind == "linear" || options.antialias);
}

}  // namespace

void register_resizing() { resize_operation(); }

Tensor interpolate(const Tensor& x, const InterpolateOptions& options) {
    const size_t count = spatial_axes("interpolate", x);
    const Mode& mode = mode_of(x, options, count);
    const auto sizes = sizes_of(x, options, count);
    if (mode.kind == "area") {
        Axes lengths;
        for (const auto& [length, _] : sizes) lengths.push_back(length);
        return errors_as("interpolate",
                         [&] { return adaptive_average_pool(x, lengths, options.channels_last); });
    }
    const bool is_nearest = mode.kind.starts_with("nearest");
    const Tensor given = is_nearest ? numpy::strong(x) : floating("interpolate", x);
    const bool is_narrow = !is_nearest && ir::size_of(given.dtype()) < 4;
    Tensor y = is_narrow ? ops::astype(given, DType::float32) : given;
    for (const size_t d : order_of(is_nearest, y, sizes, options.channels_last)) {
        const auto axis = static_cast<int64_t>(d) + (options.channels_last ? 1 : 2);
        const auto [to, factor] = sizes[d];
        const int64_t from = y.shape()[static_cast<size_t>(axis)];
        const double scale = ignores_factor(mode, options, count, from, to) ? 0 : factor;
        if (from == to && (scale == 0 || scale == 1 || options.align_corners)) continue;
        y = ir::make(resize_operation(), {y},
                     attributes_of({axis, from, to, std::string(mode.kind), options.align_corners,
                                    options.antialias, false, scale}));
    }
    return ops::astype(y, given.dtype());
}

}  // namespace composit::nn
