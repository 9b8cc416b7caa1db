// Hooks of composit.torch's tensors on gradients, and Functions whose backward users wrote, as
// barriers (composit/eager/tape_barriers.h).
#pragma once

#include "composit/eager/tape_barriers.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// The gradient, or None, after the hooks of a dictionary. RuntimeError where one changes its shape,
// or gives a gradient where there was none.
nb::object after_hooks(nb::handle hooks, nb::object gradient);

// The gradient, of whatever shape and dtype, as one of x: the sum where x's shape broadcasts to
// its. RuntimeError: another shape, of what `record` returned for its argument of that number.
ir::Tensor fitting_gradient(const std::string& record, size_t argument, const ir::Tensor& gradient,
                            const ir::Tensor& x);

// What the backward of the Function of that record returned, for each of `count` arguments a Tensor
// or None. RuntimeError for another count or another value.
nb::list returned_gradients(const std::string& record, nb::handle result, size_t count);

// Whether a record is that of a call of a Function.
bool is_function_record(nb::handle record);

// Whether a gradient comes to a leaf or a result, whose leaf or record is `from`.
bool arrives(eager::Arrivals& arrivals, nb::handle from, const ir::Tensor& held);

// What stands between outputs with these records and their leaves, in the order in which gradients
// come to it. The records of what `is_recording` makes are those of the outputs. Not `reaching`'s
// hooks are left out; null: none. `arrivals` learns what Functions give, and says to hooks where
// there is no gradient; null where there are no Functions.
std::vector<eager::Barrier> barriers_between(const nb::list& records, bool is_recording,
                                             const eager::Reaching* reaching,
                                             const std::shared_ptr<eager::Arrivals>& arrivals);

}  // namespace composit::python
