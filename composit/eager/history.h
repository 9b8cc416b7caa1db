// How much of what a program did is remembered behind its values.
//
// Behind a value that was looked at stands what it was made of, so that gradients find their way. A
// loop that runs on and on would never end remembering. So beyond a bound the oldest operations
// give way to `forgotten` leaves (ops/ops.h): their values, and of which tensors that somebody can
// still name they were made. A gradient with respect to one of those is an error; all others are
// exact. What nobody looked at is never given up.
#pragma once

#include <cstdint>

namespace composit::eager {

// Of nodes behind values of living cells; 100,000 at first. ValueError below 1.
void set_most_history_nodes(int64_t nodes);
int64_t most_history_nodes();
int64_t history_nodes();  // now; goes through all living graphs

// If there may be too many, as so many more nodes live than when this was last found out, gives up
// the oldest. Costs nothing mostly. It puts other nodes into cells: no other thread may use cells
// meanwhile, and references to what a cell holds end.
void shorten_history();

}  // namespace composit::eager
