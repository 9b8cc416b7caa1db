#include "provided.h"

#include "held.h"

#include <map>
#include <memory>
#include <string>

namespace nb = nanobind;

namespace composit::python {
namespace {

// Written and read under the interpreter's lock.
std::map<std::string, std::shared_ptr<nb::object>, std::less<>>& functions() {
    static auto* all = new std::map<std::string, std::shared_ptr<nb::object>, std::less<>>;
    return *all;
}

void provide(nb::str name, nb::object function) {
    functions()[name.c_str()] = held(std::move(function));
}

}  // namespace

nb::object provided(const char* name) {
    const auto found = functions().find(name);
    if (found == functions().end() || !found->second->is_valid()) {
        PyErr_Format(PyExc_RuntimeError, "composit: no module has provided %s.", name);
        throw nb::python_error();
    }
    return *found->second;
}

void bind_provided(nb::module_& module) { module.def("provide", &provide); }

}  // namespace composit::python
