// Functions of arrays in kernels: composit/knossos/array_functions.h.
#include "casters.h"
#include "knossos.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace composit::python::of_kernels {
namespace {

using knossos::Array;
using knossos::ArrayFunctions;
using knossos::ArrayRef;
using knossos::Elements;
using knossos::Index;
using knossos::Kind;
using knossos::Makers;
using knossos::Named;
using knossos::Range;
using knossos::Reductions;
using knossos::Role;
using knossos::Slices;
using knossos::Storage;
using knossos::Stored;
using knossos::Subscript;
using knossos::Value;

// np.newaxis between the brackets: an axis of one element.
struct NewAxis {};

Role role_named(const std::string& name) {
    return name == "input" ? Role::input : name == "output" ? Role::output : Role::local;
}

Named named_from(const nb::dict& given) {
    Named named;
    for (auto [name, value] : given)
        named.emplace_back(nb::cast<std::string>(name), value_from(value));
    return named;
}

std::vector<Subscript> subscripts_from(const nb::list& given) {
    std::vector<Subscript> made;
    for (nb::handle each : given) {
        if (each.is_none())
            made.push_back(Subscript::whole());
        else if (nb::isinstance<NewAxis>(each))
            made.push_back(Subscript::new_axis());
        else if (PySlice_Check(each.ptr()))
            made.push_back(Subscript::slice(value_from(nb::object(each.attr("start"))),
                                            value_from(nb::object(each.attr("stop"))),
                                            value_from(nb::object(each.attr("step")))));
        else
            made.push_back(Subscript::at(value_from(each)));
    }
    return made;
}

void bind_storage(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Storage>(module, "Storage", "Arrays that kernels store.")
        .def(
            "add_array",
            [](Storage& self, const std::string& wanted, Kind kind, nb::handle shape,
               const std::string& role, int is_list) {
                return self.add_array(wanted, kind, values_from(shape), role_named(role), is_list);
            },
            "wanted"_a, "kind"_a, "shape"_a, "role"_a = "local", "is_list"_a = 0)
        .def("taken_names", &Storage::taken_names)
        .def(
            "store",
            [](Storage& self, const Stored& array, nb::handle indices, const Value& value) {
                self.store(array, values_from(indices), value);
            },
            "array"_a, "indices"_a, "value"_a)
        .def(
            "nest",
            [](Storage& self, nb::handle shape, nb::callable body) {
                self.nest(values_from(shape),
                          [&](const Index& at) { body(nb::list(objects_of(at))); });
            },
            "shape"_a, "body"_a, "Loops over all indices.")
        .def("fill", &Storage::fill, "target"_a, "value"_a, "is_again"_a = false)
        .def("store_all", &Storage::store_all, "target"_a, "value"_a)
        .def("stored", &Storage::stored, "value"_a, "name"_a)
        .def("copied", &Storage::copied, "value"_a);
}

void bind_makers(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Range>(module, "Range", "Python's range, whose bounds may be computed.")
        .def(nb::init<Value, Value, int64_t>(), "begin"_a, "end"_a, "step"_a)
        .def_ro("begin", &Range::begin)
        .def_ro("end", &Range::end)
        .def_ro("step", &Range::step)
        .def_prop_ro("known", [](const Range& self) -> nb::object {
            const auto known = self.known();
            return known ? nb::object(tuple_from(*known)) : nb::object(nb::none());
        });
    nb::class_<Makers>(module, "Makers", "zeros, full, eye, arange, linspace, array.")
        .def(
            "array",
            [](Makers& self, const Value& value) { return self.call("numpy.array", {value}, {}); },
            "value"_a)
        .def("counted", &Makers::counted, "of"_a)
        .def("stepping", &Makers::stepping, "begin"_a, "end"_a, "step"_a);
}

void bind_kernel_parts(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<NewAxis>(module, "NewAxis", "An axis of one element, between brackets.")
        .def(nb::init<>());
    nb::class_<Elements>(module, "Elements", "Functions over the elements of arrays.")
        .def(
            "elementwise",
            [](Elements& self, nb::callable function, std::vector<Value> values) {
                return self.elementwise(
                    [function](const std::vector<Value>& numbers) {
                        return value_from(nb::object(function(*objects_of(numbers))));
                    },
                    std::move(values));
            },
            "function"_a, "values"_a);
    nb::class_<Slices>(module, "Slices", "What stands between the brackets of an array.")
        .def(
            "indexed",
            [](Slices& self, const ArrayRef& array, const nb::list& given) {
                return self.indexed(array, subscripts_from(given));
            },
            "array"_a, "given"_a)
        .def("row", &Slices::row, "array"_a, "place"_a);
    nb::class_<Reductions>(module, "Reductions", "Elements combined in order.")
        .def("product", &Reductions::product, "a"_a, "b"_a)
        .def("size_of", &Reductions::size_of, "extents"_a);
}

}  // namespace

void bind_knossos_functions(nb::module_& module) {
    using namespace nb::literals;
    bind_storage(module);
    bind_makers(module);
    bind_kernel_parts(module);
    nb::class_<ArrayFunctions>(module, "ArrayFunctions", "All that writes a procedure with arrays.")
        .def(
            "__init__",
            [](ArrayFunctions* self, ir::DType dtype, knossos::Found& found,
               std::set<std::string> assigned, std::map<std::string, int> counts,
               nb::callable known) {
                new (self) ArrayFunctions(dtype, found, std::move(assigned), std::move(counts),
                                          known_by(known));
            },
            "dtype"_a, "found"_a, "assigned"_a, "counts"_a, "known"_a, nb::keep_alive<1, 3>())
        .def_ro("operators", &ArrayFunctions::operators)
        .def_ro("code", &ArrayFunctions::code)
        .def_ro("integers", &ArrayFunctions::integers)
        .def_ro("sharing", &ArrayFunctions::sharing)
        .def_ro("storage", &ArrayFunctions::storage)
        .def_ro("elements", &ArrayFunctions::elements)
        .def_ro("slices", &ArrayFunctions::slices)
        .def_ro("makers", &ArrayFunctions::makers)
        .def_ro("reductions", &ArrayFunctions::reductions)
        .def(
            "call",
            [](ArrayFunctions& self, const std::string& function, std::vector<Value> arguments,
               const nb::dict& named) {
                return self.call(function, std::move(arguments), named_from(named));
            },
            "function"_a, "arguments"_a, "named"_a,
            "The function of that name of arrays; None for one that is not known.")
        .def(
            "einsum",
            [](ArrayFunctions& self, const std::string& subscripts,
               const std::vector<Value>& arrays) { return self.einsum.call(subscripts, arrays); },
            "subscripts"_a, "arrays"_a)
        .def("binary", &ArrayFunctions::binary, "symbol"_a, "a"_a, "b"_a)
        .def("unary", &ArrayFunctions::unary, "symbol"_a, "value"_a)
        .def("compare", &ArrayFunctions::compare, "symbol"_a, "a"_a, "b"_a)
        .def("in_kind", &ArrayFunctions::in_kind, "array"_a, "kind"_a)
        .def("attribute", &ArrayFunctions::attribute, "array"_a, "name"_a)
        .def_static("makes_arrays", &ArrayFunctions::makes_arrays, "function"_a);
}

}  // namespace composit::python::of_kernels
