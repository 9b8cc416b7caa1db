// Masks with 0 at the places that sorting finds.
#include "composit/aten/pruning.h"

#include "composit/aten/shapes.h"
#include "composit/aten/sorting.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

namespace composit::aten {
namespace {

// x with 0 at the places of the least scores.
Tensor without_least(const Tensor& x, const Tensor& scores, int64_t count) {
    const Tensor places = topk(scores, count, 0, false).second;
    return numpy::set_item(x, {places}, numpy::zeros({}, x.dtype()));
}

}  // namespace

Tensor prune_elements(const Tensor& mask, const Tensor& scores, int64_t count) {
    const Tensor row = numpy::reshape(mask, {-1});
    return numpy::reshape(without_least(row, numpy::reshape(scores, {-1}), count), mask.shape());
}

Tensor prune_channels(const Tensor& mask, const Tensor& scores, int64_t count, int64_t dim) {
    const auto axis = static_cast<size_t>(dimension_of(dim, mask.rank()));
    const Tensor kept =
        without_least(numpy::ones({mask.shape()[axis]}, mask.dtype()), scores, count);
    ir::Shape shape(mask.shape().size(), 1);
    shape[axis] = mask.shape()[axis];
    return mask * numpy::reshape(kept, shape);
}

}  // namespace composit::aten
