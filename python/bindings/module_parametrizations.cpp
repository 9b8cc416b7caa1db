// Parametrised tensors of composit.torch's modules (torch.nn.utils.parametrize): which modules hold
// them, what they are computed from, and how they become ordinary ones again.
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "flags.h"
#include "modules.h"
#include "provided.h"
#include "shown.h"
#include "torch_objects.h"
#include "values.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

bool is_kept_as_parameter(nb::handle value) {
    return nb::isinstance(value, provided("torch_parameter"));
}

bool have_the_same_shape(nb::handle a, nb::handle b) {
    return type_seen(a).shape == type_seen(b).shape;
}

bool has_inverse(nb::handle module) { return has_attribute(module, "right_inverse"); }

// The modules of a list, in order.
std::vector<nb::object> parts_of(nb::handle list) {
    std::vector<nb::object> parts;
    for (nb::handle each : list) parts.push_back(nb::borrow(each));
    return parts;
}

// A tensor as a parameter or buffer, as the original is one.
nb::object of_kind(nb::handle value, nb::handle original) {
    const nb::object detached = value.attr("detach")();
    if (!is_kept_as_parameter(original)) return provided("torch_buffer")(detached);
    return provided("torch_parameter")(detached,
                                       nb::arg("requires_grad") = original.attr("requires_grad"));
}

// "original", or "original0", "original1", …: what the tensor of a list is computed from.
std::vector<std::string> names_of(nb::handle list) {
    if (truth_of(nb::object(list.attr("is_tensor")))) return {"original"};
    std::vector<std::string> names;
    const int64_t count = integer_from(nb::object(list.attr("ntensors")));
    for (int64_t i = 0; i < count; ++i) names.push_back("original" + std::to_string(i));
    return names;
}

// Gives a list what its tensor is computed from: what the maps' inverses make of the original.
void begin_list(nb::handle list, nb::object original) {
    nb::object made = original;
    const std::vector<nb::object> parts = parts_of(list);
    {
        const eager::NoGrad scope;
        for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
            if (!has_inverse(*part)) continue;
            try {
                made = part->attr("right_inverse")(made);
            } catch (nb::python_error& error) {
                // Where there is none the map begins at what there was.
                if (!error.matches(PyExc_NotImplementedError)) throw;
            }
        }
    }
    const bool is_tensor = is_tensor_of_torch(made);
    list.attr("is_tensor") = is_tensor;
    list.attr("ntensors") = is_tensor ? 1 : static_cast<int64_t>(nb::len(made));
    std::vector<nb::object> held;
    if (!is_tensor) {
        for (nb::handle part : made) held.push_back(of_kind(part, original));
    } else if (made.is(original)) {
        held = {original};
    } else {
        const eager::NoGrad scope;
        const bool fits = have_the_same_shape(made, original);
        if (fits) original.attr("copy_")(made);
        held = {fits ? original : of_kind(made, original)};
    }
    const std::vector<std::string> names = names_of(list);
    const bool are_parameters = is_kept_as_parameter(original);
    for (size_t i = 0; i < held.size(); ++i)
        list.attr(are_parameters ? "register_parameter" : "register_buffer")(names[i], held[i]);
}

// The tensor, through all parametrisations.
nb::object computed(nb::handle list) {
    nb::object value = nb::none();
    bool is_first = true;
    for (const nb::object& part : parts_of(list)) {
        if (is_first) {
            nb::list given;
            for (const std::string& name : names_of(list)) given.append(list.attr(name.c_str()));
            value = part(*nb::tuple(given));
        } else {
            value = part(value);
        }
        is_first = false;
    }
    return value;
}

// Changes what the tensor is computed from so that it is the value.
void assign(nb::handle list, nb::object value) {
    const eager::NoGrad scope;
    const std::vector<nb::object> parts = parts_of(list);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        user_check<RuntimeError>(has_inverse(*part), "parametrization ", KindOf{*part},
                                 " does not implement right_inverse.");
        value = part->attr("right_inverse")(value);
    }
    const std::vector<std::string> names = names_of(list);
    if (truth_of(nb::object(list.attr("is_tensor")))) {
        list.attr("original").attr("copy_")(value);
        return;
    }
    size_t i = 0;
    for (nb::handle part : value) {
        if (i == names.size()) break;
        list.attr(names[i++].c_str()).attr("copy_")(part);
    }
}

// Whether the module has parametrised tensors, or that one.
bool is_parametrized(nb::handle module, nb::handle name) {
    const nb::object own = nb::steal(PyObject_GenericGetDict(module.ptr(), nullptr));
    if (!own.is_valid()) throw nb::python_error();
    const nb::object modules = own.attr("get")("_modules");
    if (modules.is_none()) return false;
    const nb::object held = modules.attr("get")("parametrizations");
    if (!nb::isinstance(held, provided("torch_module_dict"))) return false;
    if (name.is_none()) return nb::len(held) > 0;
    const int found = PySequence_Contains(held.ptr(), name.ptr());
    if (found < 0) throw nb::python_error();
    return found == 1;
}

nb::tuple dtype_and_shape(nb::handle tensor) {
    return nb::make_tuple(tensor.attr("dtype"), nb::tuple(nb::object(tensor.attr("shape"))));
}

// Refuses a tensor of another dtype or shape than there was.
void check_same(nb::handle name, nb::handle value, nb::handle original) {
    user_check(is_tensor_of_torch(value), "A parametrization must return a tensor. Got ",
               KindOf{value}, " for ", Said{name}, ".");
    const nb::tuple made = dtype_and_shape(value), before = dtype_and_shape(original);
    user_check(made.equal(before),
               "Registering a parametrization may not change the dtype or the shape of the "
               "tensor, unless unsafe=True: ",
               Said{name}, " is ", Said{before}, ", and would be ", Said{made}, ".");
}

// Makes a parameter or buffer what a parametrisation computes of it.
void register_parametrization(nb::handle module, nb::str name, nb::handle parametrization,
                              bool is_unsafe) {
    parametrization.attr("train")(module.attr("training"));
    if (is_parametrized(module, name)) {
        const nb::object held = nb::object(module.attr("parametrizations"))[name];
        const nb::object before = module.attr(name);
        if (!is_unsafe) check_same(name, nb::object(parametrization(before)), before);
        if (has_inverse(parametrization))
            held.attr("right_inverse")(parametrization.attr("right_inverse")(before));
        held.attr("append")(parametrization);
        return;
    }
    user_check(group_in(module, "_parameters").contains(name) ||
                   group_in(module, "_buffers").contains(name),
               "Module '", KindOf{module},
               "' does not have a parameter, a buffer, or a parametrized element with name '",
               Said{name}, "'");
    const nb::object original = module.attr(name);
    const nb::object before = original.attr("detach")().attr("clone")();
    nb::list parts;
    parts.append(parametrization);
    const nb::object held = provided("parametrization_list")(parts, original, is_unsafe);
    if (!is_unsafe) check_same(name, nb::object(held()), before);
    if (!is_parametrized(module, nb::none())) {
        provided("own_class_for_parametrizations")(module);
        module.attr("parametrizations") = provided("torch_module_dict")();
    }
    nb::delattr(module, name);
    nb::setattr(module.type(), name, provided("parametrized_property")(name));
    nb::object(module.attr("parametrizations"))[name] = held;
}

// Makes the tensor an ordinary one again: with its present values, or what it was computed from.
void remove_parametrizations(nb::handle module, nb::str name, bool stays) {
    user_check(is_parametrized(module, name), "Module ", KindOf{module},
               " does not have a parametrization on ", Said{name});
    nb::object all = module.attr("parametrizations");
    const nb::object held = all[name];
    const bool is_tensor = truth_of(nb::object(held.attr("is_tensor")));
    const nb::object original = held.attr(names_of(held).at(0).c_str());
    user_check(stays || is_tensor,
               "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
               "parametrized in terms of a sequence of tensors.");
    const nb::object value = stays ? nb::object(module.attr(name).attr("detach")().attr("clone")())
                                   : nb::object(original.attr("detach")());
    nb::object made = value;
    if (is_tensor && have_the_same_shape(value, original)) {
        const eager::NoGrad scope;
        original.attr("copy_")(value);
        made = original;
    } else if (is_kept_as_parameter(original)) {
        made = of_kind(value, original);
    }
    nb::delattr(module.type(), name);
    nb::del(all[name]);
    module.attr(is_kept_as_parameter(original) ? "register_parameter" : "register_buffer")(name,
                                                                                           made);
    if (is_parametrized(module, nb::none())) return;
    nb::delattr(module, "parametrizations");
    const nb::object plain = module.type().attr("_parametrized_from");
    nb::module_::import_("builtins").attr("object").attr("__setattr__")(module, "__class__", plain);
}

// Gives a module the parametrisations of another one's tensors, or of one of them, and what they
// are computed from.
void transfer_parametrizations(nb::handle from, nb::handle to, nb::object name) {
    if (!is_parametrized(from, nb::none())) return;
    const nb::object all = from.attr("parametrizations");
    nb::list names;
    if (name.is_none())
        names = nb::list(all);
    else
        names.append(name);
    for (nb::handle each : names) {
        const nb::str own = nb::borrow<nb::str>(each);
        if (!has_attribute(to, own.c_str()))
            nb::setattr(to, own, provided("torch_parameter")(from.attr(own)));
        const nb::object held = all[own];
        for (const nb::object& part : parts_of(held))
            provided("register_parametrization")(to, own, part);
        const nb::object made = nb::object(to.attr("parametrizations"))[own];
        for (const std::string& part : names_of(held))
            nb::setattr(made, part.c_str(), held.attr(part.c_str()));
    }
}

}  // namespace

void bind_module_parametrizations(nb::module_& module) {
    module.def("begin_parametrization_list", begin_list, nb::arg("list"), nb::arg("original"));
    module.def("parametrized_value", computed, nb::arg("list"));
    module.def("assign_parametrized", assign, nb::arg("list"), nb::arg("value"));
    module.def("is_parametrized", is_parametrized, nb::arg("module"), nb::arg("name").none());
    module.def("register_parametrization", register_parametrization, nb::arg("module"),
               nb::arg("name"), nb::arg("parametrization"), nb::arg("is_unsafe"));
    module.def("remove_parametrizations", remove_parametrizations, nb::arg("module"),
               nb::arg("name"), nb::arg("stays"));
    module.def("transfer_parametrizations", transfer_parametrizations, nb::arg("from_module"),
               nb::arg("to_module"), nb::arg("name").none());
}

}  // namespace composit::python
