// Values of kernels as objects of Python.
#include "casters.h"
#include "knossos.h"
#include "provided.h"

#include <nanobind/stl/shared_ptr.h>

#include <memory>
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
using knossos::Value;

// The class that made a record.
class MadeBy : public knossos::RecordType {
  public:
    explicit MadeBy(nb::object kind) : kind(std::move(kind)) {}
    std::string name() const override {
        return nb::cast<std::string>(nb::object(kind.attr("__name__")));
    }
    const void* identity() const override { return kind.ptr(); }
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
    const void* identity() const override { return object.ptr(); }
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

// What only C++ knows, such as a function that a kernel defines.
struct OtherValue {
    std::shared_ptr<const knossos::Other> other;
};

}  // namespace

std::shared_ptr<const knossos::Other> python_object(nb::object object) {
    return std::make_shared<PythonObject>(std::move(object));
}

nb::object object_behind(const knossos::Other& other) {
    if (const auto* found = dynamic_cast<const PythonObject*>(&other)) return found->object;
    return nb::cast(OtherValue{other.shared_from_this()});
}

std::shared_ptr<const knossos::RecordType> record_type(nb::object kind) {
    return std::make_shared<MadeBy>(std::move(kind));
}

std::string text_in_utf8(nb::handle text) {
    const auto bytes =
        nb::cast<nb::bytes>(nb::object(text.attr("encode")("utf-8", "backslashreplace")));
    return {bytes.c_str(), bytes.size()};
}

Deeper::Deeper() {
    constexpr int deepest = 4000;  // the stack of a thread holds more
    if (depth_ >= deepest) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded in a kernel");
        throw nb::python_error();
    }
    if (Py_EnterRecursiveCall(" in a kernel")) throw nb::python_error();
    ++depth_;
}

Deeper::~Deeper() {
    --depth_;
    Py_LeaveRecursiveCall();
}

thread_local int Deeper::depth_ = 0;

Value value_from(nb::handle value) {
    const Deeper deeper;
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
    if (PyUnicode_Check(object)) {
        const char* const text = PyUnicode_AsUTF8(object);
        if (!text) PyErr_Clear();  // of lone surrogates: no name of a kind
        if (const auto kind = text ? knossos::kind_named(text) : std::nullopt) return *kind;
    }
    if (nb::isinstance<OtherValue>(value)) return nb::cast<const OtherValue&>(value).other;
    return python_object(nb::borrow(value));
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
    return object_behind(**value.as<std::shared_ptr<const knossos::Other>>());
}

void bind_knossos(nb::module_& module) {
    nb::class_<Array>(module, "Array", "A value with axes.")
        .def_ro("kind", &Array::kind)
        .def_prop_ro("shape", [](const Array& self) { return objects_of(self.shape); })
        .def("__repr__", &Array::outline);
    nb::class_<OtherValue>(module, "OtherValue", "What only the translation knows.")
        .def("__repr__", [](const OtherValue& self) { return self.other->text(); });
    module.def("kind_of", &knossos::kind_of, nb::arg("value"),
               "bool, int or float; of anything else what it is, as a text for errors.");
    bind_knossos_syntax(module);
    bind_knossos_structures(module);
    bind_knossos_translation(module);
}

}  // namespace composit::python::of_kernels
