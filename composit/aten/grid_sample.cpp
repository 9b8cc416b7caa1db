// Neighbours of each place, weighted.
#include "composit/aten/grid_sample.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/rows.h"
#include "composit/base/error.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <array>
#include <functional>
#include <string>

namespace composit::aten {
namespace {

using Tensors = std::vector<Tensor>;

Tensor floor(const Tensor& x) { return numpy::apply("floor", {x}); }
Tensor rint(const Tensor& x) { return numpy::apply("rint", {x}); }

// From [-1, 1] to numbers of elements.
Tensor place_of(const Tensor& coordinate, int64_t size, bool align_corners) {
    if (align_corners) return (coordinate + 1) / 2 * (size - 1);
    return ((coordinate + 1) * size - 1) / 2;
}

Tensor reflected(const Tensor& place, int64_t size, bool align_corners) {
    const double low = align_corners ? 0 : -0.5,
                 high = static_cast<double>(size) - (align_corners ? 1 : 0.5), span = high - low;
    if (span == 0) return place * 0;
    const Tensor away = rows::abs(place - low), turns = floor(away / span);
    const Tensor rest = away - turns * span;
    const Tensor is_even = rows::equal(turns - 2 * floor(turns / 2), 0);
    return rows::where(is_even, rest, span - rest) + low;
}

Tensor padded(const Tensor& place, int64_t size, GridPadding padding, bool align_corners) {
    if (padding == GridPadding::zeros) return place;
    const Tensor inside =
        padding == GridPadding::reflection ? reflected(place, size, align_corners) : place;
    return numpy::clip(inside, 0, size - 1);
}

// The elements by whole places, zeros beyond them.
class Image {
  public:
    Image(const Tensor& x, int64_t length)
        : sizes(x.shape().begin() + 2, x.shape().end()),
          shape_{x.shape()[0], x.shape()[1], length},
          flat_(numpy::reshape(x, {x.shape()[0], x.shape()[1], ir::element_count(sizes)})) {}

    const ir::Shape sizes;

    // (batch, channels, length) of places (batch, length), one for each dimension.
    [[nodiscard]] Tensor at(const Tensors& places) const {
        Tensor number, is_inside;
        for (size_t d = 0; d < places.size(); ++d) {
            const Tensor is_here = (places[d] >= 0) & (places[d] <= sizes[d] - 1);
            const Tensor safe = rows::where(is_here, places[d], 0);
            is_inside = is_inside ? is_inside & is_here : is_here;
            number = number ? number * sizes[d] + safe : safe;
        }
        const Tensor chosen =
            numpy::broadcast_to(numpy::expand_dims(ops::astype(number, DType::int64), 1), shape_);
        const Tensor found = numpy::take_along_axis(flat_, chosen, 2);
        return rows::where(numpy::expand_dims(is_inside, 1), found, 0);
    }

  private:
    ir::Shape shape_;
    Tensor flat_;
};

Tensor linear(const Image& image, const Tensors& places) {
    Tensors lows;
    for (const Tensor& place : places) lows.push_back(floor(place));
    Tensor total;
    const size_t count = places.size();
    for (size_t corner = 0; corner < size_t{1} << count; ++corner) {
        Tensor weight;
        Tensors at;
        for (size_t d = 0; d < count; ++d) {
            const int64_t side = (corner >> (count - 1 - d)) & 1;
            const Tensor part = side != 0 ? places[d] - lows[d] : lows[d] + 1 - places[d];
            weight = weight ? weight * part : part;
            at.push_back(lows[d] + side);
        }
        const Tensor term = image.at(at) * numpy::expand_dims(weight, 1);
        total = total ? total + term : 0 + term;  // no -0
    }
    return total;
}

// The weights of four neighbours, of the place t behind the second (Keys, 1981; a = -3/4).
std::array<Tensor, 4> cubic_weights(const Tensor& t) {
    constexpr double a = -0.75;
    const auto near = [](const Tensor& x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    const auto far = [](const Tensor& x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

Tensor cubic(const Image& image, const Tensors& places,
             const std::function<Tensor(const Tensor&, size_t)>& pad) {
    const Tensor low_y = floor(places[0]), low_x = floor(places[1]);
    const auto weights_y = cubic_weights(places[0] - low_y),
               weights_x = cubic_weights(places[1] - low_x);
    Tensor total;
    for (int64_t y = 0; y < 4; ++y) {
        for (int64_t x = 0; x < 4; ++x) {
            const Tensors taps{rint(pad(low_y + y - 1, 0)), rint(pad(low_x + x - 1, 1))};
            const Tensor weight =
                weights_y[static_cast<size_t>(y)] * weights_x[static_cast<size_t>(x)];
            const Tensor term = image.at(taps) * numpy::expand_dims(weight, 1);
            total = total ? total + term : 0 + term;  // no -0
        }
    }
    return total;
}

// As Python prints a list.
std::string listed(const ir::Shape& shape) {
    std::string made;
    for (const int64_t length : shape) made += (made.empty() ? "" : ", ") + std::to_string(length);
    return "[" + made + "]";
}

void check_shapes(const Tensor& x, const Tensor& grid, GridMode mode) {
    const int64_t count = x.rank() - 2;
    user_check(
        (count == 2 || count == 3) && grid.rank() == x.rank() && grid.shape().back() == count,
        "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, ",
        "whose last one is ", count, ", but got input with sizes ", listed(x.shape()),
        " and grid with sizes ", listed(grid.shape()));
    user_check(grid.shape()[0] == x.shape()[0],
               "grid_sampler(): expected grid and input to have same batch size, but got input ",
               "with sizes ", listed(x.shape()), " and grid with sizes ", listed(grid.shape()));
    user_check(mode != GridMode::bicubic || count == 2,
               "grid_sampler(): bicubic interpolation only supports 4D input");
}

// Coordinates of the elements of an axis from -1 to 1: of their centres, or with the corners of the
// first and the last at the ends.
std::vector<double> line_of(int64_t length, bool align_corners) {
    if (length == 1) return {0.0};
    const auto count = static_cast<double>(length);
    std::vector<double> line(static_cast<size_t>(length));
    for (size_t i = 0; i < line.size(); ++i)
        line[i] = static_cast<double>(i) * (2.0 / (count - 1)) + -1.0;
    line.back() = 1.0;
    if (!align_corners)
        for (double& place : line) place = place * (count - 1) / count;
    return line;
}

}  // namespace

Tensor affine_grid(const Tensor& theta, const ir::Shape& size, bool align_corners) {
    const size_t count = size.size() < 2 ? 0 : size.size() - 2;
    const auto axes = static_cast<int64_t>(count);
    user_check((count == 2 || count == 3) && theta.rank() == 3 && theta.shape()[1] == axes &&
                   theta.shape()[2] == axes + 1,
               "affine_grid: theta has shape ", theta.shape(), " for a size of ", size,
               ". (batch, 2, 3) for an image, (batch, 3, 4) for a volume is required.");
    std::vector<std::vector<double>> lines;
    for (size_t d = 0; d < count; ++d) lines.push_back(line_of(size[d + 2], align_corners));
    const int64_t places = ir::element_count({size.begin() + 2, size.end()});
    std::vector<double> values;  // of each place the coordinates, the last axis first, and 1
    for (int64_t place = 0; place < places; ++place) {
        int64_t rest = place;
        for (size_t d = count; d-- > 0;) {
            values.push_back(lines[d][static_cast<size_t>(rest % size[d + 2])]);
            rest /= size[d + 2];
        }
        values.push_back(1);
    }
    const Tensor flat =
        ops::astype(numpy::array<double>(values, {places, axes + 1}), theta.dtype());
    ir::Shape shape = {theta.shape()[0]};
    shape.insert(shape.end(), size.begin() + 2, size.end());
    shape.push_back(axes);
    return numpy::reshape(numpy::matmul(flat, numpy::swapaxes(theta, 1, 2)), shape);
}

Tensor grid_sample(const Tensor& x, const Tensor& grid, GridMode mode, GridPadding padding,
                   bool align_corners) {
    check_shapes(x, grid, mode);
    const ir::Shape out(grid.shape().begin() + 1, grid.shape().end() - 1);
    const int64_t count = x.rank() - 2, length = ir::element_count(out);
    const Image image(x, length);
    const auto pad = [&](const Tensor& place, size_t d) {
        return padded(place, image.sizes[d], padding, align_corners);
    };
    Tensors places;
    for (size_t d = 0; d < image.sizes.size(); ++d) {
        const int64_t axis = count - 1 - static_cast<int64_t>(d);
        const Tensor coordinate = numpy::reshape(numpy::get_item(grid, {numpy::Ellipsis{}, axis}),
                                                 {grid.shape()[0], length});
        const Tensor place = place_of(coordinate, image.sizes[d], align_corners);
        places.push_back(mode == GridMode::bicubic ? place : pad(place, d));
    }
    Tensor made;
    if (mode == GridMode::bicubic) {
        made = cubic(image, places, pad);
    } else if (mode == GridMode::nearest) {
        Tensors whole;
        for (const Tensor& place : places) whole.push_back(rint(place));
        made = image.at(whole);
    } else {
        made = linear(image, places);
    }
    ir::Shape shape{x.shape()[0], x.shape()[1]};
    shape.insert(shape.end(), out.begin(), out.end());
    return numpy::reshape(made, shape);
}

}  // namespace composit::aten
