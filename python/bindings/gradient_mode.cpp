// torch.no_grad and its like: whether operations are recorded, for each thread.
#include "composit/eager/recording.h"
#include "torch_objects.h"

#include <cstddef>
#include <new>
#include <structmember.h>
#include <vector>

namespace composit::python {
namespace {

// Sets it within a with block, which may be entered again while it is.
struct SwitchObject {
    PyObject ob_base;
    char is_on;
    std::vector<bool> before;
};

SwitchObject* as_switch(PyObject* self) { return reinterpret_cast<SwitchObject*>(self); }

// Of a class with `of_function`: a call with a function decorates it. `is_on` is the class's.
PyObject* new_switch(PyTypeObject* type, PyObject* args, PyObject* named) {
    static PyObject* const decorate = PyUnicode_InternFromString("of_function");
    static PyObject* const usual = PyUnicode_InternFromString("usually_on");
    PyObject* const of_class = reinterpret_cast<PyObject*>(type);
    const Py_ssize_t given = PyTuple_GET_SIZE(args) + (named ? PyDict_GET_SIZE(named) : 0);
    if (given > 0 && PyObject_HasAttr(of_class, decorate)) {
        const nb::object function = nb::steal(PyObject_GetAttr(of_class, decorate));
        return function.is_valid() ? PyObject_Call(function.ptr(), args, named) : nullptr;
    }
    PyObject* const is_on = PyObject_GetAttr(of_class, usual);
    if (!is_on) return nullptr;
    PyObject* const self = type->tp_alloc(type, 0);
    if (self) {
        as_switch(self)->is_on = is_on == Py_True;
        new (&as_switch(self)->before) std::vector<bool>;
    }
    Py_DECREF(is_on);
    return self;
}

void free_switch(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    as_switch(self)->before.~vector();
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* enter(PyObject* self, PyObject*) {
    as_switch(self)->before.push_back(eager::set_recording(as_switch(self)->is_on));
    Py_RETURN_NONE;
}

PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
    std::vector<bool>& before = as_switch(self)->before;
    if (before.empty()) {
        PyErr_SetString(PyExc_RuntimeError, "the with block was not entered");
        return nullptr;
    }
    eager::set_recording(before.back());
    before.pop_back();
    Py_RETURN_NONE;
}

PyMethodDef switch_methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave)), METH_FASTCALL,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef switch_members[] = {{"is_on", T_BOOL, offsetof(SwitchObject, is_on), 0, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};

PyType_Slot switch_slots[] = {
    {Py_tp_doc, const_cast<char*>("Sets whether operations are recorded, within a with block.")},
    {Py_tp_new, reinterpret_cast<void*>(new_switch)},
    {Py_tp_dealloc, reinterpret_cast<void*>(free_switch)},
    {Py_tp_methods, switch_methods},
    {Py_tp_members, switch_members},
    {0, nullptr}};

PyType_Spec switch_spec = {"composit._core.GradientSwitch", sizeof(SwitchObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, switch_slots};

}  // namespace

void bind_gradient_mode(nb::module_& module) {
    PyObject* const type = PyType_FromSpec(&switch_spec);
    if (!type) throw nb::python_error();
    module.attr("GradientSwitch") = nb::steal(type);
    module.def("is_recording", eager::is_recording,
               "Whether this thread's operations are recorded.");
    module.def("set_recording", eager::set_recording,
               "Sets whether they are; returns whether they were.");
}

}  // namespace composit::python
