// Leaves of composit.torch's traces as numbers.
#pragma once

#include "cell.h"

#include <cstdint>

namespace composit::python {

// Of the type and device of what the tensor holds; -1 for what is no constant, or has an origin it
// is read from; -2 for a Python scalar.
int64_t leaf_type(const LazyTensor& tensor);

}  // namespace composit::python
