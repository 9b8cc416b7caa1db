// What composit.torch's DataParallel is made of: structures of tensors cut into pieces for several
// devices and put together again, copies of modules on each device.
#include "casters.h"
#include "composit/base/error.h"
#include "exact_errors.h"
#include "flags.h"
#include "gradient_checks.h"
#include "modules.h"
#include "provided.h"
#include "torch_objects.h"
#include "values.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace composit::python {
namespace {

bool is_with_fields(nb::handle value) { return has_attribute(value, "_fields"); }

// A structure of the type of another one.
nb::object structure_like(nb::handle like, const nb::list& parts) {
    const nb::object type = nb::borrow(like.type());
    return is_with_fields(like) ? type(*nb::tuple(parts)) : type(parts);
}

// For each device the parts of all lists at its place.
std::vector<nb::list> transposed_parts(const std::vector<nb::object>& by_part, size_t devices) {
    std::vector<nb::list> made(devices);
    for (const nb::object& pieces : by_part) {
        size_t place = 0;
        for (nb::handle piece : pieces)
            if (place < devices) made[place++].append(piece);
        made.resize(devices = place);
    }
    return made;
}

nb::object scattered(const nb::dict& functions, nb::handle inputs, nb::handle devices,
                     int64_t dim) {
    const size_t count = nb::len(devices);
    if (is_tensor_of_torch(inputs)) {
        const nb::object pieces = nb::object(functions["chunk"])(inputs, count, dim);
        nb::list moved;
        size_t place = 0;
        for (nb::handle piece : pieces)
            moved.append(piece.attr("to")(nb::object(devices[place++])));
        return nb::tuple(moved);
    }
    nb::list made;
    const bool is_dictionary = PyDict_Check(inputs.ptr());
    const bool is_sequence = PyList_Check(inputs.ptr()) || PyTuple_Check(inputs.ptr());
    if ((!is_dictionary && !is_sequence) || nb::len(inputs) == 0) {
        for (size_t i = 0; i < count; ++i) made.append(inputs);
        return made;
    }
    std::vector<nb::object> by_part;
    const nb::object items = is_dictionary ? inputs.attr("items")() : nb::borrow(inputs);
    for (nb::handle item : items) by_part.push_back(scattered(functions, item, devices, dim));
    for (const nb::list& parts : transposed_parts(by_part, count))
        made.append(is_dictionary ? nb::borrow(inputs.type())(parts)
                                  : structure_like(inputs, parts));
    return made;
}

// Arguments and keywords for each device, as many of both.
nb::tuple scattered_arguments(const nb::dict& functions, nb::handle inputs, nb::handle named,
                              nb::handle devices, int64_t dim) {
    nb::list given, keywords;
    if (truth_of(inputs)) given = nb::list(scattered(functions, inputs, devices, dim));
    if (truth_of(named)) keywords = nb::list(scattered(functions, named, devices, dim));
    while (nb::len(given) < nb::len(keywords)) given.append(nb::tuple());
    while (nb::len(keywords) < nb::len(given)) keywords.append(nb::dict());
    return nb::make_tuple(nb::tuple(given), nb::tuple(keywords));
}

nb::object gathered(const nb::dict& functions, nb::handle outputs, nb::handle device, int64_t dim);

nb::object gathered_tensors(const nb::dict& functions, nb::handle outputs, nb::handle device,
                            int64_t dim) {
    nb::list moved;
    bool are_scalars = dim == 0;
    for (nb::handle piece : outputs) {
        const nb::object there = piece.attr("to")(device);
        are_scalars = are_scalars && type_seen(there).shape.empty();
        moved.append(there);
    }
    if (!are_scalars) return nb::object(functions["cat"])(moved, dim);
    if (PyErr_WarnEx(PyExc_UserWarning,
                     "Was asked to gather along dimension 0, but all input tensors were scalars; "
                     "will instead unsqueeze and return a vector.",
                     2) < 0)
        throw nb::python_error();
    return nb::object(functions["stack"])(moved);
}

// Structures of pieces as one structure of tensors.
nb::object gathered(const nb::dict& functions, nb::handle outputs, nb::handle device, int64_t dim) {
    const nb::object first = outputs[0];
    if (is_tensor_of_torch(first)) return gathered_tensors(functions, outputs, device, dim);
    if (first.is_none()) return nb::none();
    if (PyDict_Check(first.ptr())) {
        for (nb::handle each : outputs)
            user_check(nb::len(each) == nb::len(first),
                       "All dicts must have the same number of keys");
        nb::list items;
        for (nb::handle key : nb::list(first)) {
            nb::list values;
            for (nb::handle each : outputs) values.append(nb::object(each[key]));
            items.append(nb::make_tuple(key, gathered(functions, values, device, dim)));
        }
        return nb::borrow(first.type())(items);
    }
    nb::list parts;
    const nb::object zip = nb::module_::import_("builtins").attr("zip");
    for (nb::handle each : nb::object(zip(*nb::tuple(nb::list(outputs)))))
        parts.append(gathered(functions, each, device, dim));
    return structure_like(first, parts);
}

// What each module gives for its inputs, a tuple or one tensor.
nb::list applied_in_order(nb::handle modules, nb::handle inputs, nb::handle named,
                          nb::handle devices) {
    const size_t count = nb::len(modules);
    const auto check = [&](const char* what, nb::handle given) {
        exact_check(PyExc_AssertionError, given.is_none() || nb::len(given) == count,
                    "The number of modules ", count, " is not equal to the number of ", what, " ",
                    given.is_none() ? 0 : nb::len(given));
    };
    check("inputs", inputs);
    check("kwargs_tup", named);
    check("devices", devices);
    nb::list made;
    for (size_t i = 0; i < count; ++i) {
        const nb::object given = inputs[i], module = modules[i];
        const bool is_sequence = PyList_Check(given.ptr()) || PyTuple_Check(given.ptr());
        const nb::tuple args = is_sequence ? nb::tuple(given) : nb::make_tuple(given);
        const nb::dict keywords =
            named.is_none() ? nb::dict() : nb::borrow<nb::dict>(nb::object(named[i]));
        made.append(module(*args, **keywords));
    }
    return made;
}

using Replicas = std::map<PyObject*, nb::object>;

// A tensor's copy on a device, which is computed from it unless it is detached.
nb::object replica_of_tensor(nb::handle tensor, nb::handle device, bool detach) {
    if (tensor.is_none()) return nb::none();
    const nb::object own = detach ? nb::object(tensor.attr("detach")()) : nb::borrow(tensor);
    nb::object moved = own.attr("to")(device);
    // An operation's result is no parameter.
    return moved.is(tensor) ? nb::object(moved.attr("view_as")(moved)) : moved;
}

nb::object replica(nb::handle module, nb::handle device, bool detach, Replicas& made) {
    if (const auto known = made.find(module.ptr()); known != made.end()) return known->second;
    const nb::object copy =
        nb::module_::import_("builtins").attr("object").attr("__new__")(module.type());
    made[module.ptr()] = copy;
    nb::dict own = nb::borrow<nb::dict>(nb::object(copy.attr("__dict__")));
    own.update(nb::borrow<nb::dict>(nb::object(module.attr("__dict__"))));
    nb::dict buffers, modules;
    own["_parameters"] = nb::dict();
    own["_buffers"] = buffers;
    for (const auto& [name, tensor] : items_now(group_in(module, "_parameters")))
        own[name] = replica_of_tensor(tensor, device, detach);
    for (const auto& [name, tensor] : items_now(group_in(module, "_buffers")))
        buffers[name] = replica_of_tensor(tensor, device, detach);
    const nb::object kind = provided("torch_module");
    for (const auto& [name, child] : items_now(group_in(module, "_modules")))
        modules[name] = nb::isinstance(child, kind) ? replica(child, device, detach, made) : child;
    own["_modules"] = modules;
    return copy;
}

nb::list replicas(nb::handle module, nb::handle devices, bool detach) {
    nb::list made;
    for (nb::handle device : devices) {
        Replicas known;
        made.append(replica(module, device, detach, known));
    }
    return made;
}

}  // namespace

void bind_device_pieces(nb::module_& module) {
    module.def("scattered", scattered, nb::arg("functions"), nb::arg("inputs").none(),
               nb::arg("devices"), nb::arg("dim"));
    module.def("scattered_arguments", scattered_arguments, nb::arg("functions"),
               nb::arg("inputs").none(), nb::arg("named").none(), nb::arg("devices"),
               nb::arg("dim"));
    module.def("gathered", gathered, nb::arg("functions"), nb::arg("outputs"), nb::arg("device"),
               nb::arg("dim"));
    module.def("applied_in_order", applied_in_order, nb::arg("modules"), nb::arg("inputs"),
               nb::arg("named").none(), nb::arg("devices").none());
    module.def("replicas", replicas, nb::arg("module"), nb::arg("devices"), nb::arg("detach"));
}

}  // namespace composit::python
