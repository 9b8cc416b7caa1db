// Graphs of very many nodes are evaluated part by part.
//
// The passes that make a plan take tens of microseconds and some kilobytes for each node. A long
// graph mostly repeats itself: a plan of a part serves the parts behind it, too.
#pragma once

#include "composit/ir/array.h"
#include "composit/ir/node.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace composit::execute {

inline constexpr size_t most_nodes_of_plan = size_t{1} << 16, nodes_of_part = size_t{1} << 13;

using Evaluation = std::function<std::vector<ir::Array>(const std::vector<ir::Tensor>&)>;

// Values of the tensors, in order. `evaluate` is called for graphs of about `nodes_of_part` nodes,
// whose leaves are what the parts before gave. What several parts read is computed once and dropped
// behind the last of them; a tensor that repeats a smaller one is made anew in each part, so that
// no memory is filled with copies.
std::vector<ir::Array> evaluate_in_parts(const std::vector<ir::Tensor>& outputs,
                                         const Evaluation& evaluate);

}  // namespace composit::execute
