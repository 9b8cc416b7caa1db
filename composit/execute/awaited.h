// An executable that is compiled on a thread of its own. Until it is there another one answers
// calls: that of the interpreter, to the same bits.
#pragma once

#include "composit/runtime/backend.h"

#include <functional>
#include <memory>

namespace composit::execute {

using ExecutableRef = std::shared_ptr<runtime::Executable>;

// `compile` runs once, at once, on that thread; warnings that it gives are handed on by the next
// call. Where it throws runtime::Unavailable (there is no compiler) the next call warns of it, and
// `meanwhile` answers for good; anything else that it throws, each later call throws. What asks for
// more than a run (source, build_command, the seconds of kernels) waits until it is there. A
// process that was forked meanwhile, and one that can make no more threads, compile when they are
// called.
[[nodiscard]] ExecutableRef compiled_meanwhile(std::function<ExecutableRef()> compile,
                                               ExecutableRef meanwhile);

}  // namespace composit::execute
