// The functions of composit.torch, as Python calls them: what is known at this point of the trace
// is recognised at once, all else goes to a function of Python's.
#include "following.h"
#include "torch_objects.h"

#include <cstddef>
#include <structmember.h>
#include <vector>

namespace composit::python {
namespace {

// Called as an object's attribute it gets that object first, as functions of Python's do.
struct FunctionObject {
    PyObject ob_base;
    vectorcallfunc call;
    PyObject *dictionary, *weak;
    PyObject *function, *otherwise;
    char is_reflected;
};

FunctionObject* as_function(PyObject* self) { return reinterpret_cast<FunctionObject*>(self); }

// What sees calls first on this thread, or null: a function of the function that is called, its
// arguments and its named ones, which returns a result, or NotImplemented for what it leaves alone.
thread_local nb::object* before_calls = nullptr;

nb::object call_seen_first(PyObject* of, PyObject* const* values, size_t count, PyObject* names) {
    const auto named = static_cast<size_t>(names ? PyTuple_GET_SIZE(names) : 0);
    nb::object arguments = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; i < count; ++i)
        PyTuple_SET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(values[i]));
    nb::dict options;
    for (size_t i = 0; i < named; ++i)
        options[nb::handle(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)))] =
            nb::handle(values[count + i]);
    const nb::object first = *before_calls;  // it may be another within the call
    return first(nb::handle(of), arguments, options);
}

PyObject* call(PyObject* of, PyObject* const* values, size_t flagged, PyObject* names) {
    return guarded([&]() -> PyObject* {
        const FunctionObject* const self = as_function(of);
        const auto count = static_cast<size_t>(PyVectorcall_NARGS(flagged));
        nb::object made;
        if (before_calls) {
            made = call_seen_first(of, values, count, names);
            if (made.is(nb::borrow(Py_NotImplemented))) made.reset();
        } else if (self->is_reflected && count == 2 && !names) {
            PyObject* const turned[] = {values[1], values[0]};
            made = follow(self->function, turned, count, nullptr);
        } else {
            made = follow(self->function, values, count, names);
        }
        if (made.is_valid()) return made.release().ptr();
        PyObject* const result = PyObject_Vectorcall(self->otherwise, values, flagged, names);
        if (!result) throw nb::python_error();
        return result;
    });
}

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
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* new_function(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *function = nullptr, *otherwise = nullptr;
    int is_reflected = 0;
    if (!PyArg_ParseTuple(args, "OO|p", &function, &otherwise, &is_reflected)) return nullptr;
    PyObject* const self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    as_function(self)->call = call;
    as_function(self)->function = Py_NewRef(function);
    as_function(self)->otherwise = Py_NewRef(otherwise);
    as_function(self)->is_reflected = is_reflected != 0;
    return self;
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

PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("A function over Tensors.")},
                       {Py_tp_new, reinterpret_cast<void*>(new_function)},
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

PyType_Spec spec = {"composit._core.TorchFunction", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    slots};

// A function's result for a tuple and a dictionary of arguments; NotImplemented where it is
// unknown.
nb::object follow_call(nb::handle function, const nb::tuple& arguments, const nb::dict& named) {
    std::vector<PyObject*> values(arguments.size() + named.size());
    const size_t count = arguments.size();
    for (size_t i = 0; i < count; ++i)
        values[i] = PyTuple_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(i));
    nb::object names;
    if (named.size() > 0) {
        names = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(named.size())));
        size_t i = 0;
        for (auto [name, value] : named) {
            PyTuple_SET_ITEM(names.ptr(), static_cast<Py_ssize_t>(i), name.inc_ref().ptr());
            values[count + i++] = value.ptr();
        }
    }
    nb::object made = follow(function, values.data(), count, names.ptr());
    return made.is_valid() ? made : nb::borrow(Py_NotImplemented);
}

}  // namespace

void bind_torch_functions(nb::module_& module) {
    PyObject* const type = PyType_FromSpec(&spec);
    if (!type) throw nb::python_error();
    module.attr("TorchFunction") = nb::steal(type);
    module.def(
        "see_calls_first",
        [](const nb::object& function) {
            delete before_calls;
            before_calls = function.is_none() ? nullptr : new nb::object(function);
        },
        nb::arg("function").none(),
        "Functions of composit.torch that this thread calls are given to `function` first, with a "
        "tuple and a dictionary of arguments: its result is theirs, unless it is NotImplemented. "
        "None: no more.");
    module.def("follow", follow_call, nb::arg("function"), nb::arg("arguments"), nb::arg("named"),
               "An operation's result where it is known at this point of the trace; else "
               "NotImplemented.");
}

}  // namespace composit::python
