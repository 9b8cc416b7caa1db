// The functions of composit.torch, as Python calls them: what is known at this point of the trace
// is recognised at once, all else goes to a function of Python's.
#include "following.h"
#include "function_object.h"
#include "torch_objects.h"

#include <vector>

namespace composit::python {
namespace {

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

PyObject* new_function(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *function = nullptr, *otherwise = nullptr;
    int is_reflected = 0;
    if (!PyArg_ParseTuple(args, "OO|p", &function, &otherwise, &is_reflected)) return nullptr;
    PyObject* const self = new_function_object(type, call, function, otherwise);
    if (self) as_function(self)->is_reflected = is_reflected != 0;
    return self;
}

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
    module.attr("TorchFunction") = make_function_type("composit._core.TorchFunction", new_function);
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
