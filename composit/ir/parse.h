// Text (print.h) back to graphs.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace composit::ir {

// The most that a text may ask of whoever evaluates its graph: a short one can ask for anything.
// The body of a call counts once for each call, that of a loop once.
struct TextLimits {
    int64_t nodes = int64_t{1} << 24;
    int64_t bytes = int64_t{1} << 62;       // of all nodes' results together
    int64_t iterations = int64_t{1} << 62;  // of loops, those within loops multiplied
    int64_t depth = 200;                    // of bodies within bodies
};

// The outputs of the graph that `text` describes. `data` holds the arrays that the text names by
// data(…) (large_constants). Operations, rows and procedures must be registered. Any text is safe
// to parse, and what was parsed is safe to evaluate: what is wrong, and more than the limits, is a
// ValueError "parse: line 3, column 14: found …. … is required.". Operations that call functions
// which check nothing (Operation::is_unchecked) are refused.
std::vector<Tensor> parse(std::string_view text, const std::map<std::string, Array>& data = {},
                          const TextLimits& limits = {});

}  // namespace composit::ir
