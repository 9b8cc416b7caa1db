// Derivatives of procedures whose users say what they are.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The procedure with a derivative that is not derived. TypeError where an array that it returns has
// other extents than the argument whose gradient it is.
Procedure with_derivative(Procedure procedure, const Procedure& derivative);

// What `vjp`, `reverse`, `vjp_of`, `slope` and `jvp` are of a procedure that carries a derivative.
// NotSupported for `jvp` of a procedure with arrays: a vector-Jacobian product alone is known.
Procedure given_vjp(const Procedure& procedure);
Procedure given_vjp_of(const Procedure& procedure, size_t result, size_t parameter);
Procedure given_slope(const Procedure& procedure, size_t result, size_t parameter);
Procedure given_jvp(const Procedure& procedure);

}  // namespace composit::ir::procedure
