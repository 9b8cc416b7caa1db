#include "error_handling.h"

#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/string.h>

#include <Python.h>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace composit::python {
namespace {

namespace nb = nanobind;

// What follow_errstate was given; never released, as nodes may outlive the interpreter.
struct Source {
    PyObject* variable = nullptr;
    PyObject* settings = nullptr;
    PyObject* report = nullptr;
};
Source source;

constexpr std::array<const char*, 4> kind_names{"divide", "over", "under", "invalid"};

class PythonErrorHandling final : public ir::ErrorHandling {
  public:
    PythonErrorHandling(uint8_t reported, bool at_once, const nb::object& settings)
        : ErrorHandling(reported, at_once), settings_(settings.inc_ref().ptr()) {}

    PyObject* settings() const { return settings_; }

    void report(const std::string& operation, uint8_t kinds, ir::Interned line) const override {
        const Acquired acquired;
        const Place place = place_of(line);
        nb::handle(source.report)(nb::handle(settings_), operation.c_str(), kinds,
                                  place.path.c_str(), place.line);
    }

  private:
    PyObject* settings_;  // never released, as the record itself
};

// All that were ever asked for: few, but for callbacks of errstate, of which each has its own.
std::vector<const PythonErrorHandling*>& known() {
    static auto* all = new std::vector<const PythonErrorHandling*>;
    return *all;
}

const ir::ErrorHandling* handling_of(const nb::object& settings) {
    for (const PythonErrorHandling* each : known())
        if (settings.equal(nb::handle(each->settings()))) return each;
    uint8_t reported = ir::ErrorHandling::remark;  // Python's filters are asked, not errstate
    bool raises = false;
    for (size_t i = 0; i < kind_names.size(); ++i) {
        const std::string answer = nb::str(nb::object(settings[kind_names[i]])).c_str();
        if (answer != "ignore") reported |= static_cast<uint8_t>(1 << i);
        raises = raises || answer == "raise";
    }
    known().push_back(new PythonErrorHandling(reported, raises, settings));
    return known().back();
}

// NumPy's capsules that were seen lately, each with a reference, so that an address never means two
// of them.
struct Seen {
    PyObject* capsule = nullptr;
    const ir::ErrorHandling* handling = nullptr;
};
std::array<Seen, 16> seen{};

}  // namespace

const ir::ErrorHandling* current_error_handling() {
    if (!source.variable) return nullptr;
    PyObject* capsule = nullptr;
    if (PyContextVar_Get(source.variable, nullptr, &capsule) < 0) throw nb::python_error();
    Seen& entry = seen[reinterpret_cast<uintptr_t>(capsule) / 64 % seen.size()];
    if (entry.capsule == capsule) {
        Py_DECREF(capsule);
        return entry.handling;
    }
    const nb::object held = nb::steal(capsule);
    const ir::ErrorHandling* handling = handling_of(nb::handle(source.settings)());
    Py_XDECREF(entry.capsule);
    entry = {held.inc_ref().ptr(), handling};
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
    module.def("follow_errstate", [](nb::object variable, nb::object settings, nb::object report) {
        source = {variable.release().ptr(), settings.release().ptr(), report.release().ptr()};
    });
}

}  // namespace composit::python
