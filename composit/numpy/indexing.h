// NumPy's indexing: x[index] and x[index] = value.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace composit::numpy {

// Python's slice(start, stop, step).
struct Slice {
    std::optional<int64_t> start = {}, stop = {}, step = {};
};
struct Ellipsis {};
struct NewAxis {};

// One entry of an index. A Tensor is an integer array, or a mask (bool); a 0-d integer tensor
// counts as an integer whose value may be unknown yet (a position in a cache).
using IndexEntry = std::variant<int64_t, Slice, Ellipsis, NewAxis, Tensor>;

// The tuple between the brackets: x[1, ..., ::2, None] is {1, Ellipsis{}, Slice{{}, {}, 2},
// NewAxis{}}.
using Index = std::vector<IndexEntry>;

// x[index]: views for integers, slices, Ellipsis and NewAxis; gathered elements for integer arrays
// and masks, whose common dimensions replace theirs where they are next to one another, and come
// first otherwise (NumPy's rule). A mask is turned into integers now, so it must not depend on a
// placeholder (NotSupported: its shape depends on values). IndexError, NumPy's words: "too many
// indices for array: array is 2-dimensional, but 3 were indexed", "index 5 is out of bounds for
// axis 0 with size 3" (integer arrays: at once for constants, else when evaluated), …
[[nodiscard]] Tensor get_item(const Tensor& x, const Index& index);

// x after x[index] = value: a new tensor. `value` is broadcast to x[index]'s shape and converted to
// x's dtype. Where an integer array names an element several times, the last value stays.
// ValueError, to the last character NumPy's: "could not broadcast input array from shape (3,) into
// shape (2,)".
[[nodiscard]] Tensor set_item(const Tensor& x, const Index& index, const Operand& value);

// x after numpy.add.at(x, index, value): elements named several times are added to several times,
// in order.
[[nodiscard]] Tensor add_at(const Tensor& x, const Index& index, const Operand& value);

// IndexError, NumPy's words, when constant integer indices are out of bounds for an axis; others
// are checked when they are evaluated.
void check_bounds(const Tensor& indices, int64_t axis, int64_t length);

// Indices of the elements that are not zero, one int64 tensor per axis; where(mask) of NumPy. The
// shape depends on values: evaluated now, refused (NotSupported) under placeholders.
[[nodiscard]] std::vector<Tensor> nonzero(const Tensor& x);

}  // namespace composit::numpy
