// Shapes by composit::numpy's reshape and indexing.
#include "composit/aten/shapes.h"

#include "composit/aten/rows.h"
#include "composit/base/error.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace composit::aten {
namespace {

using numpy::Ellipsis;
using numpy::Index;
using numpy::NewAxis;
using numpy::Slice;
using Lengths = std::vector<int64_t>;

std::string list_text(const Lengths& values) { return "[" + join(values) + "]"; }

size_t place_of(const Tensor& x, int64_t dim) {
    return static_cast<size_t>(dimension_of(dim, x.rank()));
}

int64_t product_of(const Lengths& lengths) {
    return std::accumulate(lengths.begin(), lengths.end(), int64_t{1}, std::multiplies<>());
}

// The shape of so many elements, with the length that -1 stands for.
Shape resolved(const Shape& given, int64_t size) {
    const auto is_open = [](int64_t length) { return length == -1; };
    const auto open = std::find_if(given.begin(), given.end(), is_open);
    Shape shape = given;
    if (open != given.end()) {
        user_check<ValueError>(std::find_if(open + 1, given.end(), is_open) == given.end(),
                               "only one dimension can be inferred: shape '", list_text(given),
                               "' has several of -1.");
        const int64_t known = -product_of(given);
        if (known != 0) shape[static_cast<size_t>(open - given.begin())] = size / known;
    }
    const bool is_valid = std::all_of(shape.begin(), shape.end(), [](int64_t n) { return n >= 0; });
    user_check<ValueError>(is_valid && product_of(shape) == size, "shape '", list_text(given),
                           "' is invalid for input of size ", size);
    return shape;
}

// x's shape with some lengths in place of those of the dimensions from `first` to before `last`.
Shape with_lengths(const Tensor& x, size_t first, size_t last, const Shape& lengths) {
    Shape shape(x.shape().begin(), x.shape().begin() + static_cast<ptrdiff_t>(first));
    shape.insert(shape.end(), lengths.begin(), lengths.end());
    shape.insert(shape.end(), x.shape().begin() + static_cast<ptrdiff_t>(last), x.shape().end());
    return shape;
}

Tensor part_of(const Tensor& x, size_t dim, numpy::IndexEntry entry) {
    Index index(dim, Slice{});
    index.push_back(std::move(entry));
    return numpy::get_item(x, index);
}

std::vector<Tensor> parts_of(const Tensor& x, size_t dim, const Lengths& sizes) {
    std::vector<Tensor> parts;
    int64_t start = 0;
    for (const int64_t size : sizes) {
        parts.push_back(part_of(x, dim, Slice{start, start + size}));
        start += size;
    }
    return parts;
}

// The length of a dimension that is cut; a tensor without dimensions has none.
int64_t length_of(const Tensor& x, size_t dim, const char* function) {
    user_check<ValueError>(x.rank() > 0, function,
                           ": expected at least a 1-dimensional tensor, but got one of 0.");
    return x.shape()[dim];
}

using Widths = std::vector<std::pair<int64_t, int64_t>>;

// One pair for each dimension, in their order.
Widths widths_of(const Tensor& x, const Lengths& given) {
    user_check<ValueError>(
        given.size() % 2 == 0 && given.size() <= 2 * static_cast<size_t>(x.rank()),
        "pad: ", given.size(), " widths for a tensor of ", x.rank(),
        " dimensions. Two for each that is padded are required.");
    Widths widths(static_cast<size_t>(x.rank()));
    for (size_t i = 0; i < given.size(); i += 2)
        widths[widths.size() - 1 - i / 2] = {given[i], given[i + 1]};
    return widths;
}

// x without what negative widths take away.
Tensor cropped(const Tensor& x, const Widths& widths) {
    const auto crops = [](const auto& width) { return width.first < 0 || width.second < 0; };
    if (!std::any_of(widths.begin(), widths.end(), crops)) return x;
    Index index;
    for (size_t axis = 0; axis < widths.size(); ++axis)
        index.emplace_back(Slice{std::max<int64_t>(-widths[axis].first, 0),
                                 x.shape()[axis] - std::max<int64_t>(-widths[axis].second, 0)});
    return numpy::get_item(x, index);
}

Widths outside(Widths widths) {
    for (auto& [before, after] : widths) {
        before = std::max<int64_t>(before, 0);
        after = std::max<int64_t>(after, 0);
    }
    return widths;
}

void check_reflection(const Tensor& x, const Lengths& widths) {
    for (size_t i = 0; i + 1 < widths.size(); i += 2) {
        const size_t axis = x.shape().size() - 1 - i / 2;
        user_check<RuntimeError>(
            std::max(widths[i], widths[i + 1]) < x.shape()[axis], "Argument #", 4 + i,
            ": Padding size should be less than the corresponding input dimension, but got: "
            "padding (",
            widths[i], ", ", widths[i + 1], ") at dimension ", axis, " of input ",
            list_text(x.shape()));
    }
}

}  // namespace

int64_t dimension_of(int64_t dim, int64_t rank) {
    const int64_t count = std::max<int64_t>(rank, 1);
    user_check<IndexError>(-count <= dim && dim < count,
                           "Dimension out of range (expected to be in range of [", -count, ", ",
                           count - 1, "], but got ", dim, ")");
    return dim < 0 ? dim + count : dim;
}

Tensor reshape(const Tensor& x, const Shape& shape) {
    return numpy::reshape(x, resolved(shape, x.size()));
}

Tensor flatten(const Tensor& x, int64_t start_dim, int64_t end_dim) {
    if (x.rank() == 0) return numpy::reshape(x, {1});
    const size_t start = place_of(x, start_dim), end = place_of(x, end_dim);
    user_check<ValueError>(start <= end,
                           "flatten() has invalid args: start_dim cannot come after end_dim");
    const Shape& shape = x.shape();
    const Lengths middle(shape.begin() + static_cast<ptrdiff_t>(start),
                         shape.begin() + static_cast<ptrdiff_t>(end) + 1);
    return numpy::reshape(x, with_lengths(x, start, end + 1, {product_of(middle)}));
}

Tensor unflatten(const Tensor& x, int64_t dim, const Shape& sizes) {
    const size_t axis = place_of(x, dim);
    const int64_t length = length_of(x, axis, "unflatten");
    return numpy::reshape(x, with_lengths(x, axis, axis + 1, resolved(sizes, length)));
}

Tensor squeeze(const Tensor& x, const Axis& dim) {
    std::vector<bool> goes(x.shape().size(), dim.is_none());
    if (!dim.is_none())
        for (const int64_t each : dim.axes())
            if (const size_t axis = place_of(x, each); axis < goes.size()) goes[axis] = true;
    Shape shape;
    for (size_t axis = 0; axis < goes.size(); ++axis)
        if (!goes[axis] || x.shape()[axis] != 1) shape.push_back(x.shape()[axis]);
    return numpy::reshape(x, shape);
}

Tensor unsqueeze(const Tensor& x, int64_t dim) {
    const auto axis = static_cast<size_t>(dimension_of(dim, x.rank() + 1));
    return numpy::reshape(x, with_lengths(x, axis, axis, {1}));
}

Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) {
    const int64_t first = dimension_of(dim0, x.rank()), second = dimension_of(dim1, x.rank());
    return x.rank() == 0 ? x : numpy::swapaxes(x, first, second);
}

Tensor expand(const Tensor& x, const Shape& sizes) {
    const int64_t before = static_cast<int64_t>(sizes.size()) - x.rank();
    user_check<ValueError>(before >= 0, "expand: ", list_text(sizes),
                           " has fewer dimensions than the tensor, ", x.rank(), ".");
    Shape shape = sizes;
    for (auto axis = static_cast<size_t>(before); axis < shape.size(); ++axis)
        if (shape[axis] == -1) shape[axis] = x.shape()[axis - static_cast<size_t>(before)];
    return numpy::broadcast_to(x, shape);
}

Tensor sum_to_size(const Tensor& x, const Shape& size) {
    const Shape& shape = x.shape();
    bool fits = size.size() <= shape.size();
    const size_t ahead = fits ? shape.size() - size.size() : 0;
    Lengths over(ahead);
    std::iota(over.begin(), over.end(), 0);
    for (size_t i = 0; fits && i < size.size(); ++i) {
        const int64_t length = shape[ahead + i];
        fits = size[i] == 1 || size[i] == length;
        if (size[i] == 1 && length != 1) over.push_back(static_cast<int64_t>(ahead + i));
    }
    user_check<ValueError>(fits, "size {", list_text(shape), "} is not expandable to size {",
                           list_text(size),
                           "}: a size that broadcasts to the tensor's is required.");
    return over.empty() ? x : numpy::reshape(numpy::sum(x, over), size);
}

Tensor select(const Tensor& x, int64_t dim, const numpy::IndexEntry& index) {
    return part_of(x, place_of(x, dim), index);
}

Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
    const size_t axis = place_of(x, dim);
    const int64_t size = length_of(x, axis, "narrow"), first = start + (start < 0 ? size : 0);
    user_check<ValueError>(first >= 0 && length >= 0 && first + length <= size, "start (", first,
                           ") + length (", length, ") exceeds dimension size (", size, ").");
    return part_of(x, axis, Slice{first, first + length});
}

std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t dim) {
    const size_t axis = place_of(x, dim);
    const int64_t length = length_of(x, axis, "split");
    user_check<ValueError>(size > 0 || (size == 0 && length == 0),
                           "split expects split_size be non-negative, and 0 only of a dimension of "
                           "length 0, but got split_size=",
                           size, " of length ", length);
    Lengths sizes;
    for (int64_t start = 0; start < length; start += size)
        sizes.push_back(std::min(size, length - start));
    if (sizes.empty()) sizes.push_back(0);
    return parts_of(x, axis, sizes);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t dim) {
    const size_t axis = place_of(x, dim);
    const int64_t length = length_of(x, axis, "split_with_sizes");
    const bool are_lengths =
        std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n >= 0; });
    user_check<ValueError>(
        are_lengths && std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) == length,
        "split_with_sizes expects split_sizes to sum exactly to ", length,
        " (input tensor's size at dimension ", dim, "), but got split_sizes=", list_text(sizes));
    return parts_of(x, axis, sizes);
}

std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim) {
    user_check<RuntimeError>(chunks > 0,
                             "chunk expects `chunks` to be greater than 0, got: ", chunks);
    const int64_t length = length_of(x, place_of(x, dim), "chunk");
    return split(x, std::max<int64_t>((length + chunks - 1) / chunks, 1), dim);
}

std::vector<Tensor> tensor_split(const Tensor& x, int64_t sections, int64_t dim) {
    const size_t axis = place_of(x, dim);
    const int64_t length = length_of(x, axis, "tensor_split");
    user_check<RuntimeError>(
        sections > 0, "tensor_split: number of sections must be larger than 0, got ", sections);
    Lengths sizes(static_cast<size_t>(sections), length / sections);
    for (int64_t i = 0; i < length % sections; ++i) ++sizes[static_cast<size_t>(i)];
    return parts_of(x, axis, sizes);
}

std::vector<Tensor> tensor_split(const Tensor& x, const std::vector<int64_t>& indices,
                                 int64_t dim) {
    const size_t axis = place_of(x, dim);
    const int64_t length = length_of(x, axis, "tensor_split");
    std::vector<Tensor> parts;
    int64_t start = 0;
    for (const int64_t index : indices) {
        parts.push_back(part_of(x, axis, Slice{start, index}));
        start = index;
    }
    parts.push_back(part_of(x, axis, Slice{start, length}));
    return parts;
}

std::vector<Tensor> unbind(const Tensor& x, int64_t dim) {
    const size_t axis = place_of(x, dim);
    const int64_t length = length_of(x, axis, "unbind");
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < length; ++i) parts.push_back(part_of(x, axis, i));
    return parts;
}

Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts, const Axis& dims) {
    const size_t count = dims.is_none() ? 0 : dims.axes().size();
    user_check<RuntimeError>(shifts.size() == std::max<size_t>(count, 1),
                             "shifts and dimensions must align. shifts: ", shifts.size(),
                             ", dims:", count);
    return numpy::roll(x, shifts, count == 0 ? Axis() : dims);
}

Tensor tril(const Tensor& x, int64_t diagonal) {
    user_check<RuntimeError>(x.rank() >= 2, "tril: input tensor must have at least 2 dimensions");
    return numpy::tril(x, diagonal);
}

Tensor triu(const Tensor& x, int64_t diagonal) {
    user_check<RuntimeError>(x.rank() >= 2, "triu: input tensor must have at least 2 dimensions");
    return numpy::triu(x, diagonal);
}

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2) {
    const int64_t rank = x.rank() + 1;
    user_check<ValueError>(dimension_of(dim1, rank) != dimension_of(dim2, rank),
                           "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
    const int64_t length =
        length_of(x, x.shape().size() - 1, "diag_embed") + (offset < 0 ? -offset : offset);
    const Tensor eye = numpy::eye(length, length, offset, x.dtype());
    Widths widths(x.shape().size(), {0, 0});
    widths.back() = {std::max<int64_t>(-offset, 0), std::max<int64_t>(offset, 0)};
    const Tensor rows = numpy::pad(x, widths);
    return numpy::moveaxis(numpy::get_item(rows, {Ellipsis{}, Slice{}, NewAxis{}}) * eye, {-2, -1},
                           {dim1, dim2});
}

Tensor block_diag(const std::vector<Tensor>& parts) {
    std::vector<Tensor> rows;
    int64_t width = 0, start = 0;
    for (const Tensor& part : parts) {
        user_check<RuntimeError>(part.rank() <= 2,
                                 "block_diag: Input tensors must have 2 or fewer dimensions. Got "
                                 "one of shape ",
                                 part.shape());
        rows.push_back(numpy::atleast_2d(part));
        width += rows.back().shape()[1];
    }
    for (Tensor& row : rows) {
        const int64_t own = row.shape()[1];
        row = numpy::pad(row, {{0, 0}, {start, width - start - own}});
        start += own;
    }
    return numpy::concatenate(rows, 0);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing) {
    for (const Tensor& each : tensors)
        user_check<RuntimeError>(each.rank() <= 1,
                                 "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but "
                                 "got one of the shape ",
                                 each.shape());
    return numpy::meshgrid(tensors, indexing);
}

Tensor cartesian_prod(const std::vector<Tensor>& tensors) {
    if (tensors.size() == 1) return tensors[0];
    std::vector<Tensor> columns;
    for (const Tensor& grid : meshgrid(tensors)) columns.push_back(numpy::reshape(grid, {-1}));
    return numpy::stack(columns, 1);
}

Tensor pad(const Tensor& x, const std::vector<int64_t>& given, std::string_view mode,
           const numpy::Operand& value) {
    const Widths widths = widths_of(x, given), added = outside(widths);
    if (mode == "constant") return numpy::pad(cropped(x, widths), added, mode, value);
    // What is left after cropping goes round.
    if (mode == "circular") return numpy::pad(cropped(x, widths), added, "wrap", 0);
    user_check<ValueError>(mode == "reflect" || mode == "replicate", "pad: mode '", mode,
                           "' is not known. 'constant', 'reflect', 'replicate' or 'circular' is "
                           "required.");
    if (mode == "reflect") check_reflection(x, given);
    // Elements that are cropped are reflected before.
    Widths removed = widths;
    for (auto& [before, after] : removed) {
        before = std::min<int64_t>(before, 0);
        after = std::min<int64_t>(after, 0);
    }
    const Tensor wide = numpy::pad(x, added, mode == "reflect" ? "reflect" : "edge", 0);
    return cropped(wide, removed);
}

}  // namespace composit::aten
