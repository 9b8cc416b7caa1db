// The values of a tensor, as an ndarray.
#pragma once

#include "cell.h"
#include "composit/execute/execute.h"

namespace composit::python {

// Without nodes, where they are there; else not valid.
nb::object known_values(const LazyTensor& tensor);
// As known_values, or by a look.
nb::object evaluated(const LazyTensor& tensor, const execute::Options& options = {});
// The same of an object of class LazyTensor or a scalar. Where nobody but the caller's caller holds
// the object, which goes when the call has ended, the ndarray takes over the memory of its values.
nb::object evaluated_last(nb::handle object, const execute::Options& options);
// TypeError where values leave the graph of a tensor that is differentiated.
void check_not_differentiated(const LazyTensor& self);

}  // namespace composit::python
