// Values whose derivatives are not those of how they are computed, while derivatives are made.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// A value without a derivative.
Expr held(const Expr& x);
bool is_held(const Expr& x);
// The value, with the derivative of another one: the solution of a system, with that of
// x + a^-1 (b - a x), in which a^-1 and x are held.
Expr stand_in(const Expr& value, const Expr& other);

// Makes of both what they are, once a derivative has been made: its own derivative is that of how
// it is computed.
void with_values_alone(Procedure& procedure);

}  // namespace composit::ir::procedure
