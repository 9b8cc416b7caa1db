// Loops over tensors: a body that is traced once, and run again and again.
//
//   Tensor halved = fori_loop(0, 10, [](const Tensor&, const Tensor& x) { return x / 2; }, x);
#pragma once

#include "composit/functional/functional.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>

namespace composit {

// The next state, for the counter (int64, 0-d) and the state.
using LoopBody = std::function<Tensors(const Tensor& i, const Tensors& state)>;

// The state after `body` was applied for i = lower, …, upper - 1, one after the other; `init`
// itself when there is none. The body is traced with placeholders, once (twice where `init` holds
// Python's scalars, which take the dtype that the body gives them); what it captures is the same in
// all iterations, and what depends on neither counter nor state is computed once, before. TypeError
// unless the body returns tensors of the shapes and dtypes that it takes.
[[nodiscard]] Tensors fori_loop(int64_t lower, int64_t upper, const LoopBody& body,
                                const Tensors& init, const std::string& name = "loop");

// The same for a state of one tensor.
template <class F>
    requires std::invocable<const F&, const Tensor&, const Tensor&>
[[nodiscard]] Tensor fori_loop(int64_t lower, int64_t upper, const F& body, const Tensor& init) {
    return fori_loop(lower, upper, LoopBody([&](const Tensor& i, const Tensors& state) {
                         return Tensors{body(i, state[0])};
                     }),
                     Tensors{init})[0];
}

}  // namespace composit
