// Each bound function gets a wrapper around nanobind's entry point, which costs a call when all is
// well. It keeps the caller's floating-point state out, and explains arguments that do not match.
// The field that holds the entry point is found by CPython's vectorcall protocol (PEP 590).
#include "arguments.h"

#include "provided.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace composit::python {
namespace {

namespace nb = nanobind;

constexpr size_t most_entries = 8;  // nanobind has six
std::array<vectorcallfunc, most_entries> entries{};

// The error that is set, if it is nanobind's about arguments, in our words.
void explain(PyObject* const* arguments, size_t flags, PyObject* names) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return;
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    const nb::str text(nb::handle{value});
    if (std::string_view(text.c_str()).find("(): incompatible function arguments.") ==
        std::string_view::npos) {
        PyErr_Restore(type, value, trace);
        return;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    try {
        const size_t count = flags & 0xffffffff;  // above are CPython's and nanobind's flags
        nb::list positional;
        for (size_t i = 0; i < count; ++i) positional.append(nb::borrow(arguments[i]));
        nb::dict named;
        const Py_ssize_t named_count = names ? PyTuple_GET_SIZE(names) : 0;
        for (Py_ssize_t i = 0; i < named_count; ++i)
            named[nb::handle(PyTuple_GET_ITEM(names, i))] =
                nb::borrow(arguments[count + static_cast<size_t>(i)]);
        const nb::object message = provided("explained")(text, positional, named);
        PyErr_SetObject(PyExc_TypeError, message.ptr());
    } catch (nb::python_error& error) {
        error.restore();
    }
}

template <size_t entry>
PyObject* call(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* names) {
    try {
        const Entered entered;
        PyObject* result = entries[entry](self, arguments, flags, names);
        if (!result) [[unlikely]]
            explain(arguments, flags, names);
        return result;
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
}

template <size_t... entry>
constexpr std::array<vectorcallfunc, most_entries> calls_of(std::index_sequence<entry...>) {
    return {call<entry>...};
}
constexpr auto calls = calls_of(std::make_index_sequence<most_entries>());

void wrap_entry(nb::handle function) {
    auto* const field = reinterpret_cast<vectorcallfunc*>(
        reinterpret_cast<char*>(function.ptr()) + Py_TYPE(function.ptr())->tp_vectorcall_offset);
    for (const vectorcallfunc known : calls)
        if (*field == known) return;
    size_t entry = 0;
    while (entry < most_entries && entries[entry] && entries[entry] != *field) ++entry;
    internal_check(entry < most_entries, "nanobind has more than ", most_entries, " entry points");
    entries[entry] = *field;
    *field = calls[entry];
}

void wrap_all(nb::handle members) {
    for (nb::handle member : nb::list(members.attr("values")())) {
        const std::string_view type = Py_TYPE(member.ptr())->tp_name;
        if (type == "nanobind.nb_func" || type == "nanobind.nb_method")
            wrap_entry(member);
        else if (PyModule_Check(member.ptr()) || nb::type_check(member))
            wrap_all(member.attr("__dict__"));
    }
}

}  // namespace

std::string mismatch(nb::handle value, const char* required) {
    return nb::str(provided("wrong")(value, required)).c_str();
}

std::string in_the_words_of_the_call(const std::string& message) {
    const nb::object said = provided("renamed")(message.c_str());
    return nb::str(said).c_str();
}

void wrap_calls(nb::module_& module) { wrap_all(module.attr("__dict__")); }

}  // namespace composit::python
