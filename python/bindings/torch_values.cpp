// The door of composit.torch.
#include "torch_values.h"

#include "casters.h"
#include "provided.h"
#include "torch_objects.h"

#include <nanobind/stl/string.h>

#include <array>
#include <unordered_map>
#include <utility>

namespace composit::python {

using aten::formulas::Value;

namespace {

// What belongs to a name, which is a literal of a formula: found by its address, the second time.
template <class Make>
PyObject* of_literal(std::unordered_map<const char*, PyObject*>& known, std::string_view name,
                     Make make) {
    PyObject*& found = known[name.data()];
    if (!found) found = nb::object(make(name)).release().ptr();  // as long as the process
    return found;
}

PyObject* operation_of(std::string_view name) {
    static auto* const known = new std::unordered_map<const char*, PyObject*>;
    return of_literal(*known, name, [](std::string_view of) {
        return nb::object(provided("torch_operations")[nb::str(of.data(), of.size())]);
    });
}

class TorchDoor : public aten::formulas::Door {
  public:
    Value apply(std::string_view operation, aten::formulas::Operands operands) const override {
        constexpr size_t most = 8;
        if (operands.size() > most) return apply_many(operation, operands);
        std::array<PyObject*, most + 1> given;
        std::array<nb::object, most> made;  // of what is no tensor
        size_t count = 0;
        for (size_t i = 0; i < operands.size(); ++i) {
            PyObject* const tensor = object_in(operands[i]);
            given[i + 1] = tensor ? tensor : (made[count++] = object_of(operands[i])).ptr();
        }
        PyObject* const result =
            PyObject_Vectorcall(operation_of(operation), given.data() + 1,
                                operands.size() | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
        if (!result) throw nb::python_error();
        return value_of(nb::steal(result));
    }

    ir::Shape shape(void* object) const override {
        const nb::handle tensor = handle(object);
        if (is_tensor_of_torch(tensor)) return type_seen(tensor).shape;
        return nb::cast<ir::Shape>(tensor.attr("shape"));
    }
    ir::DType dtype(void* object) const override {
        const nb::handle tensor = handle(object);
        if (is_tensor_of_torch(tensor)) return type_seen(tensor).dtype;
        return dtype_from(tensor.attr("dtype"));
    }
    void retain(void* object) const override { Py_INCREF(static_cast<PyObject*>(object)); }
    void release(void* object) const override { Py_DECREF(static_cast<PyObject*>(object)); }

    // The tensor that a value is; null for others.
    [[nodiscard]] PyObject* object_in(const Value& value) const {
        const aten::formulas::Held* const held = value.held();
        return held && &held->door() == this ? static_cast<PyObject*>(held->object()) : nullptr;
    }

  private:
    static Value apply_many(std::string_view operation, aten::formulas::Operands operands) {
        nb::list given;
        for (const Value* operand : operands.all()) given.append(object_of(*operand));
        return value_of(nb::handle(operation_of(operation))(*given));
    }
    static nb::handle handle(void* object) { return static_cast<PyObject*>(object); }
};
const TorchDoor torch_door;

}  // namespace

PyObject* name_of_literal(std::string_view name) {
    static auto* const known = new std::unordered_map<const char*, PyObject*>;
    return of_literal(*known, name, [](std::string_view of) {
        PyObject* text = PyUnicode_FromStringAndSize(of.data(), static_cast<Py_ssize_t>(of.size()));
        PyUnicode_InternInPlace(&text);
        return nb::steal(text);
    });
}

nb::object object_of(const Value& value) {
    if (PyObject* const tensor = torch_door.object_in(value)) return nb::borrow(tensor);
    if (const double* real = value.real()) return nb::float_(*real);
    if (const int64_t* integer = value.integer()) return nb::int_(*integer);
    if (const bool* flag = value.flag()) return nb::bool_(*flag);
    if (value.is_shape()) return tuple_from(value.sizes());
    return nb::cast(value.tensor());
}

Value value_of(nb::object object) {
    if (is_tensor_of_torch(object)) return aten::formulas::Held(torch_door, object.release().ptr());
    if (PyFloat_CheckExact(object.ptr())) return PyFloat_AS_DOUBLE(object.ptr());
    if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
    if (PyLong_Check(object.ptr())) return nb::cast<int64_t>(object);
    if (PyFloat_Check(object.ptr())) return PyFloat_AS_DOUBLE(object.ptr());
    if (nb::hasattr(object, "dtype") && nb::hasattr(object, "item"))  // a number of NumPy's
        return value_of(object.attr("item")());
    return aten::formulas::Held(torch_door, object.release().ptr());
}

std::optional<Value> maybe_value_of(nb::handle object) {
    if (object.is_none()) return {};
    return value_of(nb::borrow(object));
}

nb::object object_of(const std::optional<Value>& value) {
    return value ? object_of(*value) : nb::none();
}

}  // namespace composit::python
