// Bits: eight truth values in a byte, and back.
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

}  // namespace composit::numpy
