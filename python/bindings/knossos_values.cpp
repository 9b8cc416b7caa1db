// Values of kernels as objects of Python.
#include "casters.h"
#include "knossos.h"
#include "provided.h"
#include "shown.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace composit::python::of_kernels {
namespace {

using knossos::Array;
using knossos::ArrayRef;
using knossos::Expr;
using knossos::Kind;
using knossos::Line;
using knossos::Operators;
using knossos::Stored;
using knossos::Value;

// The class that made a record.
class MadeBy : public knossos::RecordType {
  public:
    explicit MadeBy(nb::object kind) : kind(std::move(kind)) {}
    std::string name() const override {
        return nb::cast<std::string>(nb::object(kind.attr("__name__")));
    }
    bool is_tuple() const override {
        return PyType_Check(kind.ptr()) &&
               PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(kind.ptr()), &PyTuple_Type);
    }
    nb::object kind;
};

class PythonObject : public knossos::Other {
  public:
    explicit PythonObject(nb::object object) : object(std::move(object)) {}
    std::string text() const override { return nb::repr(object).c_str(); }
    nb::object object;
};

// Classes that Python provides, each asked for once.
const nb::object& listed() {
    static const nb::object& kind = *new nb::object(provided("knossos_listed"));
    return kind;
}

const nb::object& record_class() {
    static const nb::object& kind = *new nb::object(provided("knossos_record"));
    return kind;
}

Value integer_or_large(nb::handle value) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return static_cast<int64_t>(number);
    const nb::object plain = nb::steal(PyNumber_Long(value.ptr()));
    return knossos::Large{nb::str(plain).c_str()};
}

Value record_from(nb::handle value) {
    knossos::Record record;
    record.made_by = std::make_shared<MadeBy>(value.attr("made_by"));
    for (auto [name, part] : nb::borrow<nb::dict>(nb::object(value.attr("fields"))))
        record.fields.emplace_back(nb::cast<std::string>(name), value_from(part));
    return std::make_shared<const knossos::Record>(std::move(record));
}

nb::object record_of(const knossos::Record& record) {
    nb::dict fields;
    for (const auto& [name, part] : record.fields) fields[name.c_str()] = object_of(part);
    const auto* made_by = dynamic_cast<const MadeBy*>(record.made_by.get());
    return record_class()(made_by->kind, fields);
}

Array::At at_by(nb::object function) {
    return [function](const knossos::Index& indices) {
        return value_from(nb::object(function(nb::list(objects_of(indices)))));
    };
}

nb::object elsewhere_of(const Array& array) {
    nb::list made;
    for (const auto& each : array.elsewhere)
        if (const Line* line = std::get_if<Line>(&each))
            made.append(nb::cast(*line));
        else
            made.append(std::get<int>(each));
    return nb::steal(PyFrozenSet_New(made.ptr()));
}

void bind_arrays_of_kernels(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Line>(module, "Line",
                     "Elements along one axis of an array, wherever on the others they are.")
        .def_ro("array", &Line::array)
        .def_ro("axis", &Line::axis)
        .def_ro("begin", &Line::begin)
        .def_ro("step", &Line::step)
        .def("__eq__",
             [](const Line& self, nb::handle other) {
                 return nb::isinstance<Line>(other) && self == nb::cast<const Line&>(other);
             })
        .def("__hash__", [](const Line& self) { return self.array * 31 + self.axis; });
    nb::class_<Array>(module, "Array", "A value with axes: `at(indices)` is one of its numbers.")
        .def(
            "__init__",
            [](Array* self, Kind kind, nb::tuple shape, nb::callable at, knossos::Numbers reads,
               int is_list, bool is_zero, knossos::Numbers parts_of) {
                new (self) Array(kind, values_from(shape), at_by(at),
                                 {.reads = std::move(reads),
                                  .lists = is_list,
                                  .is_zero = is_zero,
                                  .parts_of = std::move(parts_of)});
            },
            "kind"_a, "shape"_a, "at"_a, "reads"_a = knossos::Numbers(), "is_list"_a = 0,
            "is_zero"_a = false, "parts_of"_a = knossos::Numbers())
        .def_ro("kind", &Array::kind)
        .def_prop_ro("shape", [](const Array& self) { return objects_of(self.shape); })
        .def(
            "at", [](const Array& self, nb::list indices) { return self.at(values_from(indices)); },
            "indices"_a, "One of its numbers.")
        .def_prop_ro("reads",
                     [](const Array& self) {
                         return nb::steal(PyFrozenSet_New(nb::cast(self.reads).ptr()));
                     })
        .def_prop_ro("parts_of",
                     [](const Array& self) {
                         return nb::steal(PyFrozenSet_New(nb::cast(self.parts_of).ptr()));
                     })
        .def_prop_ro("elsewhere", elsewhere_of)
        .def_rw("is_list", &Array::lists)
        .def_ro("is_zero", &Array::is_zero)
        .def("needs_others", &Array::needs_others, "number"_a, "line"_a = nb::none(),
             "Whether an element needs others of the array of that number than the one that is "
             "stored in its place.")
        .def("__repr__", &Array::outline);
    nb::class_<Stored, Array>(module, "Stored", "An argument or a local array.")
        .def_ro("number", &Stored::number)
        .def_rw("name", &Stored::name)
        .def_ro("is_argument", &Stored::is_argument);
}

void bind_operators_of_kernels(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Operators>(module, "Operators", "Python's operators, in one floating dtype.")
        .def_ro("dtype", &Operators::dtype)
        .def("dtype_of", &Operators::dtype_of, "kind"_a)
        .def("cast", &Operators::cast, "value"_a, "kind"_a,
             "A number as an expression of a kind that holds it.")
        .def("truth", &Operators::truth, "value"_a, "Whether the number is not zero.")
        .def("binary", &Operators::binary, "symbol"_a, "a"_a, "b"_a)
        .def("unary", &Operators::unary, "symbol"_a, "value"_a)
        .def("compare", &Operators::compare, "symbol"_a, "a"_a, "b"_a)
        .def(
            "both",
            [](const Operators& self, const Value& a, const Value& b, bool is_or) {
                return self.both(a, b, is_or ? knossos::Op::bit_or : knossos::Op::bit_and);
            },
            "a"_a, "b"_a, "is_or"_a = false, "a and b, or a or b, of bools.")
        .def("select", &Operators::select, "condition"_a, "a"_a, "b"_a, "a if condition else b")
        .def("call", &knossos::call_function, "function"_a, "arguments"_a,
             "The function of that name of numbers; None for one that kernels cannot call.");
}

}  // namespace

knossos::KnownFunction known_by(nb::object function) {
    return [function](const std::string& name, const std::vector<Value>& numbers) {
        return value_from(nb::object(function(name, nb::list(objects_of(numbers)))));
    };
}

Value value_from(nb::handle value) {
    PyObject* const object = value.ptr();
    if (object == Py_None) return {};
    if (PyBool_Check(object)) return object == Py_True;
    if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
    if (PyLong_Check(object)) return integer_or_large(value);
    if (nb::isinstance<Expr>(value)) return nb::cast<Expr>(value);
    if (nb::isinstance<Array>(value)) return nb::cast<ArrayRef>(value);
    if (nb::isinstance(value, record_class())) return record_from(value);
    if (PyTuple_Check(object))
        return knossos::tuple_of(values_from(value), nb::isinstance(value, listed()));
    if (PyUnicode_Check(object))
        if (const auto kind = knossos::kind_named(nb::cast<std::string>(value))) return *kind;
    return std::shared_ptr<const knossos::Other>(std::make_shared<PythonObject>(nb::borrow(value)));
}

std::vector<Value> values_from(nb::handle sequence) {
    std::vector<Value> values;
    for (nb::handle each : sequence) values.push_back(value_from(each));
    return values;
}

nb::tuple objects_of(const std::vector<Value>& values) {
    nb::tuple made = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i)
        PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i),
                         object_of(values[i]).release().ptr());
    return made;
}

nb::object object_of(const Value& value) {
    if (value.is_nothing()) return nb::none();
    if (const Expr* expression = value.expr()) return nb::cast(*expression);
    if (const auto* truth = value.as<bool>()) return nb::bool_(*truth);
    if (const auto* whole = value.as<int64_t>()) return nb::int_(*whole);
    if (const auto* number = value.as<double>()) return nb::float_(*number);
    if (const auto* large = value.as<knossos::Large>())
        return nb::steal(PyLong_FromString(large->digits.c_str(), nullptr, 10));
    if (const auto* kind = value.as<Kind>()) return nb::cast(*kind);
    if (const ArrayRef array = value.array()) return nb::cast(array);
    if (const knossos::Tuple* tuple = value.tuple()) {
        nb::object made = objects_of(tuple->parts);
        return tuple->is_list ? nb::object(listed()(made)) : made;
    }
    if (const knossos::Record* record = value.record()) return record_of(*record);
    const auto& other = *value.as<std::shared_ptr<const knossos::Other>>();
    return dynamic_cast<const PythonObject&>(*other).object;
}

void bind_knossos(nb::module_& module) {
    bind_arrays_of_kernels(module);
    bind_operators_of_kernels(module);
    module.def("kind_of", &knossos::kind_of, nb::arg("value"),
               "bool, int or float; of anything else what it is, as a text for errors.");
    module.def("with_article", &knossos::with_article, nb::arg("kind"));
    module.def(
        "scalar", [](const Value& value) { return knossos::scalar(value); }, nb::arg("value"),
        "The value itself, which must be one number.");
    module.def("same", &knossos::same, nb::arg("a"), nb::arg("b"),
               "Whether two extents are the same for certain.");
    module.def("variables_of", &knossos::variables_of, nb::arg("value"),
               "The variables that an expression reads.");
    module.def("is_elementwise", &knossos::is_elementwise, nb::arg("function"));
    bind_knossos_code(module);
    bind_knossos_functions(module);
    bind_knossos_syntax(module);
}

}  // namespace composit::python::of_kernels
