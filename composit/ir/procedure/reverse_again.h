// Reverse mode of reverse mode, where the first keeps tapes, whose lengths no one knows before.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// Whether a procedure is the derivative in reverse of another and has arrays that grow.
bool keeps_tapes(const Procedure& procedure);

// `reverse` of such a procedure q(x, w) = J(x)^T w: what x and w receive of the gradient v of q,
// without a way back through the tapes. As <q, v> is <J v, w>, w receives J v, the tangent of the
// function, and x what reverse accumulation of that tangent gives it for w.
Procedure reverse_again(const Procedure& procedure);

// `reverse`, whose gradients are followed by the floating results, numbers as results and arrays
// as outputs. reverse.cpp
Procedure reverse_with_results(const Procedure& procedure);

}  // namespace composit::ir::procedure
