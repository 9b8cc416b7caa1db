// Sequences between tensors, which may have several elements and depend on anything.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>

namespace composit::numpy {

// numpy.linspace of tensors, which broadcast: `count` steps from start to stop (included if
// endpoint) along a new axis. dtype: the inexact result_type of both; integers by floor.
// ValueError: count is negative. One node.
//
//   spaced(min(x), max(x), 11)
[[nodiscard]] Tensor spaced(const Operand& start, const Operand& stop, int64_t count,
                            bool endpoint = true, std::optional<DType> dtype = {},
                            int64_t axis = 0);

}  // namespace composit::numpy
