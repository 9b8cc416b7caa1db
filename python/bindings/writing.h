// Writes of composit.torch's tensors: which tensor a memory belongs to, and what a write in place
// does to it and to its records (composit/eager/writing.h).
#pragma once

#include "torch_objects.h"

#include <nanobind/nanobind.h>

namespace composit::python {

// The living tensor in whose memory another one's elements lie.
struct OwnerOfMemory {
    nb::object tensor;
    bool is_known;  // autograd knows of writes through the other one
};
OwnerOfMemory owner_of_memory(nb::handle tensor);
// The tensor that it was detached from, while that lives; else not valid.
nb::object twin_of(const TensorObject* tensor);

// Puts a value, in the target's dtype and shape, in the target's place and its views'. Where
// autograd does not see it, gradients go on as if nothing had been written. `has_gradient`:
// gradients go from the target to what the value is made of.
void overwrite(nb::handle target, const ir::Tensor& value, bool has_gradient = false);
// Writes a result that nothing else holds to the target, without its node (assigning.cpp). False
// where that has to be done with nodes: nothing has changed then.
bool assigned(nb::handle target, nb::handle result, bool is_detached);

}  // namespace composit::python
