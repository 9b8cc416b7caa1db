// Where arrays of functions that are loaded live: in memory that a thread keeps between calls.
#pragma once

#include <string>

namespace composit::c_family {

// Text that holds std::vector, with vectors of the type below instead.
std::string with_kept_memory(std::string text);

// That type, which needs <vector> before it: a thread keeps some of the large blocks that it gives
// back, so that the next call need not ask the system for pages, which would be cleared for it one
// by one.
std::string kept_memory();

}  // namespace composit::c_family
