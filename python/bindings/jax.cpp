// composit/jax/primitives.h, into module composit._core.jax.
#include "jax.h"

#include "casters.h"
#include "composit/jax/primitives.h"
#include "location.h"

#include <nanobind/stl/map.h>

namespace composit::python {
namespace {

ir::Attribute attribute_from(nb::handle value) {
    if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
    if (nb::isinstance<nb::int_>(value)) return nb::cast<int64_t>(value);
    if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
    if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
    return nb::cast<std::vector<int64_t>>(value);
}

}  // namespace

void bind_jax(nb::module_& module) {
    // parameters: bools, integers, floats, texts and lists of integers, by name; dtypes: the
    // parameters that are one. Nodes have the line of the user's that is given.
    module.def(
        "apply",
        [](const std::string& primitive, const std::vector<Tensor>& operands,
           const nb::dict& parameters, const std::map<std::string, ir::DType>& dtypes,
           const std::string& line) {
            std::vector<std::pair<std::string, ir::Attribute>> all;
            for (const auto& [name, value] : parameters)
                all.emplace_back(nb::cast<std::string>(name), attribute_from(value));
            for (const auto& [name, dtype] : dtypes) all.emplace_back(name, dtype);
            const ir::LocationScope scope(ir::intern(line), nullptr);
            return jax::apply(primitive, operands, ir::Attributes::from(std::move(all)));
        },
        nb::arg("primitive"), nb::arg("operands"), nb::arg("parameters"), nb::arg("dtypes"),
        nb::arg("line"));
    module.def("names", &jax::names);
    module.def("knows", [](const std::string& primitive) { return jax::knows(primitive); });
}

}  // namespace composit::python
