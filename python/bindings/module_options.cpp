// What composit.torch's modules that call one function hand to it: tensors and options by name, and
// how they show the options.
#include "flags.h"
#include "modules.h"
#include "shown.h"

#include <nanobind/stl/string.h>

#include <sstream>
#include <string>

namespace composit::python {
namespace {

PyObject* option_name(const char* text) {
    PyObject* const made = PyUnicode_InternFromString(text);
    if (!made) throw nb::python_error();
    return made;
}

nb::object dictionary_of_module(nb::handle module) {
    nb::object own = nb::steal(PyObject_GenericGetDict(module.ptr(), nullptr));
    if (!own.is_valid()) throw nb::python_error();
    return own;
}

nb::object option_attribute(nb::handle object, nb::handle name) {
    nb::object found = nb::steal(PyObject_GetAttr(object.ptr(), name.ptr()));
    if (!found.is_valid()) throw nb::python_error();
    return found;
}

// Parameters, buffers, or attributes of these names, as the module has them now.
nb::tuple tensors_of(nb::handle module, nb::tuple names) {
    static PyObject* const groups[] = {option_name("_parameters"), option_name("_buffers")};
    const nb::object own = dictionary_of_module(module);
    nb::list found;
    for (nb::handle name : names) {
        PyObject* value = nullptr;
        for (PyObject* const group : groups) {
            PyObject* const dictionary = PyDict_GetItemWithError(own.ptr(), group);
            if (dictionary && PyDict_Check(dictionary))
                value = PyDict_GetItemWithError(dictionary, name.ptr());
            if (value) break;
        }
        if (value)
            found.append(nb::handle(value));
        else
            found.append(option_attribute(module, name));
    }
    return nb::tuple(found);
}

// Options by name; "inplace" only where it is true; "training" where the function is told of it.
nb::dict options_of(nb::handle module, nb::tuple names, bool has_inplace, bool in_training) {
    static PyObject* const inplace = option_name("inplace");
    static PyObject* const training = option_name("training");
    const nb::object own = dictionary_of_module(module);
    nb::dict options;
    const auto take = [&](nb::handle name) {
        PyObject* const held = PyDict_GetItemWithError(own.ptr(), name.ptr());
        return held ? nb::borrow(held) : option_attribute(module, name);
    };
    for (nb::handle name : names) options[name] = take(name);
    if (has_inplace && truth_of(take(inplace))) options[nb::handle(inplace)] = true;
    if (in_training) options[nb::handle(training)] = take(training);
    return options;
}

// "p=0.5, inplace=True": as PyTorch's modules show them. Old options of losses are not shown, and
// "inplace" where it is false only with shows_inplace.
std::string shown_options(nb::handle module, nb::iterable names, bool are_named,
                          bool shows_inplace) {
    std::ostringstream shown;
    for (nb::handle each : names) {
        const std::string name = nb::cast<std::string>(each);
        if (name.empty() || name == "size_average" || name == "reduce") continue;
        const nb::object value = option_attribute(module, each);
        if (name == "inplace" && !shows_inplace && !truth_of(value)) continue;
        if (shown.tellp() > 0) shown << ", ";
        if (are_named || name == "inplace") shown << name << "=";
        shown << Shown{value};
    }
    return shown.str();
}

}  // namespace

void bind_module_options(nb::module_& module) {
    module.def("tensors_of", tensors_of, nb::arg("module"), nb::arg("names"));
    module.def("options_of", options_of, nb::arg("module"), nb::arg("names"),
               nb::arg("has_inplace") = false, nb::arg("in_training") = false);
    module.def("shown_options", shown_options, nb::arg("module"), nb::arg("names"),
               nb::arg("are_named") = true, nb::arg("shows_inplace") = true);
}

}  // namespace composit::python
