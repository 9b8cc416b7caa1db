// How much a kernel does: whether threads are worth waking for it, and how long it may run before
// an interruption is looked for.
#pragma once

#include "composit/ir/kernel/kernel.h"

namespace composit::cpp {

// Operations and bytes.
double work_of(const ir::kernel::Kernel& kernel, const ir::kernel::Program& program);

// About what a thread does before Ctrl-C is looked for: tens of milliseconds. A part of a
// contraction packs its operands anew, so its parts are larger.
double most_work(const ir::kernel::Kernel& kernel);

// About what one core takes for arrays in its cache, in nanoseconds. Only where work is cut
// depends on it, never what comes out.
double nanoseconds_of(const ir::kernel::Kernel& kernel, const ir::kernel::Program& program);

}  // namespace composit::cpp
