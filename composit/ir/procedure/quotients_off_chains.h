// Quotients that gradients pass on from one iteration to the next.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same derivative, in which a gradient that goes from iteration to iteration is multiplied with
// a quotient that does not depend on it, where it was divided: an iteration need not wait for a
// division of what the one before found. Roundings differ, so this is part of the derivative, not
// of its text.
//   for k: g = h[k] + (g - q[k] * g) / b[k]  to
//   for k: g = h[k] + scaled_quotient(g, 1 - q[k], b[k]), which is g * ((1 - q[k]) / b[k])
Procedure with_quotients_off_chains(Procedure procedure);

}  // namespace composit::ir::procedure
