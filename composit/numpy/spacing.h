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

// numpy.logspace: base ** linspace(start, stop, …), converted to dtype. base may have several
// elements: all three broadcast then, and the new axis goes between.
[[nodiscard]] Tensor logspace(const Operand& start, const Operand& stop, int64_t count = 50,
                              bool endpoint = true, const Operand& base = 10.0,
                              std::optional<DType> dtype = {}, int64_t axis = 0);
// numpy.geomspace: values in equal proportion from start to stop; the ends are exact. float64 or
// the result_type with it unless dtype is given. ValueError: "Geometric sequence cannot include
// zero". NaN within where the signs differ.
[[nodiscard]] Tensor geomspace(const Operand& start, const Operand& stop, int64_t count = 50,
                               bool endpoint = true, std::optional<DType> dtype = {},
                               int64_t axis = 0);

}  // namespace composit::numpy
