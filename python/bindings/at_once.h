// np.errstate(…="raise"): what can be known is evaluated when it is made, so that its errors come
// at the call, as NumPy's do.
#pragma once

#include "cell.h"
#include "error_handling.h"

namespace composit::python {

// Whether it was made under the errstate that is in force, which raises.
inline bool is_wanted_at_once(const Tensor& tensor) {
    const ir::ErrorHandling* handling = tensor.node().error_handling();
    return handling && handling->at_once() && handling == current_error_handling();
}

// Evaluates what `owner` is, or is about to hold, unless it depends on a placeholder; throws what
// the evaluation throws. The value is kept while the owner holds the tensor: a chain of calls is
// evaluated link by link.
void evaluate_at_once(const Tensor& tensor, const LazyTensor& owner);

// For an owner that dies.
void forget_value(const LazyTensor& owner);

}  // namespace composit::python
