// Errors of values, found when something is made rather than when it is looked at.
#pragma once

#include "composit/execute/execute.h"
#include "composit/ir/node.h"

namespace composit::eager {

// Looks at what decides whether `tensor` is an error for the values that there are (indices,
// matrices to be decomposed; Operation::may_fail), and throws what its evaluation would throw, with
// the line of the operation behind it. Nothing that was checked, or looked at, is checked again.
// What depends on a placeholder is left as it is.
//
//     check_values(numpy::take(x, {numpy::argmax(y)}));  // IndexError, if y is longer than x
void check_values(const ir::Tensor& tensor, const execute::Options& options = {});

}  // namespace composit::eager
