// NumPy's rules of casting: which conversions a function may make of its operands and its result.
//
// Rules are "no", "equiv", "safe", "same_kind" and "unsafe" (can_cast in variants.h). ValueError
// for another one. A TypeError has NumPy's words.
#pragma once

#include "composit/numpy/operand.h"

#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy {

// TypeError unless the rule lets operand number `input` of a function, of dtype `from`, be computed
// in `to`. Bools are the loops of logical functions, which take every dtype.
void check_input_cast(std::string_view function, size_t input, DType from, DType to,
                      std::string_view casting);

// The operands of a function in `dtype`, else in their common one, as far as the rule allows it.
[[nodiscard]] std::vector<Tensor> cast_inputs(std::string_view function,
                                              const std::vector<Tensor>& operands,
                                              std::optional<DType> dtype,
                                              std::string_view casting = "same_kind");

// The same for parts of what `function` joins.
[[nodiscard]] std::vector<Tensor> cast_parts(std::string_view function,
                                             const std::vector<Tensor>& parts,
                                             std::optional<DType> dtype,
                                             std::string_view casting = "same_kind");

}  // namespace composit::numpy
