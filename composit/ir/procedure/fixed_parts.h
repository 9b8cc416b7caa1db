// What a function computes of those of its operands that stay what they are, apart from the rest.
#pragma once

#include "composit/ir/scalar/row.h"

#include <vector>

namespace composit::ir::procedure {

// A call as `rest` of its operands and the values of `parts`, in this order, which are calls over
// the operands that stay. The bits are those of the call.
//   power(a, k) where a stays: parts are what log2(|a|) is, high and low, …
struct FixedParts {
    scalar::RowRef rest;
    std::vector<scalar::RowRef> parts;  // of all operands that stay; none: it is not worth it
};

// `stays` says of each operand whether it does; the call's own operands do not matter.
// It is not worth it where the function computes little of them, or loops. What is returned lives
// as long as the process.
const FixedParts& fixed_parts_of(const scalar::Expr& call, const std::vector<char>& stays);

}  // namespace composit::ir::procedure
