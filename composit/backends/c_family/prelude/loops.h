// Loops of functions of numbers: nobody knows how many steps they take.
#pragma once

#include "composit/backends/c_family/prelude/asking.h"

#include <cstdint>

// Loops that this thread begins before it asks again. There may be one for each element of an
// array.
static thread_local int loops_before_question = 0;

// Whether a loop takes another step; it asks once in so many. False once the work is to end.
static inline bool loop_goes_on(int64_t step, int64_t steps_between) {
    if (step % steps_between != 0) return true;
    if (step == 0 && --loops_before_question > 0) return true;
    const bool goes_on = !module_goes_on || module_goes_on();
    loops_before_question = goes_on ? 64 : 0;
    return goes_on;
}
