// What a place held when a graph was made, for who differentiates by the place.
#pragma once

#include "composit/eager/cell.h"

#include <string_view>
#include <vector>

namespace composit::eager {

class Versions {
  public:
    // Something else is about to be written into a cell: what it holds remembers where it was.
    static void note(const Cell& cell);

    // What the cell held when the outputs read it: what it holds now, unless they read it before it
    // was written. ValueError, in the name of `function`, where they read it more than once, with
    // writes between: it names their lines. Views are read as they are now.
    static Tensor read(const Cell& cell, const std::vector<Tensor>& outputs,
                       std::string_view function);
};

}  // namespace composit::eager
