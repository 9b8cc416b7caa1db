// Procedures of whose parameters one has a known value.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The procedure of the other parameters, whose last one, a float that is the extent of no array,
// has the value: what `grad` is of `vjp`. A derivative that was given, and one in reverse that is
// made of the procedure by way of a tangent (reverse_again.h), are restricted in the same way.
//
//   f_vjp(x, y, dy): return dy * y, dy * x   to   f_grad(x, y): return y, x
Procedure with_last_parameter(const Procedure& procedure, double value, const std::string& name);

}  // namespace composit::ir::procedure
