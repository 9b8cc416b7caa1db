// Maps that read some input across its memory: a transposed one. Tiles of it go through memory that
// a group of threads shares, so that both reading and writing go along memory.
#pragma once

#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/simt/kernel_text.h"

namespace composit::simt {

// Prints the map that way where it suits it; else does nothing and returns false. `nest`: its loops
// in the order of the first output's memory, with the inputs' accesses, then the outputs'.
bool print_in_tiles(KernelText& kernel, const ir::kernel::Map& map, const c_family::LoopNest& nest);

}  // namespace composit::simt
