// The four functions that distributions ask for random bits.
#pragma once

#include <cstdint>

namespace composit::numpy::random {

// Laid out as NumPy's bitgen_t, so that its distributions and its generators take one of ours.
struct Bits {
    void* state = nullptr;
    uint64_t (*next_uint64)(void*) = nullptr;
    uint32_t (*next_uint32)(void*) = nullptr;
    double (*next_double)(void*) = nullptr;  // [0, 1)
    uint64_t (*next_raw)(void*) = nullptr;   // one word of the generator's own width
};

}  // namespace composit::numpy::random
