// The flags that the processor sets where floating-point arithmetic goes wrong: each thread has its
// own.
#pragma once

#include <cfenv>
#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace composit::runtime {

// Bits of <cfenv>: FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW.
using FloatingFlags = unsigned;
constexpr FloatingFlags all_floating_flags = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;

// What was raised on this thread since the flags were last taken, which are cleared. Nothing of
// ours runs on the x87 unit, whose flags are slow to reach.
inline FloatingFlags take_floating_flags() {
#if defined(__SSE2__)
    const unsigned status = _mm_getcsr();
    if ((status & _MM_EXCEPT_MASK) != 0) _mm_setcsr(status & ~unsigned{_MM_EXCEPT_MASK});
    return status & all_floating_flags;  // the bits of both are the same
#else
    const auto raised = static_cast<FloatingFlags>(std::fetestexcept(FE_ALL_EXCEPT));
    if (raised != 0) std::feclearexcept(FE_ALL_EXCEPT);
    return raised & all_floating_flags;
#endif
}

// Sets flags on this thread, as if its own arithmetic had.
inline void raise_floating_flags(FloatingFlags flags) {
#if defined(__SSE2__)
    if (flags != 0) _mm_setcsr(_mm_getcsr() | flags);
#else
    if (flags != 0) std::feraiseexcept(static_cast<int>(flags));
#endif
}

}  // namespace composit::runtime
