// Loops that go on while a condition holds.
//
//   // halved until it is small: the values of x are known
//   Tensors y = while_loop([&](const Tensors& s) { return max(s[0]) > 0.1; },
//                          [](const Tensors& s) { return Tensors{s[0] / 2}; }, {x});
#pragma once

#include "composit/functional/functional.h"

#include <functional>
#include <string>

namespace composit {

using LoopCondition = std::function<Tensor(const Tensors& state)>;  // a bool, 0-d
using LoopStep = std::function<Tensors(const Tensors& state)>;      // the next state

// The state after `step` was applied as long as `condition` holds of it, from `init` on.
//
// A loop that counts (the condition compares an integer of the state with a number that is known,
// the step adds a known number to it, and it ends within its dtype) is one loop of the graph, as
// fori_loop makes it. Any other is made iteration by iteration while the condition has a value.
// NotSupported: the condition depends on a placeholder, or holds after 16,384 iterations that were
// made one by one. TypeError unless the step returns tensors of the types that it takes.
[[nodiscard]] Tensors while_loop(const LoopCondition& condition, const LoopStep& step,
                                 const Tensors& init, const std::string& name = "while");

}  // namespace composit
