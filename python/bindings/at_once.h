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

// Computes it, unless it depends on a placeholder; throws what that throws. The value is kept: a
// chain of calls is computed link by link.
void look_at_once(const Tensor& tensor);

}  // namespace composit::python
