// GradFn: the records of composit.torch's tape as Python sees them.
#include "tape.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <structmember.h>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

PyTypeObject* type_of_records = nullptr;  // lives as long as the interpreter

struct RecordObject {
    PyObject ob_base;
    PyObject* hook_points;  // a list of composit/torch/hooks.py's, or null
    alignas(RecordOfObject) char record[sizeof(RecordOfObject)];
};

RecordObject* as_object(PyObject* self) { return reinterpret_cast<RecordObject*>(self); }

RecordOfObject& record_at(PyObject* self) {
    return *std::launder(reinterpret_cast<RecordOfObject*>(as_object(self)->record));
}

const char* const leaf_name = "AccumulateGrad";  // what stands for a leaf

PyObject* made_record(PyTypeObject* type, ir::Interned name,
                      std::vector<Ref<eager::TapeNode>> operands) {
    if (type != type_of_records) {  // it has fields of its own
        PyObject* const self = type->tp_alloc(type, 0);
        if (!self) throw nb::python_error();
        new (as_object(self)->record) RecordOfObject(self, name, std::move(operands));
        return self;
    }
    auto* const made = PyObject_GC_New(RecordObject, type);
    if (!made) throw nb::python_error();
    auto* const self = reinterpret_cast<PyObject*>(made);
    made->hook_points = nullptr;
    new (made->record) RecordOfObject(self, name, std::move(operands));
    PyObject_GC_Track(self);
    return self;
}

// GradFn(name, operands); what else a derived class is given is its own.
PyObject* new_record(PyTypeObject* type, PyObject* args, PyObject*) {
    return guarded([&]() -> PyObject* {
        if (PyTuple_GET_SIZE(args) < 2)
            throw TypeError("GradFn: a name and operands are required.");
        std::vector<Ref<eager::TapeNode>> operands;
        for (nb::handle operand : nb::handle(PyTuple_GET_ITEM(args, 1)))
            operands.push_back(tape_node(operand));
        const std::string name = nb::str(PyTuple_GET_ITEM(args, 0)).c_str();
        return made_record(type, ir::intern(name), std::move(operands));
    });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(as_object(self)->hook_points);
    for (const Ref<eager::TapeNode>& operand : record_at(self).operands())
        Py_VISIT(operand_of(operand.get()).ptr());
    for (const eager::SavedValue& value : record_at(self).saved())
        if (value.leaf()) Py_VISIT(operand_of(value.leaf().get()).ptr());
    return 0;
}

int clear(PyObject* self) {
    Py_CLEAR(as_object(self)->hook_points);
    record_at(self).free();
    return 0;
}

void dealloc(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(as_object(self)->hook_points);
    record_at(self).~RecordOfObject();
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* text(const std::string& said) { return PyUnicode_FromString(said.c_str()); }

PyObject* name(PyObject* self, PyObject*) { return text(*record_at(self).name()); }

PyObject* representation(PyObject* self) {
    return PyUnicode_FromFormat("<%s object at %p>", record_at(self).name()->c_str(), self);
}

nb::tuple tuple_of(const std::vector<nb::object>& items) {
    nb::tuple made = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
    for (size_t i = 0; i < items.size(); ++i)
        PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i),
                         nb::object(items[i]).release().ptr());
    return made;
}

PyObject* operands(PyObject* self, void*) {
    return guarded([&] {
        std::vector<nb::object> found;
        for (const Ref<eager::TapeNode>& operand : record_at(self).operands())
            found.push_back(nb::borrow(operand_of(operand.get())));
        return tuple_of(found).release().ptr();
    });
}

bool stands_for_leaf(PyObject* self) { return *record_at(self).name() == leaf_name; }

PyObject* next_functions(PyObject* self, void*) {
    return guarded([&] {
        std::vector<nb::object> found;
        if (!stands_for_leaf(self))
            for (const Ref<eager::TapeNode>& operand : record_at(self).operands()) {
                nb::object next = nb::borrow(operand_of(operand.get()));
                if (operand && operand->leaf())
                    next = make_record(ir::intern(leaf_name), {operand});
                found.push_back(nb::make_tuple(next, 0));
            }
        return tuple_of(found).release().ptr();
    });
}

PyObject* variable(PyObject* self, void*) {
    if (stands_for_leaf(self) && !record_at(self).operands().empty())
        return Py_NewRef(operand_of(record_at(self).operands()[0].get()).ptr());
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'",
                 record_at(self).name()->c_str());
    return nullptr;
}

PyObject* is_freed(PyObject* self, void*) { return PyBool_FromLong(record_at(self).is_freed()); }

PyObject* saves_values(PyObject* self, void*) {
    return PyBool_FromLong(eager::saves_values(record_at(self).name()));
}

PyObject* has_saved(PyObject* self, void*) {
    const RecordOfObject& record = record_at(self);
    return PyBool_FromLong(!record.saved().empty() || record.has_no_derivative());
}

PyObject* add_operand(PyObject* self, PyObject* operand) {
    return guarded([&] {
        record_at(self).add_operand(tape_node(operand));
        return Py_NewRef(Py_None);
    });
}

PyObject* retain_gradient_of(PyObject* self, PyObject* tensor) {
    return guarded([&] {
        record_at(self).retain_gradient_of(leaf_of(tensor));
        return Py_NewRef(Py_None);
    });
}

PyObject* retains_gradient_of(PyObject* self, PyObject* tensor) {
    return guarded([&] {
        const eager::Leaf* const leaf = &leaf_of(tensor);
        const auto& retained = record_at(self).retained();
        const bool is_among = std::any_of(retained.begin(), retained.end(),
                                          [leaf](const auto& one) { return one->get() == leaf; });
        return PyBool_FromLong(is_among);
    });
}

PyMethodDef methods[] = {
    {"name", name, METH_NOARGS, "The operation's name, as torch writes it."},
    {"add_operand", add_operand, METH_O, "One more that gradients go on to."},
    {"retain_gradient_of", retain_gradient_of, METH_O, "Its result keeps its gradient."},
    {"retains_gradient_of", retains_gradient_of, METH_O, "Whether it was said of that result."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"hook_points", T_OBJECT, offsetof(RecordObject, hook_points), 0,
                          "Where results have hooks (composit/torch/hooks.py), or None."},
                         {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef properties[] = {
    {"next_functions", next_functions, nullptr, "(grad_fn, 0) of each operand.", nullptr},
    {"variable", variable, nullptr, "The leaf, where this is one's.", nullptr},
    {"operands", operands, nullptr, "Records, leaves and None.", nullptr},
    {"is_freed", is_freed, nullptr, "Whether backward() freed it.", nullptr},
    {"saves_values", saves_values, nullptr, "Whether PyTorch's operation saves values.", nullptr},
    {"has_saved", has_saved, nullptr, "Whether it was told what it saves.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("What tensor.grad_fn is: the record of an operation.")},
    {Py_tp_new, reinterpret_cast<void*>(new_record)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_repr, reinterpret_cast<void*>(representation)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {0, nullptr}};

PyType_Spec spec = {"composit._core.GradFn", sizeof(RecordObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

bool is_record(nb::handle value) { return PyObject_TypeCheck(value.ptr(), type_of_records); }

const RecordOfObject& record_in(nb::handle object) { return record_at(object.ptr()); }

void free_record(nb::handle object) {
    Py_CLEAR(as_object(object.ptr())->hook_points);
    record_in(object).free();
}

nb::object make_record(ir::Interned name, std::vector<Ref<eager::TapeNode>> operands) {
    return nb::steal(made_record(type_of_records, name, std::move(operands)));
}

void bind_tape_records(nb::module_& module) {
    PyObject* const type = PyType_FromSpec(&spec);
    if (!type) throw nb::python_error();
    type_of_records = reinterpret_cast<PyTypeObject*>(type);
    module.attr("GradFn") = nb::steal(type);
}

}  // namespace composit::python
