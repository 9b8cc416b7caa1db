// What stands between the brackets of x[…], as composit::numpy::Index.
#pragma once

#include "composit/numpy/indexing.h"

#include <nanobind/nanobind.h>

namespace composit::python {

// IndexError, NumPy's words, for what cannot be an index.
numpy::Index index_from(nanobind::handle key);

}  // namespace composit::python
