// Bytes as sums of shifted bits.
#include "composit/numpy/bits.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::numpy {
namespace {

// How far each of eight bits is shifted.
Tensor shifts(std::string_view function, std::string_view order) {
    user_check(order == "big" || order == "little", function, ": 'order' is '", order,
               "'. 'little' or 'big' is required.");
    if (order == "little") return array<uint8_t>({0, 1, 2, 3, 4, 5, 6, 7});
    return array<uint8_t>({7, 6, 5, 4, 3, 2, 1, 0});
}

// x with the axis last; flattened without one.
struct Along {
    Tensor x;
    int64_t axis;
};
Along along(std::string_view function, const Tensor& x, std::optional<int64_t> axis) {
    const bool is_number = x.rank() == 0 && axis && (*axis == 0 || *axis == -1);
    if (!axis || is_number) return {ravel(strong(x)), 0};
    const int64_t at = normalize_axis(function, *axis, x.rank());
    return {moveaxis(strong(x), at, -1), at};
}

// x with `count` elements along its last axis: the first, or zeros behind all.
Tensor resized(const Tensor& x, int64_t count) {
    const int last = x.rank() - 1;
    const int64_t length = x.shape().back();
    if (count <= length) return ops::part(x, last, 0, count);
    Shape shape = x.shape();
    shape.back() = count - length;
    return ops::concatenate({x, zeros(shape, x.dtype())}, last);
}

}  // namespace

Tensor packbits(const Tensor& x, std::optional<int64_t> axis, std::string_view order) {
    user_check<TypeError>(x.dtype() == DType::boolean || ir::is_integer(x.dtype()),
                          "packbits: Expected an input array of integer or boolean data type, not ",
                          x.dtype(), ".");
    const Tensor places = shifts("packbits", order);
    return errors_as("packbits", [&] {
        const auto [values, at] = along("packbits", x, axis);
        const int64_t bytes = (values.shape().back() + 7) / 8;
        const Tensor bits = ops::astype(ops::astype(values, DType::boolean), DType::uint8);
        Shape shape = values.shape();
        shape.back() = bytes;
        shape.push_back(8);
        const Tensor groups = reshape(resized(bits, 8 * bytes), shape);
        return moveaxis(sum(groups << places, -1, DType::uint8), -1, at);
    });
}

Tensor unpackbits(const Tensor& x, std::optional<int64_t> axis, std::optional<int64_t> count,
                  std::string_view order) {
    user_check<TypeError>(x.dtype() == DType::uint8,
                          "unpackbits: Expected an input array of "
                          "unsigned byte data type, not ",
                          x.dtype(), ".");
    const Tensor places = shifts("unpackbits", order);
    return errors_as("unpackbits", [&] {
        const auto [values, at] = along("unpackbits", x, axis);
        const Tensor bits = (expand_dims(values, -1) >> places) & 1;
        Shape shape = values.shape();
        shape.back() *= 8;
        const int64_t wanted = !count ? shape.back() : *count >= 0 ? *count : shape.back() + *count;
        user_check(wanted >= 0,
                   "unpackbits: -count larger than number of elements: ", count.value_or(0), " of ",
                   shape.back(), ".");
        return moveaxis(resized(reshape(bits, shape), wanted), -1, at);
    });
}

}  // namespace composit::numpy
