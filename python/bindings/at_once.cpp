#include "at_once.h"

#include "composit/eager/failing.h"
#include "interpreter_lock.h"

namespace composit::python {
namespace {

// Whether it was made under the errstate and the filters of warnings that are in force, which
// raise.
bool is_wanted_at_once(const Tensor& tensor) {
    const ir::ErrorHandling* handling = tensor.node().error_handling();
    return handling && handling->at_once() && handling == current_error_handling();
}

}  // namespace

void find_errors(const Tensor& tensor) {
    if (tensor.node().is_open()) return;
    const bool is_wanted = is_wanted_at_once(tensor);
    if (!is_wanted && !is_called_by_user()) return;
    const Tensor held = tensor;
    const Released released;
    if (is_wanted)
        eager::look({held});
    else
        eager::check_values(held);
}

}  // namespace composit::python
