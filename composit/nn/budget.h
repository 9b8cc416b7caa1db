// Rematerialisation by a budget of memory: layers are computed again for gradients where it asks
// for that.
//
//   for (const TensorFunction& layer : layers) hidden = remat_when_needed(layer)({hidden})[0];
//   …
//   const execute::Compiled step = compile_within(512 << 20, training, {x, w});
#pragma once

#include "composit/execute/execute.h"
#include "composit/nn/remat.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace composit::nn {

// remat(function, name) where the compile_within that traces it on this thread chooses it; the
// function as it is everywhere else.
[[nodiscard]] TensorFunction remat_when_needed(TensorFunction function,
                                               std::string_view name = "remat");

// compile_function of the function for these examples, whose temporaries and results are planned to
// take at most `memory` bytes: arguments and constants, which the caller holds, are not counted.
//
// As few calls of layers made by remat_when_needed as that takes are computed again for the
// gradients, those that keep most first, the earliest of equal ones. The bits are those without.
// The function is traced several times. ValueError for negative memory and for no examples;
// OutOfMemory, with what is reached, where all of them are not enough.
[[nodiscard]] execute::Compiled compile_within(int64_t memory, const TensorFunction& function,
                                               const std::vector<Tensor>& examples,
                                               const execute::Options& options = {},
                                               const std::string& name = "f");

// Bytes of the temporaries and the results of a compiled function, as planned.
[[nodiscard]] int64_t planned_bytes(const execute::Compiled& compiled);

// Bytes of all that the body of a call of remat computes, of which x is a result; 0 for another
// tensor.
[[nodiscard]] int64_t bytes_within(const Tensor& x);

// ----- the search, for front doors that trace in their own way

// Numbers of calls, in the order in which they are made, that are computed again; none: all.
using Again = std::optional<std::set<int64_t>>;
// The planned memory of a choice, and what each recomputed call would keep if it were not.
struct Planned {
    int64_t bytes = 0;
    std::map<int64_t, int64_t> kept;
};

// Calls `compiled`, which compiles with a choice and returns what that is planned to take, with the
// first choice that takes at most `memory` bytes; `planned` plans without generating code. `calls`
// are the words for calls that can be computed again in the message of OutOfMemory.
void choose_within(int64_t memory, const std::function<Planned(const Again&)>& planned,
                   const std::function<int64_t(const Again&)>& compiled, std::string_view calls);

}  // namespace composit::nn
