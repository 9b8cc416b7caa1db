// What can be known is evaluated when it is made where its errors have to come at the call, as
// NumPy's do: under np.errstate(…="raise"), where warnings are errors, and for operations that fail
// for some values.
#pragma once

#include "cell.h"
#include "error_handling.h"
#include "location.h"

namespace composit::python {

// Throws what is wrong with the values of something that was just made, unless it depends on a
// placeholder. What was computed for that is kept: a chain of calls is computed link by link.
void find_errors(const Tensor& tensor);

// The same, where anybody wants to know now. Costs nothing mostly.
inline void find_errors_of_call(const Tensor& tensor) {
    const ir::ErrorHandling* handling = tensor.node().error_handling();
    if (tensor.node().may_fail() || (handling && handling->at_once())) find_errors(tensor);
}

}  // namespace composit::python
