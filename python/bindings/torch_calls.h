// Calls of composit.torch's functions with nodes, and what they share with those that traces keep.
#pragma once

#include "composit/ir/node.h"
#include "provided.h"

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// Arguments under the names that functions here have, without those that mean nothing here.
struct Arguments {
    nb::tuple by_place;
    nb::dict by_name;
};
Arguments settled_arguments(const nb::tuple& args, const nb::dict& kwargs);

// The arguments of an operation that was refused for several devices, where PyTorch moves some:
// tensors of the CPU without dimensions, and those that say places. RuntimeError where not; None
// where the tensors are not at fault.
nb::object on_one_device(nb::handle error, nb::handle function, const nb::tuple& args,
                         const nb::dict& kwargs);

// The function's result over Tensors, with nodes.
nb::object call_now(const nb::object& function, const std::string& name, bool is_view,
                    const nb::tuple& args, const nb::dict& kwargs);
// The same in other memory, with a node of its own. Gradients go through it where it is recorded.
nb::object of_its_own(nb::handle lazy, bool is_recorded);
// A view's results: elements see the source's memory, too.
nb::object as_views(nb::handle result, nb::handle source, bool is_recorded);
// A function's result over Tensors, as composit/torch/calling.py's `call`.
nb::object call_function(const nb::object& function, const char* name, bool is_view,
                         const nb::tuple& args);

// A recorded operation reads the tensor: what the leaf holds that it is, or is a view of, is noted.
void note_read(nb::handle tensor);

// "cpu", or the name with its number, "cuda:0", of a device, its name or its number. RuntimeError
// for one that is not here, with the reason and what is here.
std::string full_device_name(nb::handle given);
// The same of where a tensor lies.
const std::string& place_of_seen(nb::handle tensor);
// The tensors in a structure, in order.
std::vector<nb::object> tensors_within(nb::handle value);
// The items of a tuple or list, or the value alone.
nb::list as_parts(nb::handle value);
// A Tensor that holds it.
nb::object wrapped_tensor(const ir::Tensor& value);
// What a tensor holds now; TypeError for what is no Tensor.
ir::Tensor held_by(nb::handle tensor);
// The function of composit.torch of that name.
nb::object torch_function(const char* name);
// NotImplementedError, with the user's line.
[[noreturn]] void refuse_unbuilt(const std::string& text);

// Errors of floating point are ignored while it lives.
struct IgnoredErrors {
    IgnoredErrors() : token(provided("ignore_errors")()) {}
    ~IgnoredErrors() {
        const nb::object done =
            nb::steal(PyObject_CallOneArg(provided("end_of_ignored_errors").ptr(), token.ptr()));
        if (!done.is_valid()) PyErr_Clear();
    }
    IgnoredErrors(const IgnoredErrors&) = delete;
    IgnoredErrors& operator=(const IgnoredErrors&) = delete;
    nb::object token;
};

}  // namespace composit::python
