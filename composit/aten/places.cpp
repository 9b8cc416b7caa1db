// Gathers and scatters along an axis by indexing over a grid.
#include "composit/aten/places.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/rows.h"
#include "composit/aten/shapes.h"
#include "composit/base/error.h"
#include "composit/functional/folds.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>

namespace composit::aten {
namespace {

using ir::Array;
using numpy::Index;
using numpy::Slice;

size_t axis_of(const Tensor& x, int64_t dim) {
    return static_cast<size_t>(dimension_of(dim, x.rank()));
}

Tensor row_of(const Tensor& x) { return x && x.rank() == 0 ? numpy::reshape(x, {1}) : x; }

// The part of x that is as long as the shape along each axis but `dim`.
Tensor part_of(const Tensor& x, const ir::Shape& shape, std::optional<size_t> dim = {}) {
    Index index;
    for (size_t axis = 0; axis < shape.size(); ++axis)
        index.emplace_back(axis == dim ? Slice{} : Slice{0, shape[axis]});
    return numpy::get_item(x, index);
}

// Where each element of `index` lies: along `dim` as it says, along the other axes where it stands.
Index grid_of(const Tensor& index, int64_t dim) {
    const size_t along = axis_of(index, dim), rank = index.shape().size();
    Index grid;
    for (size_t axis = 0; axis < rank; ++axis) {
        ir::Shape shape(rank, 1);
        shape[axis] = index.shape()[axis];
        grid.emplace_back(
            axis == along ? index : numpy::reshape(numpy::arange(index.shape()[axis]), shape));
    }
    return grid;
}

// x[…, index, …] of whole slices.
Index slices_at(const Tensor& x, int64_t dim, const Tensor& index) {
    Index made(axis_of(x, dim), Slice{});
    made.emplace_back(index);
    return made;
}

// x after x[index] = f(x[index], value). A sum of a wider kind is refused by the fold.
Tensor combined(const char* function, const Tensor& x, const Index& index, const Tensor& value) {
    const bool is_sum =
        std::string_view(function) == "add" && ir::promote(value.dtype(), x.dtype()) == x.dtype();
    return is_sum ? numpy::add_at(x, index, value)
                  : folds::at(ir::scalar::row(function), x, index, {value});
}

// The function of NumPy's that a name of PyTorch's reductions stands for; none for other names.
const char* function_of(std::string_view reduce) {
    if (reduce == "sum" || reduce == "mean") return "add";
    if (reduce == "prod") return "multiply";
    return reduce == "amax" ? "maximum" : reduce == "amin" ? "minimum" : nullptr;
}

}  // namespace

Tensor counted_from_first(const Tensor& index, const Tensor& x, int64_t dim) {
    const auto axis = static_cast<size_t>(dimension_of(dim, x.rank()));
    if (!ir::is_signed_integer(index.dtype())) return index;
    const int64_t length = x.rank() == 0 ? 1 : x.shape()[axis];
    return rows::where(index < 0, cast(length, index.dtype()), index);
}

void check_index_rank(const Tensor& index, const Tensor& x, std::string_view name) {
    user_check<RuntimeError>(
        index.size() == 0 || std::max<int64_t>(index.rank(), 1) == std::max<int64_t>(x.rank(), 1),
        "Index tensor must have the same number of dimensions as ", name, " tensor");
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
    if (index.size() == 0) return numpy::zeros(index.shape(), x.dtype());
    if (x.rank() == 0) return numpy::broadcast_to(x, index.shape());
    if (index.rank() == 0) return numpy::reshape(numpy::take(x, index, dim), {});
    return numpy::take_along_axis(part_of(x, index.shape(), axis_of(x, dim)), index, dim);
}

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
    return x.rank() == 0 ? x : numpy::take(x, numpy::reshape(index, {-1}), dim);
}

Tensor take_along_dim(const Tensor& x, const Tensor& index, std::optional<int64_t> dim) {
    if (dim) return numpy::take_along_axis(x, index, *dim);
    return numpy::take(numpy::reshape(x, {-1}), numpy::reshape(index, {-1}));
}

Tensor scatter(const Tensor& given, int64_t dim, const Tensor& index_given, const Operand& source,
               std::string_view reduce) {
    const Tensor x = row_of(given), index = row_of(index_given), from = source;
    const Tensor values = from.type().weak ? numpy::full(index.shape(), from, x.dtype())
                                           : part_of(row_of(from), index.shape());
    const Index grid = grid_of(index, dim);
    const Tensor made = reduce.empty()
                            ? numpy::set_item(x, grid, values)
                            : combined(reduce == "add" ? "add" : "multiply", x, grid, values);
    return numpy::reshape(made, given.shape());
}

Tensor scatter_reduce(const Tensor& given, int64_t dim, const Tensor& index_given,
                      const Tensor& source, std::string_view reduce, bool include_self) {
    const char* const function = function_of(reduce);
    user_check<RuntimeError>(
        function, "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
    const Tensor index = row_of(index_given), values = part_of(row_of(source), index.shape());
    const Index grid = grid_of(index, dim);
    Tensor x = row_of(given);
    // Begun with what changes nothing: a greatest element is still that where it is met twice.
    if (!include_self)
        x = reduce[0] == 'a' ? numpy::set_item(x, grid, values)
                             : numpy::set_item(x, grid, reduce == "prod" ? 1 : 0);
    Tensor made = combined(function, x, grid, values);
    if (reduce == "mean") {
        const Tensor own = numpy::full(x.shape(), include_self ? 1 : 0, x.dtype());
        const Tensor count = rows::maximum(numpy::add_at(own, grid, 1), 1);
        made = numpy::apply(ir::is_inexact(x.dtype()) ? "divide" : "floor_divide", {made, count});
    }
    return numpy::reshape(made, given.shape());
}

Tensor index_add(const Tensor& given, int64_t dim, const Tensor& index, const Tensor& source,
                 const Operand& alpha) {
    const Tensor x = row_of(given);
    const Index places = slices_at(x, dim, given.rank() == 0 ? row_of(index) : index);
    const Tensor added = alpha ? source * alpha.tensor() : source;
    return numpy::reshape(combined("add", x, places, added), given.shape());
}

Tensor index_copy(const Tensor& given, int64_t dim, const Tensor& index, const Operand& source) {
    const Tensor x = row_of(given);
    const Index places = slices_at(x, dim, given.rank() == 0 ? row_of(index) : index);
    return numpy::reshape(numpy::set_item(x, places, source), given.shape());
}

Tensor index_reduce(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
    if (source.rank() == 0)
        return scatter_reduce(x, dim, numpy::reshape(index, {}), source, reduce, include_self);
    ir::Shape along(source.shape().size(), 1);
    along[axis_of(source, dim)] = -1;
    const Tensor wide = numpy::broadcast_to(numpy::reshape(index, along), source.shape());
    return scatter_reduce(x, dim, wide, source, reduce, include_self);
}

Tensor put(const Tensor& x, const Tensor& index, const Operand& source, bool accumulate) {
    const Tensor line = numpy::reshape(x, {-1});
    return numpy::reshape(accumulate ? combined("add", line, {index}, source)
                                     : numpy::set_item(line, {index}, source),
                          x.shape());
}

Tensor masked_scatter(const Tensor& given, const Tensor& mask, const Tensor& source) {
    user_check<RuntimeError>(
        mask.dtype() == DType::boolean,
        "masked_scatter_ only supports boolean masks, but got mask with dtype ", mask.dtype());
    const std::vector<Tensor> both = numpy::broadcast_arrays({given, mask});
    const Tensor &x = both[0], &wide = both[1];
    const Tensor count = numpy::cumsum(ops::astype(numpy::reshape(wide, {-1}), DType::int64)) - 1;
    const Tensor place = rows::maximum(numpy::reshape(count, x.shape()), 0);
    return rows::where(wide, numpy::take(numpy::reshape(source, {-1}), place, {}, "clip"), x);
}

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& given,
                      bool are_offsets, bool unsafe, std::optional<double> initial) {
    const bool is_mean = reduce == "mean", is_least = reduce == "min";
    const bool is_most = reduce == "max";
    user_check<RuntimeError>(is_mean || is_least || is_most || reduce == "sum" || reduce == "prod",
                             "segment_reduce: unsupported reduction ", reduce,
                             ". One of sum, mean, max, min and prod is required.");
    user_check<NotSupported>(given.rank() == 1, "segment_reduce: segments of shape ", given.shape(),
                             ". One dimension is built.");
    const auto from = [&](std::optional<int64_t> start, std::optional<int64_t> stop) {
        return numpy::get_item(given, {Slice{start, stop}});
    };
    const Tensor counts = are_offsets ? from(1, {}) - from({}, -1) : given;
    const int64_t length = data.shape()[0], segments = counts.size();
    if (!unsafe) {
        const Array lengths =
            numpy::concrete("segment_reduce", "lengths", ops::astype(counts, DType::int64));
        const std::span values(lengths.data_as<int64_t>(), static_cast<size_t>(segments));
        std::string shown;
        for (const int64_t n : values) shown += (shown.empty() ? "" : ", ") + std::to_string(n);
        const bool is_fit = std::ranges::all_of(values, [](int64_t n) { return n >= 0; }) &&
                            std::reduce(values.begin(), values.end()) == length;
        user_check<RuntimeError>(
            is_fit, "segment_reduce: lengths [", shown, "] for ", length,
            " rows. Lengths from 0 that add up to the number of rows are required.");
    }
    // Rows beside all segments go to one behind the last.
    const Tensor row = numpy::arange(length);
    const Tensor ends = are_offsets ? given : numpy::cumsum(given);
    Tensor places = numpy::searchsorted(ends, row, numpy::Side::right);
    if (are_offsets) places = rows::where(places < 1, segments, places - 1);
    ir::Shape column(data.shape().size(), 1), all = data.shape();
    column[0] = -1;
    all[0] = segments + 1;
    const double infinity = std::numeric_limits<double>::infinity();
    const double neutral = is_most ? -infinity : is_least ? infinity : reduce == "prod" ? 1 : 0;
    const Tensor wide = numpy::broadcast_to(numpy::reshape(places, column), data.shape());
    const Tensor found = numpy::get_item(
        scatter_reduce(numpy::full(all, initial.value_or(neutral), data.dtype()), 0, wide, data,
                       is_most    ? "amax"
                       : is_least ? "amin"
                       : is_mean  ? "sum"
                                  : reduce),
        {Slice{{}, -1}});
    if (!is_mean) return found;
    const Tensor many = numpy::reshape(counts, column);
    const Tensor mean = found / ops::astype(rows::maximum(many, 1), data.dtype());
    return rows::where(rows::equal(many, 0),
                       initial.value_or(std::numeric_limits<double>::quiet_NaN()), mean);
}

}  // namespace composit::aten
