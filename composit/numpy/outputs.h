// Where results go: NumPy's out= and where=.
#pragma once

#include "composit/numpy/operand.h"

#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy {

// Whether broadcasting makes the first shape the second one.
[[nodiscard]] bool broadcasts_to(const Shape& shape, const Shape& wide);

// The result where `where` holds; elsewhere what `out` has, or zeros without one (NumPy leaves
// there what was in memory). `function` is named in errors of casting.
//
//   masked_by("add", x + y, x > 0, y)
[[nodiscard]] Tensor masked_by(std::string_view function, const Tensor& result,
                               const Operand& where, const Operand& out = {});

// What is written over an output of this shape: the result in `dtype`, which the rule must allow
// (casting.h), and broadcast where the function `widens`, as ufuncs do. ValueError, TypeError,
// NumPy's words.
struct OutputRules {
    std::string_view casting = "same_kind";
    bool widens = false;
};
[[nodiscard]] Tensor written_as(std::string_view function, const Tensor& result, const Shape& shape,
                                DType dtype, const OutputRules& rules = {});

// The row over the operands as a ufunc's dtype= and casting= ask for: computed in `dtype`, else in
// NumPy's loop for them, as far as the rule lets the operands be cast to it. A bool `dtype` says
// nothing where the result is bool.
//
//   apply_by("add", {x, y}, DType::float32, "unsafe")
[[nodiscard]] Tensor apply_by(std::string_view row, const std::vector<Operand>& operands,
                              std::optional<DType> dtype, std::string_view casting);

}  // namespace composit::numpy
