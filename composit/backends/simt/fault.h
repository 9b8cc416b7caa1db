// The record in device memory of the first index out of bounds that a run met.
#pragma once

#include <cstdint>

namespace composit::simt {

// As texts declare it (dialect.cpp). All zeros when a run begins.
struct FaultRecord {
    int64_t launch = 0;  // the number of the launch that met it, from 1 on; 0: none did
    int64_t outer = 0, axis = 0, index = 0;
    int32_t is_locked = 0, unused = 0;
};

}  // namespace composit::simt
