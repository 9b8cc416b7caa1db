// Sorting by composit::numpy's argsort, which is stable.
#include "composit/aten/sorting.h"

#include "composit/aten/rank.h"
#include "composit/aten/reductions.h"
#include "composit/aten/rows.h"
#include "composit/aten/shapes.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace composit::aten {
namespace {

using numpy::Slice;
using Results = std::pair<Tensor, Tensor>;

Tensor no_place() { return numpy::zeros({}, ir::DType::int64); }

int64_t length_of(const Tensor& x, int64_t dim) {
    return x.rank() == 0 ? 1 : x.shape()[static_cast<size_t>(dimension_of(dim, x.rank()))];
}

Results at_places(const Tensor& x, const Tensor& places, int64_t dim, bool keepdim) {
    const Tensor values = numpy::take_along_axis(x, places, dim);
    if (keepdim) return {values, places};
    return {numpy::squeeze(values, dim), numpy::squeeze(places, dim)};
}

}  // namespace

Tensor argsort(const Tensor& x, int64_t dim, bool descending) {
    if (x.rank() == 0) return no_place();
    if (!descending) return numpy::argsort(x, dim);
    const Tensor backwards = numpy::argsort(numpy::flip(x, dim), dim);
    return numpy::flip(length_of(x, dim) - 1 - backwards, dim);
}

Results sort(const Tensor& x, int64_t dim, bool descending) {
    if (x.rank() == 0) return {x, no_place()};
    const Tensor order = argsort(x, dim, descending);
    return {numpy::take_along_axis(x, order, dim), order};
}

Results topk(const Tensor& x, int64_t k, int64_t dim, bool largest) {
    user_check<ValueError>(0 <= k && k <= length_of(x, dim), "selected index k out of range");
    if (x.rank() == 0) return {x, no_place()};
    const Tensor order = select(argsort(x, dim, largest), dim, Slice{0, k});
    return {numpy::take_along_axis(x, order, dim), order};
}

Results kthvalue(const Tensor& x, int64_t k, int64_t dim, bool keepdim) {
    user_check<ValueError>(1 <= k && k <= length_of(x, dim), "kthvalue(): selected number k, ", k,
                           ", out of range for dimension ", dim);
    if (x.rank() == 0) return {x, no_place()};
    return at_places(x, select(argsort(x, dim), dim, Slice{k - 1, k}), dim, keepdim);
}

Results median(const Tensor& given, std::optional<int64_t> along, bool keepdim) {
    if (given.rank() == 0) return {given, no_place()};
    if (!along && given.size() == 0) {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        return {ops::astype(numpy::full({}, nan, ir::DType::float64), given.dtype()), no_place()};
    }
    const Tensor x = along ? given : numpy::reshape(given, {-1});
    const int64_t dim = along.value_or(0);
    const int64_t k = (length_of(x, dim) + 1) / 2;
    check_not_empty("median", x, dim);
    if (!ir::is_floating(x.dtype())) return kthvalue(x, k, dim, keepdim);
    const Tensor is_nan = numpy::apply("isnan", {x});
    const Tensor middle = select(numpy::argsort(x, dim), dim, Slice{k - 1, k});
    const Tensor first = numpy::expand_dims(numpy::argmax(is_nan, dim), dim);
    const Tensor place = rows::where(numpy::any(is_nan, dim, true), first, middle);
    return at_places(x, place, dim, keepdim);
}

namespace {

void check_rows(const Tensor& sorted, const Tensor& values, const Tensor& sorter) {
    user_check<RuntimeError>(
        sorted.rank() > 0,
        "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
        "dimension");
    user_check<RuntimeError>(
        values.rank() > 0 || sorted.rank() == 1,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension "
        "is 1, but we got boundaries tensor dim(",
        sorted.rank(), ") and input value's dim(0) numel(1)");
    const ir::Shape &rows = sorted.shape(), &others = values.shape();
    user_check<RuntimeError>(
        rows.size() == 1 || (rows.size() == others.size() &&
                             std::equal(rows.begin(), rows.end() - 1, others.begin())),
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
        "of boundaries tensor and input value tensor must match, but we got boundaries tensor ",
        sizes_of(sorted), " and input value tensor ", sizes_of(values));
    if (!sorter) return;
    user_check<RuntimeError>(sorter.shape() == rows,
                             "torch.searchsorted(): boundary and sorter must have the same size, "
                             "but got boundary tensor ",
                             sizes_of(sorted), "and got sorter tensor ", sizes_of(sorter));
    user_check<RuntimeError>(
        sorter.dtype() == ir::DType::int64,
        "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
        ir::scalar_type_name(sorter.dtype()));
}

}  // namespace

Tensor searchsorted(const Tensor& given, const Tensor& values, bool right, const Tensor& sorter) {
    check_rows(given, values, sorter);
    const Tensor sorted = sorter ? numpy::take_along_axis(given, sorter, -1) : given;
    if (sorted.rank() == 1)
        return numpy::searchsorted(sorted, values, right ? numpy::Side::right : numpy::Side::left);
    // The elements before it are counted. None is above NaN.
    const Tensor element = numpy::expand_dims(sorted, -2), value = numpy::expand_dims(values, -1);
    const Tensor is_behind = right ? element > value : element >= value;
    return numpy::sum(ops::astype(~is_behind, ir::DType::int64), -1);
}

Runs unique_consecutive(const Tensor& given, std::optional<int64_t> dim) {
    const Tensor x = dim ? numpy::moveaxis(given, *dim, 0) : numpy::reshape(given, {-1});
    const int64_t length = x.shape()[0];
    const auto neighbours = [&](int64_t first, int64_t end) {
        return numpy::reshape(numpy::get_item(x, {Slice{first, end}}),
                              {length - 1, x.size() / length});
    };
    Tensor begins = numpy::ones({length}, ir::DType::boolean);
    if (length > 1) {
        const Tensor differs =
            numpy::any(rows::not_equal(neighbours(1, length), neighbours(0, length - 1)), 1);
        begins = numpy::concatenate({numpy::ones({1}, ir::DType::boolean), differs});
    }
    const Tensor starts = numpy::nonzero(begins)[0];
    const Tensor values = numpy::take(x, starts, 0), inverse = numpy::cumsum(begins) - 1;
    const Tensor ends = numpy::append(starts, numpy::array<int64_t>({length}));
    return {dim ? numpy::moveaxis(values, 0, *dim) : values,
            dim ? inverse : numpy::reshape(inverse, given.shape()), numpy::diff(ends)};
}

}  // namespace composit::aten
