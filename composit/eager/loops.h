// Rows of the scalar table computed for single numbers, with the bits that kernels compute.
#pragma once

#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace composit::eager {

// The row for operands of the signature's dtypes. Nothing where one of the `reported` kinds of
// errors (ir::ErrorHandling) was met, which a plan is to find and report, and for rows with loops.
std::optional<ir::scalar::Bits> computed(const ir::scalar::Specialisation& function,
                                         const std::vector<ir::scalar::Bits>& operands,
                                         uint8_t reported);

// A real number of at most 64 bits. A weak one is Python's: it promotes by its kind only (NEP 50).
struct Scalar {
    ir::DType dtype = ir::DType::float64;
    bool is_weak = false;
    uint64_t bits = 0;
};
// The same for one or two operands of any dtypes, one of them not weak, by a row of the table.
// Nothing also where the row has no loop for them, or a Python integer may be too large for it.
std::optional<Scalar> computed(const ir::scalar::RowRef& row, std::span<const Scalar> operands,
                               uint8_t reported);

// The same where it is one operation of the processor's.
std::optional<Scalar> computed_quickly(const ir::scalar::RowRef& row,
                                       std::span<const Scalar> operands, uint8_t reported);

}  // namespace composit::eager
