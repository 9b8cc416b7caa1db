// Bits: eight truth values in a byte and back, and the bits of numbers as other numbers.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::numpy {

// numpy.packbits: whether eight elements along an axis (None: of the flattened x) are not zero, as
// the bits of one uint8; zeros fill the last. Order "big": the first is the highest bit, "little":
// the lowest. TypeError: neither integers nor bool. AxisError. ValueError: another order.
[[nodiscard]] Tensor packbits(const Tensor& x, std::optional<int64_t> axis = {},
                              std::string_view order = "big");
// numpy.unpackbits: the bits of uint8 along an axis, as uint8; `count` of them, with zeros behind
// all, or all but the last -count. TypeError: another dtype. ValueError: fewer than -count.
[[nodiscard]] Tensor unpackbits(const Tensor& x, std::optional<int64_t> axis = {},
                                std::optional<int64_t> count = {}, std::string_view order = "big");

// numpy.ndarray.view: the bits of x as another dtype, lowest byte first. Where sizes differ the
// last axis grows or shrinks. A byte of bool that is neither 0 nor 1 is True. The gradient passes
// between a complex dtype and its parts' only. ValueError, NumPy's words: no axis, or one whose
// bytes the dtype does not divide, where sizes differ.
//
//   view(array<float>({1}), DType::uint32) is {0x3f800000}
[[nodiscard]] Tensor view(const Tensor& x, DType dtype);

}  // namespace composit::numpy
