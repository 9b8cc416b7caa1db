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

// Whether it is NumPy's usual rule, "same_kind". ValueError for what is no rule.
[[nodiscard]] bool is_same_kind(std::string_view casting);
// ValueError unless it is an order of elements: "C", "F", "A" or "K", in either case.
void check_order(std::string_view order);

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

// A result of `function` in the dtype of its output, where the rule allows it.
[[nodiscard]] Tensor cast_output(std::string_view function, const Tensor& result, DType to,
                                 std::string_view casting);
// TypeError unless what is in an output could be read in the result's dtype: functions that write
// out through a buffer ask that before, and then cast as they need to.
void check_buffer_cast(DType output, DType result);
// TypeError unless a difference of numbers of a dtype and of `target` can be written into `target`.
void check_difference_cast(DType dtype, DType target);

}  // namespace composit::numpy
