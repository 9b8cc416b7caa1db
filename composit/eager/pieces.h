// Long programs that nobody looks at are computed in pieces.
//
// A loop may run for thousands of steps before somebody looks at what it made. One plan for all of
// its nodes would cost tens of microseconds a node; the nodes of so many steps, computed while the
// loop runs, are one plan for all pieces, as these have one structure. The graph is what it was.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>

namespace composit::eager {

// Nodes since somebody last looked, after which a piece is due.
inline constexpr uint64_t nodes_of_piece = 1024;
// Of any node of a piece. What makes larger arrays spends its time on elements, and holds memory
// that may never be asked for.
inline constexpr int64_t most_elements_in_piece = 16384;

// Whether a piece of this thread's program ends with the tensor that was just made: nodes enough
// were made since a look, and it comes from the line where the piece before ended, so that pieces
// of a loop hold whole steps. False within functions that are traced or differentiated.
bool is_piece_due(const ir::Tensor& made);

// Computes and keeps what living cells hold, as `settle` does, if there is no large array among
// what that takes. Errors are left to who looks.
void compute_piece();

// Somebody looked: the next piece begins here.
void begin_piece();

}  // namespace composit::eager
