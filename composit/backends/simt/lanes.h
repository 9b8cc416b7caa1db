// How the 32 lanes of a reduction become one, by halving.
#pragma once

#include "composit/backends/simt/kernel_text.h"

namespace composit::simt {

// Combines the states of lanes 0 to 2 * first - 1 into that of lane 0: lane j with lane j + first,
// then half of that, … Lanes are threads of a group that lie `apart` one another: "" for
// neighbours, 32 of which are a warp; " * 32". `shared`: arrays of one element for each thread of
// the group, where the dialect needs them.
void print_halving(FunctionText& f, const Combining& c, const Combining::State& state,
                   const std::string& thread, const std::string& lane, const std::string& apart,
                   int64_t first, const Combining::State& shared);
// Whether `shared` is used.
bool needs_shared(const Dialect& dialect, const std::string& apart);

}  // namespace composit::simt
