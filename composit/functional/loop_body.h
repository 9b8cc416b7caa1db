// What fori_loop and scan have in common: bodies traced, and turned into loops.
#pragma once

#include "composit/functional/loops.h"
#include "composit/ir/body.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace composit {

// `init` with the dtypes that `f` gives to Python's scalars among it: f is traced for them, if
// there are any.
[[nodiscard]] Tensors settled(const LoopBody& f, const Tensors& init);

// What `f` makes of placeholders for a counter and the state: strong tensors, of the types of
// `init` as far as that goes; there may be more of them.
[[nodiscard]] ir::Body traced_body(const LoopBody& f, const Tensors& init, const std::string& name);

// TypeError unless `result` has the type of `init`: part `k` of what `words` says.
void check_part(std::string_view function, std::string_view words, size_t k, const Tensor& init,
                const Tensor& result);

// One loop: what the body captures, as far as neither counter nor state is on the way to it,
// becomes operands after those given.
[[nodiscard]] Tensors loop_of(ir::Body body, Tensors operands, int64_t lower, int64_t upper);

}  // namespace composit
