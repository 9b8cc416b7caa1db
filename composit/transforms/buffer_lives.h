// When buffers of a program are in use.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <vector>

namespace composit::transforms {

// The first and the last step that touches a buffer; -1: none does.
struct BufferLife {
    int first = -1, last = -1;
    bool meets(const BufferLife& other) const { return first <= other.last && other.first <= last; }
};

// Steps are kernels in the order in which they run, those of a Repeat behind a step of its own, for
// its counter. What an iteration leaves to the next, and what comes from outside or is read there,
// lives as long as the Repeat.
struct BufferLives {
    std::vector<BufferLife> lives;  // of program.buffers
    int steps = 0;
};
BufferLives lives_of(const ir::kernel::Program& program);

}  // namespace composit::transforms
