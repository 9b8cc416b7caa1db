// What a back end is judged by: arrays of ordinary and special values, and a table of what its
// programs gave beside the interpreter's.
//
//   outcomes.push_back({"rows", "exp", {}, first_difference(expected, found)});
//   puts(verdict(outcomes, "mine").c_str());
#pragma once

#include "composit/ir/array.h"
#include "composit/ir/scalar/row.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace composit::reports {

using ir::Array;
using ir::DType;
using ir::Shape;

// The dtypes that programs are judged in.
[[nodiscard]] const std::vector<DType>& judged_dtypes();

// Drawn values of a dtype, behind special ones in the first half: zeros of both signs, infinities,
// NaN, the subnormal tiny / 4; the limits of integers.
[[nodiscard]] Array judged_values(DType dtype, const Shape& shape, int64_t seed = 0);
// Drawn values alone.
[[nodiscard]] Array finite_values(DType dtype, const Shape& shape);

// The dtype of an operand of a row that is judged in `dtype`: bool of where's condition, int32 of
// ldexp's exponents.
[[nodiscard]] DType judged_operand(const ir::scalar::Row& row, int operand, DType dtype);
// Whether a row takes such operands, and computes in judged dtypes.
[[nodiscard]] bool is_judged_in(const ir::scalar::Row& row, DType dtype);

// What one program gave.
struct Outcome {
    std::string group, name;
    std::vector<std::pair<std::string, std::string>> refused = {};  // kernels, and why
    std::string wrong = "", undefined = "";  // by the back end; by the interpreter: why not
};
// A line for each group: cases, how many are equal, refused, wrong and undefined; then what is
// wrong and undefined, and each reason of a refusal once.
[[nodiscard]] std::string verdict(const std::vector<Outcome>& outcomes, const std::string& backend);

}  // namespace composit::reports
