// Statistics of PyTorch's, as graphs.
#include "composit/aten/statistics.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/images.h"
#include "composit/aten/reductions.h"
#include "composit/aten/rows.h"
#include "composit/base/error.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"

namespace composit::aten {
namespace {

using Results = std::pair<Tensor, Tensor>;

Tensor picked_last(const Tensor& x, const Tensor& place) {
    return numpy::take_along_axis(x, place, -1);
}

// Elements, along the last axis, and their places as results along `dim`.
Results along(const Tensor& x, const Tensor& place, int64_t dim, bool keepdim) {
    const auto given_back = [&](const Tensor& y) {
        return keepdim ? numpy::moveaxis(y, -1, dim) : numpy::squeeze(y, -1);
    };
    return {given_back(picked_last(x, place)), given_back(place)};
}

}  // namespace

Results mode(const Tensor& given, int64_t dim, bool keepdim) {
    check_not_empty("mode", given, dim);
    const Tensor x = numpy::moveaxis(given, dim, -1);
    const Tensor same = rows::equal(numpy::expand_dims(x, -1), numpy::expand_dims(x, -2));
    const Tensor count = numpy::sum(ops::astype(same, DType::int64), -1);
    const Tensor is_most = rows::equal(count, numpy::max(count, -1, true));
    const Tensor order = numpy::argsort(x, -1);
    const Tensor first = numpy::expand_dims(numpy::argmax(picked_last(is_most, order), -1), -1);
    const Tensor value = picked_last(x, picked_last(order, first));
    const Tensor numbers = rows::where(rows::equal(x, value), numpy::arange(x.shape().back()), -1);
    return along(x, numpy::max(numbers, -1, true), dim, keepdim);
}

Results nanmedian(const Tensor& given, std::optional<int64_t> dim, bool keepdim) {
    const Tensor x = dim ? numpy::moveaxis(given, *dim, -1) : numpy::reshape(given, {-1});
    const Tensor order = numpy::argsort(x, -1);
    const Tensor is_number = ~numpy::apply("isnan", {x});
    const Tensor count = numpy::sum(ops::astype(is_number, DType::int64), -1, {}, true);
    const Tensor middle = numpy::apply("floor_divide", {rows::maximum(count - 1, 0), int64_t{2}});
    return along(x, picked_last(order, middle), dim.value_or(-1), dim && keepdim);
}

Tensor histc(const Tensor& given, int64_t bins, double min, double max) {
    check_floats(given, "histc");
    const Tensor x = numpy::reshape(given, {-1}), one = rows::one_of(x);
    Tensor low = numpy::full({}, min, x.dtype()), high = numpy::full({}, max, x.dtype());
    if (min == max && x.size() != 0) {
        low = numpy::min(x);
        high = numpy::max(x);
    }
    const Tensor is_empty = rows::equal(low, high);
    const Tensor first = rows::where(is_empty, low - one, low),
                 last = rows::where(is_empty, high + one, high);
    Tensor place = numpy::apply("floor", {(x - first) * bins / (last - first)});
    place = rows::minimum(place, bins - 1);  // the last one has both its edges
    place = rows::where((x >= first) & (x <= last), place, -one);
    const Tensor counts = rows::equal(numpy::expand_dims(place, 1), numpy::arange(bins, x.dtype()));
    return ops::astype(numpy::sum(counts, 0), x.dtype());
}

std::vector<Tensor> unravel_index(const Tensor& indices, const ir::Shape& shape) {
    std::vector<Tensor> found;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const ir::Shape behind(shape.begin() + static_cast<long>(axis) + 1, shape.end());
        const Tensor whole = numpy::apply("floor_divide", {indices, ir::element_count(behind)});
        found.push_back(whole % shape[axis]);
    }
    return found;
}

Tensor grouped_product(const Tensor& x, const Tensor& matrices, const Tensor& ends) {
    const int64_t count = x.shape()[0], groups = matrices.shape()[0];
    const Tensor group = numpy::searchsorted(ops::astype(ends, DType::int64), numpy::arange(count),
                                             numpy::Side::right);
    if (count <= groups) {  // fewer matrices than there are, each for its row
        const Tensor chosen = numpy::take(matrices, rows::minimum(group, groups - 1), 0);
        const Tensor product = numpy::squeeze(numpy::matmul(numpy::expand_dims(x, 1), chosen), 1);
        return rows::where(numpy::expand_dims(group < groups, 1), product, rows::zero_of(x));
    }
    Tensor result = numpy::zeros({count, matrices.shape()[2]}, x.dtype());
    for (int64_t i = 0; i < groups; ++i) {
        const Tensor product = numpy::matmul(x, numpy::get_item(matrices, {i}));
        result = rows::where(numpy::expand_dims(rows::equal(group, i), 1), product, result);
    }
    return result;
}

Tensor renorm(const Tensor& given, double p, int64_t dim, double maxnorm) {
    user_check<RuntimeError>(given.rank() > 1, "renorm: input needs at least 2 dimensions, got ",
                             given.rank(), " dimensions");
    const Tensor x = widened(given);
    const int64_t axis = numpy::normalize_axis("renorm", dim, x.rank());
    std::vector<int64_t> others;
    for (int64_t d = 0; d < x.rank(); ++d)
        if (d != axis) others.push_back(d);
    const Tensor norm = vector_norm(x, p, others, true);
    const Tensor made =
        x * rows::where(norm > maxnorm, maxnorm / (norm + 1e-7), rows::one_of(norm));
    return x.dtype() == given.dtype() ? made : ops::astype(made, given.dtype());
}

}  // namespace composit::aten
