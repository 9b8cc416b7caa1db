// Values of images between their elements: grids, regions of interest, deformable convolutions.
#include "composit/aten/grid_sample.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/convolutions.h"
#include "composit/onnx/images.h"
#include "composit/onnx/operators.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace composit::onnx {
namespace sampling {
namespace {

using numpy::apply;

Values grid_sample(Call& call) {
    const std::string mode = call.text("mode", "linear");
    const std::string padding = call.text("padding_mode", "zeros");
    const bool is_cubic = mode == "cubic" || mode == "bicubic";
    call.check(is_cubic || mode == "linear" || mode == "bilinear" || mode == "nearest", "mode is '",
               mode, "'. linear, nearest or cubic is required.");
    call.check(padding == "zeros" || padding == "border" || padding == "reflection",
               "padding_mode is '", padding, "'. zeros, border or reflection is required.");
    return {aten::grid_sample(call.tensor(0), numpy::astype(call.tensor(1), call.tensor(0).dtype()),
                              is_cubic            ? aten::GridMode::bicubic
                              : mode == "nearest" ? aten::GridMode::nearest
                                                  : aten::GridMode::bilinear,
                              padding == "zeros"    ? aten::GridPadding::zeros
                              : padding == "border" ? aten::GridPadding::border
                                                    : aten::GridPadding::reflection,
                              call.flag("align_corners"))};
}

// Positions of the elements of a line, from -1 to 1.
Tensor line(int64_t length, bool align_corners, DType dtype) {
    const Tensor places = numpy::astype(numpy::arange(length), dtype);
    const double count = static_cast<double>(length);
    if (align_corners) return length == 1 ? places * 0.0 : places * (2 / (count - 1)) - 1.0;
    return (places * 2.0 + 1.0) / count - 1.0;
}

Values affine_grid(Call& call) {
    const Tensor& theta = call.tensor(0);
    const std::vector<int64_t> size = call.known_integers(1);
    const auto axes = static_cast<int64_t>(size.size()) - 2;
    call.check((axes == 2 || axes == 3) && theta.shape() == Shape{size[0], axes, axes + 1},
               "matrices of shape ", theta.shape(), " for an image of shape ", size,
               ". (batch, 2, 3) or (batch, 3, 4) is required.");
    const bool align_corners = call.flag("align_corners");
    const Shape lengths(size.begin() + 2, size.end());
    std::vector<Tensor> places;  // x, y and z: the last axis first
    for (int64_t i = axes; i-- > 0;) {
        Shape along(lengths.size(), 1);
        along[static_cast<size_t>(i)] = lengths[static_cast<size_t>(i)];
        places.push_back(numpy::broadcast_to(
            numpy::reshape(line(lengths[static_cast<size_t>(i)], align_corners, theta.dtype()),
                           along),
            lengths));
    }
    places.push_back(numpy::ones(lengths, theta.dtype()));
    const Tensor points = numpy::reshape(numpy::stack(places, -1), {-1, axes + 1});
    const Tensor moved = numpy::matmul(points, numpy::matrix_transpose(theta));
    Shape whole{size[0]};
    whole.insert(whole.end(), lengths.begin(), lengths.end());
    whole.push_back(axes);
    return {numpy::reshape(moved, whole)};
}

// The four neighbours of places in an image of that height and width, and their weights.
struct Corners {
    std::array<Tensor, 4> y, x, weight;
};
Corners corners_of(const Tensor& low_y, const Tensor& high_y, const Tensor& part_y,
                   const Tensor& low_x, const Tensor& high_x, const Tensor& part_x) {
    return {{low_y, low_y, high_y, high_y},
            {low_x, high_x, low_x, high_x},
            {(1 - part_y) * (1 - part_x), (1 - part_y) * part_x, part_y * (1 - part_x),
             part_y * part_x}};
}

// The values of one region at (rows, columns) of places, (channels, rows, columns) for each corner.
// Places more than 1 outside of the image have the value 0.
std::array<Tensor, 4> corner_values(const Tensor& image, const Tensor& ys, const Tensor& xs) {
    const int64_t height = image.shape()[1], width = image.shape()[2];
    struct Along {
        Tensor low, high, part, is_inside;
    };
    const auto along = [](const Tensor& places, int64_t length) {
        const Tensor is_inside = (places >= -1.0) & (places <= static_cast<double>(length));
        const Tensor inside = numpy::clip(places, 0.0, static_cast<double>(length - 1));
        const Tensor low = apply("floor", {inside});
        const Tensor index = numpy::astype(low, DType::int64);
        return Along{index, apply("minimum", {index + 1, length - 1}), inside - low, is_inside};
    };
    const Along y = along(numpy::expand_dims(ys, -1), height), x = along(xs, width);
    const Corners corners = corners_of(y.low, y.high, y.part, x.low, x.high, x.part);
    const Tensor is_inside = y.is_inside & x.is_inside;
    std::array<Tensor, 4> values;
    for (size_t i = 0; i < 4; ++i) {
        const Tensor taken = numpy::get_item(image, {numpy::Slice{}, corners.y[i], corners.x[i]});
        values[i] = apply("where", {is_inside, taken * corners.weight[i], 0.0});
    }
    return values;
}

Values roi_align(Call& call) {
    const Tensor &x = call.tensor(0), &regions = call.tensor(1);
    const std::string mode = call.text("mode", "avg");
    call.check(mode == "avg" || mode == "max", "mode is '", mode, "'. avg or max is required.");
    call.check(x.rank() == 4 && regions.rank() == 2 && regions.shape()[1] == 4, "regions of shape ",
               regions.shape(), " in an image of shape ", x.shape(),
               ". (count, 4) and four axes are required.");
    const int64_t height = call.integer("output_height", 1);
    const int64_t width = call.integer("output_width", 1);
    const int64_t asked = call.integer("sampling_ratio", 0);
    const double scale = call.number("spatial_scale", 1);
    const bool is_half_pixel =
        call.text("coordinate_transformation_mode",
                  call.opset() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
    // How many samples a bin has depends on the region, unless it is asked for.
    const std::vector<double> numbers = asked > 0 ? std::vector<double>() : call.known_numbers(1);
    std::vector<Tensor> results;
    for (int64_t i = 0; i < regions.shape()[0]; ++i) {
        const auto edge = [&](int64_t k) {
            return numpy::get_item(regions, {i, k}) * scale - (is_half_pixel ? 0.5 : 0.0);
        };
        const auto length = [&](int64_t from, int64_t to) {
            const Tensor whole = edge(to) - edge(from);
            return is_half_pixel ? whole : apply("maximum", {whole, 1.0});
        };
        const auto samples = [&](int64_t from, int64_t to, int64_t bins) {
            if (asked > 0) return asked;
            const double* region = numbers.data() + 4 * i;
            double whole = (region[to] - region[from]) * scale;
            if (!is_half_pixel) whole = std::max(whole, 1.0);
            return std::max<int64_t>(
                static_cast<int64_t>(std::ceil(whole / static_cast<double>(bins))), 1);
        };
        const auto places = [&](int64_t from, int64_t to, int64_t bins, int64_t count) {
            const Tensor steps = (numpy::astype(numpy::arange(bins * count), x.dtype()) + 0.5) /
                                 static_cast<double>(bins * count);
            return edge(from) + steps * length(from, to);
        };
        const int64_t rows = samples(1, 3, height), columns = samples(0, 2, width);
        const Tensor image =
            numpy::get_item(x, {numpy::get_item(numpy::astype(call.tensor(2), DType::int64), {i})});
        const std::array<Tensor, 4> corners =
            corner_values(image, places(1, 3, height, rows), places(0, 2, width, columns));
        const bool is_mean = mode == "avg";
        Tensor value = corners[0];
        for (size_t k = 1; k < 4; ++k)
            value = is_mean ? value + corners[k] : apply("maximum", {value, corners[k]});
        value = numpy::reshape(value, {x.shape()[1], height, rows, width, columns});
        results.push_back(is_mean ? numpy::mean(value, {2, 4}) : numpy::max(value, {2, 4}));
    }
    if (results.empty()) return {numpy::zeros({0, x.shape()[1], height, width}, x.dtype())};
    return {numpy::stack(results, 0)};
}

// Columns of an image at places that are moved from those of a convolution, then its product with
// the filters.
Values deformable_convolution(Call& call) {
    const Tensor &x = call.tensor(0), &filters = call.tensor(1), &offset = call.tensor(2);
    call.check<NotSupported>(x.rank() == 4, "an image of shape ", x.shape(),
                             ". Two spatial axes are required.");
    const Shape& f = filters.shape();
    const Windows windows = windows_of(call, x.shape(), {f[2], f[3]});
    const int64_t groups = call.integer("group", 1), parts = call.integer("offset_group", 1);
    const int64_t batch = x.shape()[0], channels = x.shape()[1];
    const int64_t height = x.shape()[2], width = x.shape()[3];
    const int64_t rows = windows.counts[0], columns = windows.counts[1], taps = f[2] * f[3];
    const Shape wanted{batch, parts * taps * 2, rows, columns};
    call.check(offset.shape() == wanted && channels % parts == 0 && f[1] * groups == channels,
               "offsets of shape ", offset.shape(), ". ", wanted, " is required.");
    // (batch, parts, taps, 2, rows, columns)
    const Tensor moves = numpy::reshape(offset, {batch, parts, f[2], f[3], 2, rows, columns});
    const auto base = [&](size_t axis, int64_t count, Shape taps_shape, Shape count_shape) {
        const Tensor steps = numpy::arange(count) * windows.strides[axis] - windows.low[axis];
        const Tensor within = numpy::arange(windows.kernel[axis]) * windows.dilations[axis];
        return numpy::astype(
            numpy::reshape(within, taps_shape) + numpy::reshape(steps, count_shape), x.dtype());
    };
    const auto move = [&](int64_t k) {
        return numpy::get_item(moves,
                               {numpy::Slice{}, numpy::Slice{}, numpy::Slice{}, numpy::Slice{}, k});
    };
    const Tensor y = move(0) + base(0, rows, {-1, 1, 1, 1}, {1, 1, -1, 1});
    const Tensor z = move(1) + base(1, columns, {1, -1, 1, 1}, {1, 1, 1, -1});
    const Tensor images = numpy::reshape(x, {batch, parts, channels / parts, height, width});
    const Tensor low_y = apply("floor", {y}), low_x = apply("floor", {z});
    const Tensor first_y = numpy::astype(low_y, DType::int64);
    const Tensor first_x = numpy::astype(low_x, DType::int64);
    const Corners corners =
        corners_of(first_y, first_y + 1, y - low_y, first_x, first_x + 1, z - low_x);
    const Tensor of_batch = numpy::reshape(numpy::arange(batch), {-1, 1, 1, 1, 1, 1});
    const Tensor of_part = numpy::reshape(numpy::arange(parts), {1, -1, 1, 1, 1, 1});
    Tensor sampled;
    for (size_t k = 0; k < 4; ++k) {
        const Tensor is_inside = (corners.y[k] >= 0) & (corners.y[k] < height) &
                                 (corners.x[k] >= 0) & (corners.x[k] < width);
        const Tensor at_y = numpy::clip(corners.y[k], 0, height - 1);
        const Tensor at_x = numpy::clip(corners.x[k], 0, width - 1);
        // Indices beside one another replace their axes: channels come last.
        const Tensor taken =
            numpy::get_item(numpy::moveaxis(images, 2, -1), {of_batch, of_part, at_y, at_x});
        const Tensor weight = apply("where", {is_inside, corners.weight[k], 0.0});
        const Tensor term = taken * numpy::expand_dims(weight, -1);
        sampled = sampled ? sampled + term : term;
    }
    if (call.has(4))
        sampled =
            sampled * numpy::reshape(call.tensor(4), {batch, parts, f[2], f[3], rows, columns, 1});
    // (batch, parts, channels of a part, taps, rows, columns) -> (batch, groups, in, taps, …)
    const Tensor ordered = numpy::transpose(sampled, std::vector<int64_t>{0, 1, 6, 2, 3, 4, 5});
    const Tensor grouped = numpy::reshape(ordered, {batch, groups, f[1] * taps, rows * columns});
    const Tensor matrices = numpy::reshape(filters, {groups, f[0] / groups, f[1] * taps});
    const Tensor result = numpy::matmul(matrices, grouped);
    return {with_channel_bias(numpy::reshape(result, {batch, f[0], rows, columns}),
                              call.tensor_if_given(3))};
}

}  // namespace
}  // namespace sampling

void add_sampling(Registry& registry) {
    using namespace sampling;
    registry.add("AffineGrid", affine_grid);
    registry.add("DeformConv", deformable_convolution);
    registry.add("GridSample", grid_sample);
    registry.add("RoiAlign", roi_align);
}

}  // namespace composit::onnx
