#include "error_handling.h"

#include "composit/base/text.h"
#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/string.h>

#include <Python.h>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

namespace nb = nanobind;

// What follow_errstate was given; never released, as nodes may outlive the interpreter.
struct Source {
    PyObject* variable = nullptr;
    PyObject* settings = nullptr;
    PyObject* warn = nullptr;
};
Source source;

constexpr std::array<const char*, 4> kind_names{"divide", "over", "under", "invalid"};
constexpr std::array<const char*, 4> kind_words{"divide by zero", "overflow", "underflow",
                                                "invalid value"};

// An error, of those that NumPy's errstate has answers for.
struct Met {
    const char* words;
    const std::string& operation;
    uint8_t kinds;
    const Place& place;
};

// errstate's "call", an object or none.
nb::object called_for(const nb::dict& settings, const char* answer, const Met& met,
                      const char* missing) {
    nb::object call = settings["call"];
    if (!call.is_none()) return call;
    const std::string said = text(answer, " specified for ", met.words, " (in ", met.operation,
                                  ") but no ", missing, " found.");
    PyErr_SetString(PyExc_NameError, said.c_str());
    throw nb::python_error();
}

void answer_error(const nb::dict& settings, const std::string& answer, const Met& met) {
    const std::string message = text(met.words, " encountered in ", met.operation);
    if (answer == "warn") {
        nb::handle(source.warn)(message, met.place.path, met.place.line);
    } else if (answer == "raise") {
        const std::string file = met.place.path.substr(met.place.path.rfind('/') + 1);
        const std::string said =
            file.empty() ? message : text(message, " [", file, ":", met.place.line, "]");
        PyErr_SetString(PyExc_FloatingPointError, said.c_str());
        throw nb::python_error();
    } else if (answer == "print") {
        const nb::object out = nb::module_::import_("sys").attr("stderr");
        out.attr("write")("Warning: " + message + "\n");
    } else if (answer == "call") {
        called_for(settings, "python callback", met, "function")(met.words, met.kinds);
    } else if (answer == "log") {
        called_for(settings, "log", met, "object with write method")
            .attr("write")("Warning: " + message + "\n");
    }
}

class PythonErrorHandling final : public ir::ErrorHandling {
  public:
    PythonErrorHandling(uint8_t reported, bool at_once, bool under_filters,
                        const nb::object& settings)
        : ErrorHandling(reported, at_once),
          under_filters_(under_filters),
          settings_(settings.inc_ref().ptr()) {}

    PyObject* settings() const { return settings_; }
    bool under_filters() const { return under_filters_; }

    void report(const std::string& operation, uint8_t kinds, ir::Interned line) const override {
        const Acquired acquired;
        const Place place = place_of(line);
        if (kinds == remark)  // a warning whose text is the operation
            nb::handle(source.warn)(operation, place.path, place.line);
        const nb::dict settings = nb::borrow<nb::dict>(settings_);
        for (size_t i = 0; i < kind_names.size(); ++i)
            if (kinds >> i & 1)
                answer_error(settings, nb::str(nb::object(settings[kind_names[i]])).c_str(),
                             {kind_words[i], operation, kinds, place});
    }

  private:
    bool under_filters_;  // that make warnings errors
    PyObject* settings_;  // never released, as the record itself
};

// All that were ever asked for: few, but for callbacks of errstate, of which each has its own.
std::vector<const PythonErrorHandling*>& known() {
    static auto* all = new std::vector<const PythonErrorHandling*>;
    return *all;
}

// Whether Python's filters make errors of warnings of floating point, or may do so.
bool are_errors(nb::handle filters) {
    const nb::handle warning = PyExc_RuntimeWarning;
    const auto is_subclass = [](nb::handle a, nb::handle b) {
        const int is = PyObject_IsSubclass(a.ptr(), b.ptr());
        if (is < 0) throw nb::python_error();
        return is == 1;
    };
    for (nb::handle each : filters) {
        const nb::object action = each[0], message = each[1], category = each[2];
        const bool is_any = is_subclass(warning, category);
        const bool is_error = nb::str(action).equal(nb::str("error"));
        if (is_error && (is_any || is_subclass(category, warning))) return true;
        if (is_any && message.is_none() && nb::object(each[3]).is_none()) return false;
    }
    return false;
}

// The filters that were looked through last. simplefilter and catch_warnings put others in front,
// or another list in the place of this one.
struct Filters {
    PyObject *list = nullptr, *first = nullptr, *last = nullptr;  // owned
    Py_ssize_t count = -1;
    bool are_errors = false;
};

// names[key]. Python 3.11 and before count the changes of a dictionary.
PyObject* filters_in(PyObject* names, PyObject* key) {
#if PY_VERSION_HEX < 0x030C0000
    static uint64_t version = 0;
    static PyObject* list = nullptr;
    const uint64_t now = reinterpret_cast<PyDictObject*>(names)->ma_version_tag;
    if (now == version) return list;
    version = now;
    return list = PyDict_GetItemWithError(names, key);
#else
    return PyDict_GetItemWithError(names, key);
#endif
}

bool warnings_are_errors() {
    static PyObject* const names = PyModule_GetDict(PyImport_ImportModule("warnings"));
    static PyObject* const key = PyUnicode_InternFromString("filters");
    static Filters last;
    PyObject* const list = filters_in(names, key);
    if (!list || !PyList_CheckExact(list) || PyList_GET_SIZE(list) == 0) return false;
    const Py_ssize_t count = PyList_GET_SIZE(list);
    PyObject* const first_item = PyList_GET_ITEM(list, 0);
    PyObject* const last_item = PyList_GET_ITEM(list, count - 1);
    if (list == last.list && count == last.count && first_item == last.first &&
        last_item == last.last)
        return last.are_errors;
    const bool found = are_errors(list);
    const Filters before = std::exchange(
        last, {Py_NewRef(list), Py_NewRef(first_item), Py_NewRef(last_item), count, found});
    Py_XDECREF(before.list);
    Py_XDECREF(before.first);
    Py_XDECREF(before.last);
    return found;
}

const ir::ErrorHandling* handling_of(const nb::object& settings, bool under_filters) {
    for (const PythonErrorHandling* each : known())
        if (each->under_filters() == under_filters && settings.equal(nb::handle(each->settings())))
            return each;
    uint8_t reported = ir::ErrorHandling::remark;  // Python's filters are asked, not errstate
    bool raises = under_filters;
    for (size_t i = 0; i < kind_names.size(); ++i) {
        const std::string answer = nb::str(nb::object(settings[kind_names[i]])).c_str();
        if (answer != "ignore") reported |= static_cast<uint8_t>(1 << i);
        raises = raises || answer == "raise";
    }
    known().push_back(new PythonErrorHandling(reported, raises, under_filters, settings));
    return known().back();
}

// NumPy's capsules that were seen lately, each with a reference, so that an address never means two
// of them.
struct Seen {
    PyObject* capsule = nullptr;
    std::array<const ir::ErrorHandling*, 2> handling{};  // by whether warnings are errors
};
std::array<Seen, 16> seen{};

}  // namespace

const ir::ErrorHandling* current_error_handling() {
    if (!source.variable) return nullptr;
    PyObject* capsule = nullptr;
    if (PyContextVar_Get(source.variable, nullptr, &capsule) < 0) throw nb::python_error();
    const nb::object held = nb::steal(capsule);
    const bool under_filters = warnings_are_errors();
    Seen& entry = seen[reinterpret_cast<uintptr_t>(capsule) / 64 % seen.size()];
    if (entry.capsule == capsule && entry.handling[under_filters])
        return entry.handling[under_filters];
    const ir::ErrorHandling* handling = handling_of(nb::handle(source.settings)(), under_filters);
    if (entry.capsule != capsule) {
        Py_XDECREF(entry.capsule);
        entry = {held.inc_ref().ptr(), {}};
    }
    entry.handling[under_filters] = handling;
    return handling;
}

namespace {

// A with statement's ReportingScope.
class Reporting {
  public:
    explicit Reporting(const std::string& function) : function_(ir::intern(function)) {}
    void enter() { scope_.emplace(function_); }
    void leave() { scope_.reset(); }

  private:
    ir::Interned function_;
    std::optional<ir::ReportingScope> scope_;
};

}  // namespace

void bind_error_handling(nb::module_& module) {
    nb::class_<Reporting>(module, "Reporting",
                          "In its with statement nodes are made whose floating-point errors are "
                          "reported as the function's.")
        .def(nb::init<const std::string&>(), nb::arg("function"))
        .def("__enter__", &Reporting::enter)
        .def("__exit__", [](Reporting& self, nb::args) { self.leave(); }, nb::arg("error"));
    module.def("follow_errstate", [](nb::object variable, nb::object settings, nb::object warn) {
        source = {variable.release().ptr(), settings.release().ptr(), warn.release().ptr()};
    });
}

}  // namespace composit::python
