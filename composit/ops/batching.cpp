// Leading axes.
#include "composit/ops/batching.h"

namespace composit::ops {

Axes prefixed(int64_t first, const Axes& values) {
    Axes result{first};
    result.insert(result.end(), values.begin(), values.end());
    return result;
}

Axes moved_right(const Axes& axes) {
    Axes result = axes;
    for (int64_t& axis : result) ++axis;
    return result;
}

Tensor with_batch(const Tensor& x, bool is_batched, int64_t batch_size) {
    return is_batched ? x : broadcast_to(x, prefixed(batch_size, x.shape()));
}

Tensor with_rank(const Tensor& x, int rank) {
    const int missing = rank - (x.rank() - 1);
    if (missing <= 0) return x;
    Shape shape = x.shape();
    shape.insert(shape.begin() + 1, static_cast<size_t>(missing), 1);
    return reshape(x, shape);
}

Tensor axis_to_front(const Tensor& x, int64_t axis) {
    if (axis == 0) return x;
    Axes order{axis};
    for (int64_t d = 0; d < x.rank(); ++d)
        if (d != axis) order.push_back(d);
    return transpose(x, order);
}

}  // namespace composit::ops
