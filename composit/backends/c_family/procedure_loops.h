// What compilers are told of loops.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::c_family {

// Whether a short loop of a known length is to stay a loop until it is vectorised: one of plain
// statements, whose iterations do not depend on one another, and which reads and writes elements
// that are neighbours. g++ unrolls it first, and then finds no vectors in most of them.
bool is_short_vector(const ir::procedure::Procedure& procedure,
                     const ir::procedure::Statement& loop);

}  // namespace composit::c_family
