#include "function_object.h"

#include <cstddef>
#include <structmember.h>

namespace composit::python {
namespace {

namespace nb = nanobind;

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(as_function(self)->dictionary);
    Py_VISIT(as_function(self)->function);
    Py_VISIT(as_function(self)->otherwise);
    return 0;
}

int clear(PyObject* self) {
    Py_CLEAR(as_function(self)->dictionary);
    Py_CLEAR(as_function(self)->function);
    Py_CLEAR(as_function(self)->otherwise);
    return 0;
}

void dealloc(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (as_function(self)->weak) PyObject_ClearWeakRefs(self);
    clear(self);
    delete as_function(self)->state;
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* bound(PyObject* self, PyObject* object, PyObject*) {
    if (!object || object == Py_None) return Py_NewRef(self);
    return PyMethod_New(self, object);
}

PyObject* text(PyObject* self) {
    PyObject* const name = PyObject_GetAttrString(self, "__qualname__");
    if (!name) return nullptr;
    PyObject* const made = PyUnicode_FromFormat("<function %U at %p>", name, self);
    Py_DECREF(name);
    return made;
}

// Found again by its name, in its module.
PyObject* reduced(PyObject* self, PyObject*) {
    return PyObject_GetAttrString(self, "__qualname__");
}

PyMethodDef methods[] = {{"__reduce__", reduced, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dictionary), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

nb::object make_function_type(const char* name, newfunc make) {
    PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("A function over tensors.")},
                           {Py_tp_new, reinterpret_cast<void*>(make)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                           {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                           {Py_tp_clear, reinterpret_cast<void*>(clear)},
                           {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                           {Py_tp_descr_get, reinterpret_cast<void*>(bound)},
                           {Py_tp_repr, reinterpret_cast<void*>(text)},
                           {Py_tp_methods, methods},
                           {Py_tp_members, members},
                           {Py_tp_getset, properties},
                           {0, nullptr}};
    PyType_Spec spec = {name, sizeof(FunctionObject), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                            Py_TPFLAGS_METHOD_DESCRIPTOR,
                        slots};
    PyObject* const type = PyType_FromSpec(&spec);
    if (!type) throw nb::python_error();
    return nb::steal(type);
}

PyObject* new_function_object(PyTypeObject* type, vectorcallfunc call, PyObject* function,
                              PyObject* otherwise) {
    PyObject* const self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    as_function(self)->call = call;
    as_function(self)->function = Py_NewRef(function);
    as_function(self)->otherwise = Py_NewRef(otherwise);
    return self;
}

}  // namespace composit::python
