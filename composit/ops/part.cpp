#include "composit/ops/part.h"

#include "composit/ops/ops.h"

namespace composit::ops {

Tensor part(const Tensor& x, int64_t axis, int64_t start, int64_t length) {
    Axes starts(x.shape().size(), 0), steps(x.shape().size(), 1);
    Shape lengths = x.shape();
    starts[static_cast<size_t>(axis)] = length ? start : 0;
    lengths[static_cast<size_t>(axis)] = length;
    return slice(x, starts, lengths, steps);
}

}  // namespace composit::ops
