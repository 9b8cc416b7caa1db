// A call of modules as a picture for people: its nodes, in clusters of the modules' calls that they
// are in.
//
//   const ir::Picture picture = picture_of(nodes, {"Layer", "Norm"});
#pragma once

#include "composit/ir/picture.h"

#include <cstddef>
#include <string>
#include <vector>

namespace composit::cg {

// A node of the graph that a call made.
struct PictureNode {
    enum class Kind { variable, parameter, constant, operation };
    Kind kind = Kind::operation;
    std::string name;   // of an operation its class, of others ""  for none
    std::string value;  // in a few words
    bool is_result = false;
    std::vector<size_t> calls = {};     // around it, from the outermost on: places in `modules`
    std::vector<size_t> children = {};  // what it is computed from: places among the nodes
};

// Boxes of operations, ellipses of what is given, and arrows. What is given is outside, parameters
// and constants in the innermost call around all their uses. `modules`: the name for each call.
[[nodiscard]] ir::Picture picture_of(const std::vector<PictureNode>& nodes,
                                     const std::vector<std::string>& modules);

}  // namespace composit::cg
