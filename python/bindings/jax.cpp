// composit/jax/primitives.h, into module composit._core.jax.
#include "jax.h"

#include "arguments.h"
#include "arrays.h"
#include "casters.h"
#include "composit/jax/primitives.h"
#include "flags.h"
#include "level.h"
#include "location.h"
#include "values.h"

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

// Integers, or sequences of them in a row. False where there is anything else.
bool add_integers(nb::handle value, nb::list& found) {
    const Level level(" in a parameter");
    for (nb::handle item : value) {
        if (PyTuple_Check(item.ptr()) || PyList_Check(item.ptr())) {
            if (!add_integers(item, found)) return false;
            continue;
        }
        const bool is_integer =
            PyLong_Check(item.ptr()) || nb::isinstance(item, numpy_attribute("integer"));
        if (!is_integer) return false;
        found.append(nb::int_(item));
    }
    return true;
}

// Parameters of a primitive of JAX, of kinds that composit's have.
struct Parameters {
    nb::dict values, dtypes;

    void put(const std::string& key, nb::handle value) {
        PyObject* const object = value.ptr();
        const auto is_a = [&](const char* name) {
            return nb::isinstance(value, numpy_attribute(name));
        };
        if (key == "new_dtype" || key == "dtype" || key == "index_dtype" ||
            key == "preferred_element_type") {
            if (!value.is_none()) dtypes[key.c_str()] = numpy_attribute("dtype")(value);
        } else if (PyBool_Check(object) || is_a("bool_")) {
            values[key.c_str()] = nb::bool_(truth_of(value));
        } else if ((PyLong_Check(object) || is_a("integer")) && !is_member(value)) {
            values[key.c_str()] = nb::int_(value);
        } else if (PyFloat_Check(object) || is_a("floating")) {
            values[key.c_str()] = nb::float_(value);
        } else if (PyUnicode_Check(object)) {
            values[key.c_str()] = value;
        } else if (PyTuple_Check(object) && has_attribute(value, "_fields")) {
            put_fields(key, value, "_fields");
        } else if (key == "dimension_numbers" && has_attribute(value, "__dataclass_fields__")) {
            put_fields(key, value, "__dataclass_fields__");
        } else if (PyTuple_Check(object) || PyList_Check(object)) {
            nb::list integers;
            if (add_integers(value, integers)) values[key.c_str()] = integers;
        } else {  // enumerations, primitives, generators
            const nb::object name = nb::getattr(value, "name", nb::none());
            if (PyUnicode_Check(name.ptr())) values[key.c_str()] = name;
        }
    }

    // The pairs of dimensions that are contracted, and those of the batch.
    void put_dimensions(nb::handle value) {
        const char* const names[2][2] = {{"contracted_a", "contracted_b"}, {"batch_a", "batch_b"}};
        for (size_t i = 0; i < 2; ++i)
            for (size_t j = 0; j < 2; ++j) {
                nb::list integers;
                add_integers(nb::object(nb::object(value[i])[j]), integers);
                values[names[i][j]] = integers;
            }
    }

  private:
    static bool is_member(nb::handle value) {
        return nb::isinstance(value, nb::module_::import_("enum").attr("Enum"));
    }

    void put_fields(const std::string& key, nb::handle value, const char* fields) {
        const Level level(" in a parameter");
        for (nb::handle field : nb::object(value.attr(fields))) {
            const std::string name = nb::str(field).c_str();
            put(key + "." + name, nb::object(value.attr(name.c_str())));
        }
    }
};

nb::tuple parameters_of(const std::string& primitive, const nb::dict& given) {
    Parameters made;
    for (const auto& [key, value] : given) {
        const std::string name = nb::str(key).c_str();
        if (primitive == "dot_general" && name == "dimension_numbers")
            made.put_dimensions(value);
        else
            made.put(name, value);
    }
    return nb::make_tuple(made.values, made.dtypes);
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
    module.def("parameters", parameters_of, nb::arg("primitive"), nb::arg("given"),
               "What apply takes of a primitive's parameters in JAX: its parameters and dtypes.");
    module.def("knows", [](const std::string& primitive) { return jax::knows(primitive); });
}

}  // namespace composit::python
