// How large the parts are into which work is cut for threads.
#pragma once

#include <cstdint>

namespace composit::runtime {

// To wake a thread and to wait for it takes about a microsecond; a part that takes no longer is
// better done where the arrays are.
inline constexpr double nanoseconds_per_chunk = 1300;
// The same of work that is known by how long a first piece took: what runs for the first time waits
// for memory and code, and takes several times as long as what follows.
inline constexpr double timed_nanoseconds_per_chunk = 20e3;
// More than one evens out threads of different speed.
inline constexpr int64_t chunks_per_thread = 4;

}  // namespace composit::runtime
