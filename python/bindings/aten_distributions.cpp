// Formulas of composit/aten/distributions.h and transforms.h over tensors of composit.torch: each
// operation is the function that composit.torch has under its name, and is recorded by it.
#include "aten.h"
#include "casters.h"
#include "composit/aten/distributions.h"
#include "composit/aten/transforms.h"
#include "composit/base/error.h"
#include "provided.h"
#include "torch_objects.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <unordered_map>
#include <utility>

namespace composit::python {
namespace {

using aten::Formula;
using aten::Parameters;
using aten::formulas::Value;

nb::object object_of(const Value& value);
Value value_of(nb::object object);

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

PyObject* attribute_of(std::string_view name) {
    static auto* const known = new std::unordered_map<const char*, PyObject*>;
    return of_literal(*known, name, [](std::string_view of) {
        PyObject* text = PyUnicode_FromStringAndSize(of.data(), static_cast<Py_ssize_t>(of.size()));
        PyUnicode_InternInPlace(&text);
        return nb::steal(text);
    });
}

class TorchDoor : public aten::formulas::Door {
  public:
    Value apply(std::string_view operation, aten::formulas::Operands operands) const override {
        constexpr size_t most = 8;
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
    static nb::handle handle(void* object) { return static_cast<PyObject*>(object); }
};
const TorchDoor torch_door;

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
    return aten::formulas::Held(torch_door, object.release().ptr());
}

// An object's attributes; methods are called.
class Attributes : public Parameters {
  public:
    explicit Attributes(nb::handle of) : of_(of) {}
    Value operator()(std::string_view name) const override {
        nb::object found = nb::steal(PyObject_GetAttr(of_.ptr(), attribute_of(name)));
        if (!found.is_valid()) throw nb::python_error();
        if (!is_tensor_of_torch(found) && PyCallable_Check(found.ptr())) found = found();
        return value_of(std::move(found));
    }

  private:
    nb::handle of_;
};

PyObject* call_formula(PyObject* self, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        user_check<TypeError>(count > 0, "a formula needs the object whose parameters it reads.");
        const auto formula = reinterpret_cast<Formula>(PyCapsule_GetPointer(self, nullptr));
        const Attributes of(given[0]);
        if (count == 1) return object_of(formula(of, {})).release().ptr();
        if (count == 2) {
            const std::array<Value, 1> values{value_of(nb::borrow(given[1]))};
            return object_of(formula(of, values)).release().ptr();
        }
        std::vector<Value> values;
        for (Py_ssize_t i = 1; i < count; ++i) values.push_back(value_of(nb::borrow(given[i])));
        return object_of(formula(of, values)).release().ptr();
    });
}

// A function of an object and of what is given beside it; None for no formula.
nb::object bound(Formula formula) {
    static PyMethodDef method = {
        "formula", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call_formula)),
        METH_FASTCALL, "A formula of an object's attributes and of tensors."};
    if (!formula) return nb::none();
    const nb::object self =
        nb::steal(PyCapsule_New(reinterpret_cast<void*>(formula), nullptr, nullptr));
    return nb::steal(PyCFunction_New(&method, self.ptr()));
}

}  // namespace

void bind_aten_distributions(nb::module_& module) {
    module.def("distribution_formula", [](std::string_view family, std::string_view asked) {
        return bound(aten::distribution_formula(family, asked));
    });
    module.def("transform_formula", [](std::string_view transform, std::string_view asked) {
        return bound(aten::transform_formula(transform, asked));
    });
    module.def("distribution_quantities", &aten::distribution_quantities);
    const auto form = [&](const char* name, auto function) {
        module.def(name, [function](const ir::Shape& other, const aten::MatrixShapes& matrices) {
            const aten::MatrixForm found = function(other, matrices);
            return nb::make_tuple(found.number, tuple_from(found.batch));
        });
    };
    form("normal_form", aten::normal_form);
    form("wishart_form", aten::wishart_form);
    module.def("low_rank_batch",
               [](const ir::Shape& loc, const ir::Shape& cov_factor, const ir::Shape& cov_diag) {
                   return tuple_from(aten::low_rank_batch(loc, cov_factor, cov_diag));
               });
    module.def("check_sample_shape", &aten::check_sample_shape);
    module.def("composed_event_dims", &aten::composed_event_dims);
    module.def("reshaped_event", &aten::reshaped_event);
    module.def("matrices_of_below", &aten::matrices_of_below);
    module.def("below_of_matrices", &aten::below_of_matrices);
    module.def("check_mixture", &aten::check_mixture);
    module.def("divergence_pairs", &aten::divergence_pairs);
    module.def("divergence_formula", [](std::string_view p, std::string_view q) -> nb::object {
        const aten::Divergence formula = aten::divergence_formula(p, q);
        if (!formula) return nb::none();
        return nb::cpp_function([formula](nb::handle of_p, nb::handle of_q) {
            return object_of(formula(Attributes(of_p), Attributes(of_q)));
        });
    });
}

}  // namespace composit::python
