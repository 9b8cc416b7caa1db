// What compilers are told of loops.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::c_family {

// Whether a short loop of a known length is to stay a loop until it is vectorised: one of plain
// statements, whose iterations do not depend on one another, and which reads and writes elements
// that are neighbours. g++ unrolls it first, and then finds no vectors in most of them.
bool is_short_vector(const ir::procedure::Procedure& procedure,
                     const ir::procedure::Statement& loop);

// Whether a loop writes elements of local arrays, of which compilers do not know that they are
// nobody else's, as they do of outputs.
bool writes_local(const ir::procedure::Procedure& procedure,
                  const ir::procedure::Statement& loop);

// Whether the element that a statement reads or writes is the neighbour of the one before, in the
// iterations of a loop that counts up by one.
bool is_next(const ir::procedure::Statement& statement, int counter);

}  // namespace composit::c_family
