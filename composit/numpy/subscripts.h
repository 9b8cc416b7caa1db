// What einsum's subscripts say before anything is computed.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::numpy {

// Whether "ii->i" or "ij->ji" only selects: every letter is in the result, once, so that nothing is
// summed or multiplied and the result can be a view.
[[nodiscard]] bool only_selects(std::string_view subscripts);
// The order of axes of such subscripts where they name no letter twice, "ij->ji" (1, 0); nothing
// for diagonals.
[[nodiscard]] std::optional<std::vector<int64_t>> order_of_axes(std::string_view subscripts,
                                                                int rank);

// Axes by numbers as text, in einsum's other form: "ij,jk->ik" of {{0, 1}, {1, 2}} and {0, 2}. An
// ellipsis is no number. ValueError beyond 0 to 25.
using NumberedAxes = std::vector<std::optional<int64_t>>;
[[nodiscard]] std::string lettered(const std::vector<NumberedAxes>& operands,
                                   const std::optional<NumberedAxes>& result = {});

// The operands in the dtype that they and an output have in common. TypeError where the output
// cannot hold that safely.
[[nodiscard]] std::vector<Tensor> promoted_with_output(std::string_view function,
                                                       const std::vector<Tensor>& operands,
                                                       DType output);

}  // namespace composit::numpy
