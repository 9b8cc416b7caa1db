// Bytes as sums of shifted bits, and numbers as sums of shifted words.
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
#include <array>
#include <initializer_list>

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

// Unsigned integers of so many bytes.
DType word_of(int size) {
    constexpr std::array words = {DType::uint8, DType::uint16, DType::uint32, DType::uint64};
    size_t power = 0;
    while (1 << power < size) ++power;
    return words[power];
}

// The shape without its last axes, and others instead.
Shape ending(const Shape& shape, int dropped, std::initializer_list<int64_t> lengths) {
    Shape result(shape.begin(), shape.end() - dropped);
    result.insert(result.end(), lengths);
    return result;
}

// How far each word of a larger one is shifted.
Tensor word_shifts(DType large, DType small) {
    const int64_t step = 8 * ir::size_of(small);
    return arange(int64_t{0}, int64_t{8} * ir::size_of(large), step, large);
}

// Real elements along the last axis as those of another dtype, of any size.
Tensor recast(const Tensor& x, DType dtype) {
    const DType from = word_of(ir::size_of(x.dtype())), to = word_of(ir::size_of(dtype));
    if (from == to) return ops::bitcast(x, dtype);
    const Tensor words = ops::bitcast(x, from);
    const int64_t bytes = x.shape().back() * ir::size_of(from);
    const int64_t count = bytes / ir::size_of(to);
    if (ir::size_of(from) > ir::size_of(to)) {
        const Tensor pieces = ops::astype(expand_dims(words, -1) >> word_shifts(from, to), to);
        return ops::bitcast(reshape(pieces, ending(x.shape(), 1, {count})), dtype);
    }
    const int64_t each = ir::size_of(to) / ir::size_of(from);
    const Tensor groups = ops::astype(reshape(words, ending(x.shape(), 1, {count, each})), to);
    return ops::bitcast(sum(groups << word_shifts(to, from), -1, to), dtype);
}

// Complex elements as twice as many real ones along the last axis, and the way back.
Tensor parts_of(const Tensor& x) {
    const Tensor parts = stack({apply("real", {x}), apply("imag", {x})}, -1);
    return reshape(parts, ending(parts.shape(), 2, {2 * x.shape().back()}));
}
Tensor of_parts(const Tensor& x) {
    const int64_t count = x.shape().back() / 2;
    const Tensor pairs = reshape(x, ending(x.shape(), 1, {count, 2}));
    const auto part = [&](int64_t i) {
        return reshape(ops::part(pairs, x.rank(), i, 1), ending(x.shape(), 1, {count}));
    };
    return apply("as_complex", {part(0), part(1)});
}

}  // namespace

Tensor view(const Tensor& x, DType dtype) {
    const Tensor values = strong(x);
    const DType from = values.dtype();
    if (from == dtype) return values;
    const int64_t own = ir::size_of(from), size = ir::size_of(dtype);
    user_check(own == size || x.rank() > 0,
               "view: Changing the dtype of a 0d array is only supported if the itemsize is "
               "unchanged: ",
               from, " to ", dtype, ".");
    const Tensor line = x.rank() > 0 ? values : reshape(values, {1});
    const int64_t bytes = own * line.shape().back();
    user_check(bytes % size == 0,
               "view: When changing to a larger dtype, its size must be a divisor of the total "
               "size in bytes of the last axis of the array: ",
               size, " and ", bytes, ".");
    return errors_as("view", [&] {
        const Tensor parts = ir::is_complex(from) ? parts_of(line) : line;
        const Tensor elements = recast(parts, ir::real_part_of(dtype));
        const Tensor result = ir::is_complex(dtype) ? of_parts(elements) : elements;
        return x.rank() > 0 ? result : reshape(result, {});
    });
}

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
