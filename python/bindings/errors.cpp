// composit's errors as NumPy's exception classes, with the user's line at the end of the message.
#include "arguments.h"
#include "bindings.h"
#include "composit/base/assertion_error.h"
#include "composit/runtime/interrupt.h"
#include "interpreter_lock.h"
#include "location.h"
#include "values.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <new>
#include <stdexcept>

namespace composit::python {
namespace {

namespace nb = nanobind;

// Classes of composit.errors that Python and NumPy have no name for.
PyObject* not_supported = nullptr;
PyObject* out_of_memory = nullptr;
PyObject* internal_error = nullptr;
PyObject* pytorch_value_error = nullptr;

PyObject* make_class(nb::module_& module, const char* name, PyObject* base, const char* doc) {
    const std::string full_name = std::string("composit.errors.") + name;
    PyObject* made = PyErr_NewExceptionWithDoc(full_name.c_str(), doc, base, nullptr);
    if (!made) throw nb::python_error();
    module.attr(name) = nb::borrow(made);
    return made;
}

void raise(nb::handle exception, const std::exception& error) {
    const std::string message = with_location(in_the_words_of_the_call(error.what()));
    PyErr_SetString(exception.ptr(), message.c_str());
}

// The user's line as a note (PEP 678): the message stays as it is.
void raise_with_note(nb::handle exception, const std::exception& error) {
    const nb::object made = exception(nb::str(error.what()));
    if (const ir::Interned location = user_location())
        made.attr("add_note")(nb::str(("[" + *location + "]").c_str()));
    PyErr_SetObject(exception.ptr(), made.ptr());
}

// What Python code raises: an exception of a class, with the user's line at the end of its message.
void def_located(nb::module_& module, const char* name, nb::handle kind, const char* signature) {
    module.def(
        name, [kind](const std::string& text) { return kind(with_location(text)); },
        nb::sig(signature));
}

nb::object numpy_class(const char* module, const char* name) {
    return nb::module_::import_(module).attr(name);
}

// Throws on what is none of composit's and of memory.
void translate_known(const std::exception_ptr& pointer) {
    static const Error too_large(
        "the memory for this call's nodes is not available. Free memory, or ask for less.");
    try {
        std::rethrow_exception(pointer);
    } catch (const AxisError& error) {
        raise(numpy_class("numpy.exceptions", "AxisError"), error);
    } catch (const LinAlgError& error) {
        raise(numpy_class("composit._linear_algebra_error", "LinAlgError"), error);
    } catch (const PyTorchValueError& error) {
        raise(pytorch_value_error, error);
    } catch (const VerbatimValueError& error) {
        raise_with_note(PyExc_ValueError, error);
    } catch (const ValueError& error) {
        raise(PyExc_ValueError, error);
    } catch (const TypeError& error) {
        raise(PyExc_TypeError, error);
    } catch (const IndexError& error) {
        raise(PyExc_IndexError, error);
    } catch (const KeyError& error) {
        raise(PyExc_KeyError, error);
    } catch (const OverflowError& error) {
        raise(PyExc_OverflowError, error);
    } catch (const ZeroDivisionError& error) {
        raise(PyExc_ZeroDivisionError, error);
    } catch (const AssertionError& error) {
        raise(PyExc_AssertionError, error);
    } catch (const NotSupported& error) {
        raise(not_supported, error);
    } catch (const OutOfMemory& error) {
        raise(out_of_memory, error);
    } catch (const FileNotFound& error) {
        raise(PyExc_FileNotFoundError, error);
    } catch (const InputOutputError& error) {
        raise(PyExc_OSError, error);
    } catch (const RuntimeError& error) {
        raise(PyExc_RuntimeError, error);
    } catch (const InternalError& error) {
        raise(internal_error, error);
    } catch (const runtime::Interrupted&) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const Error& error) {
        raise(PyExc_RuntimeError, error);
    } catch (const std::bad_alloc&) {
        raise(PyExc_MemoryError, too_large);
    } catch (const std::length_error&) {
        raise(PyExc_MemoryError, too_large);
    }
}

// The same. Words for the error may be Python's, and there may be no memory for them.
void translate(const std::exception_ptr& pointer, void*) {
    try {
        translate_known(pointer);
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    }
}

// Whether Ctrl-C was pressed, for the thread that Python interrupts, with Python's own handler.
// Another handler is the user's business: it runs when the work is done.
bool is_interrupted() {
    const Acquired acquired;
    if (!PyOS_InterruptOccurred()) return false;
    const nb::module_ signals = nb::module_::import_("signal");
    const nb::object handler = signals.attr("getsignal")(signals.attr("SIGINT"));
    if (handler.is(signals.attr("default_int_handler"))) return true;
    PyErr_SetInterrupt();
    return false;
}

}  // namespace

void set_python_error() noexcept {
    try {
        translate(std::current_exception(), nullptr);
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
}

void bind_errors(nb::module_& module) {
    not_supported =
        make_class(module, "NotSupported", PyExc_NotImplementedError,
                   "Something that composit does not do, or not yet; the message names it.");
    internal_error = make_class(module, "InternalError", PyExc_RuntimeError,
                                "A bug in composit, not in the program that met it.");
    pytorch_value_error =
        make_class(module, "PyTorchValueError", PyExc_ValueError,
                   "What an operation raises where PyTorch raises ValueError: other ValueErrors of "
                   "operations are RuntimeErrors, which PyTorch's are.");
    const nb::tuple memory_errors =
        nb::make_tuple(nb::handle(PyExc_MemoryError), nb::handle(PyExc_RuntimeError));
    out_of_memory = make_class(module, "OutOfMemoryError", memory_errors.ptr(),
                               "Memory, of the host or of a device, that is not there: Python's "
                               "MemoryError, and a RuntimeError as PyTorch's.");
    nb::register_exception_translator(translate);
    runtime::set_interrupt_check(is_interrupted);
    module.def("user_location", [] {
        const ir::Interned location = user_location();
        return location ? *location : std::string();
    });
    module.def("add_internal_folder",
               [](const std::string& folder) { add_internal_folder(folder); });
    module.def(
        "called",
        [](const nb::object& function, const nb::args& args, const nb::kwargs& kwargs) {
            return function(*args, **kwargs);
        },
        "function(*args, **kwargs) in the state that bound functions run in (arguments.cpp).");
    module.def("integer", &integer_from, nb::arg().none());
    module.def(
        "integers", [](nb::handle value) { return tuple_from(integers_from(value)); },
        nb::arg().none());
    module.def("number", &number_from, nb::arg().none());
    module.def(
        "public_frame",
        []() -> nb::object {
            PyObject* frame = public_frame();
            return frame ? nb::steal(frame) : nb::none();
        },
        nb::sig("def public_frame() -> object"));
    module.def("with_location", [](const std::string& text) { return with_location(text); });
    def_located(module, "value_error", PyExc_ValueError,
                "def value_error(text: str) -> ValueError");
    def_located(module, "type_error", PyExc_TypeError, "def type_error(text: str) -> TypeError");
    def_located(module, "index_error", PyExc_IndexError,
                "def index_error(text: str) -> IndexError");
    def_located(module, "runtime_error", PyExc_RuntimeError,
                "def runtime_error(text: str) -> RuntimeError");
    def_located(module, "not_implemented", PyExc_NotImplementedError,
                "def not_implemented(text: str) -> NotImplementedError");
    def_located(module, "not_supported", not_supported,
                "def not_supported(text: str) -> NotSupported");
}

}  // namespace composit::python
