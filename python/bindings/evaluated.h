// The values of a tensor, as an ndarray.
#pragma once

#include "cell.h"
#include "composit/execute/execute.h"

namespace composit::python {

// Without nodes, where they are there; else not valid.
nb::object known_values(const LazyTensor& tensor);
// As known_values, or by a look.
nb::object evaluated(const LazyTensor& tensor, const execute::Options& options = {});
// TypeError where values leave the graph of a tensor that is differentiated.
void check_not_differentiated(const LazyTensor& self);

}  // namespace composit::python
