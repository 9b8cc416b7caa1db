// Writes of composit.torch's tensors: which tensor a memory belongs to, and what a write in place
// does to it and to its records (composit/eager/writing.h).
#pragma once

#include "torch_objects.h"

#include <nanobind/nanobind.h>

#include <string>

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
// RuntimeError for leaves that require gradients, and views of them, where it is recorded.
// `is_view`: a view of the target is written.
void check_writable(nb::handle target, bool is_view);
// Whether its memory may be seen by other tensors, too; whether both lie in one memory.
bool may_see_others(nb::handle tensor);
bool share_memory(nb::handle one, nb::handle other);
// RuntimeError where elements of the target are one in memory, or are some, but not all, of the
// operand's.
void check_overlap_with(nb::handle target, nb::handle operand);
// What memory holds of a result.
nb::object stored(nb::handle result);
// The target becomes the result, record and all.
void replace(nb::handle target, nb::handle result, const std::string& name);
// Makes a tensor another name, which holds `lazy`, for the memory of another tensor.
void lie_in(nb::handle tensor, nb::handle other, nb::handle lazy);
// Writes a result that nothing else holds to the target, without its node (assigning.cpp). False
// where that has to be done with nodes: nothing has changed then.
bool assigned(nb::handle target, nb::handle result, bool is_detached);

}  // namespace composit::python
