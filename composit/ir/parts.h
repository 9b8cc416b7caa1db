// A graph's nodes in the modules that made them, and what repeats among them: a model's layers
// become one layer and how often it comes.
//
//   parts_of({"", "a.0", "a.1"}, {0, 1, 1}, true)   // 0, then one part "a.0", twice
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace composit::ir {

// `count` runs of `length` positions each, one behind the other, from `start`; `items` is the first
// run: positions, and repeats within it.
struct Repeat {
    int64_t start = 0, length = 0, count = 0;
    std::vector<std::variant<int64_t, Repeat>> items = {};
};
using Folded = std::vector<std::variant<int64_t, Repeat>>;

// The positions of a sequence, of which equal elements have equal codes; runs of equal stretches
// (of at most 3000 positions) are folded where that leaves out at least `least` positions, or one
// in 400.
[[nodiscard]] Folded folded(const std::vector<int64_t>& codes, int64_t least = 4);

// A module of a traced model, by its name within the one around it; or, without a name, a stretch
// of nodes that repeats. `items` are positions of nodes, and parts, in order; `runs` the positions
// of all nodes within, then those of each equal part behind it, in the same order; `last` is the
// name of the last of these.
struct Part;
using PartItem = std::variant<int64_t, std::shared_ptr<Part>>;
struct Part {
    std::string name = {};
    std::vector<PartItem> items = {};
    std::vector<std::vector<int64_t>> runs = {};
    std::string last = {};
};

// Positions, in order, in the modules of these paths ("block.0.attention"). With `fold`, neighbours
// in a list of modules that hold equal nodes (equal codes) are one, and so are stretches of nodes
// that repeat.
[[nodiscard]] std::vector<PartItem> parts_of(const std::vector<std::string>& paths,
                                             const std::vector<int64_t>& codes, bool fold);

// Of each of the `count` positions in these items, the one that stands for it: its own, or that of
// the first of equal parts.
[[nodiscard]] std::vector<int64_t> drawn_for(const std::vector<PartItem>& items, size_t count);

// The module of each node of a topological order; that of a weight or a number is what the modules
// that use it have in common.
[[nodiscard]] std::vector<std::string> module_paths(const std::vector<const Node*>& order);

}  // namespace composit::ir
