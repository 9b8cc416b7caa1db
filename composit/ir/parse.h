// Text (print.h) back to graphs.
#pragma once

#include "composit/ir/node.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace composit::ir {

// The outputs of the graph that `text` describes. `data` holds the arrays that the text names by
// data(…) (large_constants). Operations and rows must be registered. Any text is safe to parse:
// what is wrong is a ValueError "parse: line 3, column 14: found …. … is required.".
std::vector<Tensor> parse(std::string_view text, const std::map<std::string, Array>& data = {});

}  // namespace composit::ir
