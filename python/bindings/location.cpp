// Finding the user's line quickly: frames are walked with the C API, lines are cached.
#include "location.h"

#include "composit/base/ascii.h"

#include <nanobind/nanobind.h>

#include <Python.h>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

namespace {

struct CodeFacts {
    bool is_internal = false;
    bool is_wrapper = false;            // named `around`: errors name the function that it calls
    bool is_late = false;               // of a front door that leaves errors of values to looks
    std::string path, file;             // whole, and the base name
    std::vector<ir::Interned> line_of;  // by instruction
};

std::vector<std::string>& internal_folders() {
    static auto* folders = new std::vector<std::string>;
    return *folders;
}

// Entries own a reference to their code object, so that an address never means two of them.
std::unordered_map<PyCodeObject*, CodeFacts>& cache() {
    static auto* facts = new std::unordered_map<PyCodeObject*, CodeFacts>;
    return *facts;
}

constexpr size_t cache_limit = 8192;

// In front of the cache: code objects that were asked for lately.
struct Recent {
    PyCodeObject* code = nullptr;
    CodeFacts* facts = nullptr;
};
std::array<Recent, 256> recent{};

void clear_cache() {
    recent.fill({});
    std::vector<PyCodeObject*> codes;
    for (const auto& entry : cache()) codes.push_back(entry.first);
    cache().clear();
    for (PyCodeObject* code : codes) Py_DECREF(code);
}

bool is_internal(std::string_view path) {
    if (path.starts_with("<frozen ")) return true;
    for (const std::string& folder : internal_folders())
        if (path.starts_with(folder)) return !path.substr(folder.size()).starts_with("examples/");
    return false;
}

// torch's, flashlight's and tensorgrad's operations are recorded before they are computed; networks
// and transforms are made as a whole.
bool is_late(std::string_view path) {
    for (const std::string& folder : internal_folders()) {
        if (!path.starts_with(folder)) continue;
        const std::string_view inside = path.substr(folder.size());
        for (std::string_view door : {"torch/", "flashlight/", "tensorgrad/", "knossos/",
                                      "model_zoo/", "nn/", "functional.py"})
            if (inside.starts_with(door)) return true;
    }
    return false;
}

CodeFacts& facts_of(PyCodeObject* code) {
    Recent& seen = recent[reinterpret_cast<uintptr_t>(code) / alignof(std::max_align_t) % 256];
    if (seen.code == code) return *seen.facts;
    const auto found = cache().find(code);
    if (found != cache().end()) {
        seen = {code, &found->second};
        return found->second;
    }
    if (cache().size() >= cache_limit) clear_cache();
    CodeFacts facts;
    if (const char* text = PyUnicode_AsUTF8(code->co_filename)) {
        const std::string_view path(text);
        facts.is_internal = is_internal(path);
        facts.is_late = is_late(path);
        facts.is_wrapper =
            facts.is_internal && PyUnicode_CompareWithASCIIString(code->co_name, "around") == 0;
        facts.path = path;
        facts.file = path.substr(path.rfind('/') + 1);
    } else {
        PyErr_Clear();
    }
    Py_INCREF(code);
    return cache().emplace(code, std::move(facts)).first->second;
}

std::unordered_map<ir::Interned, Place>& places() {
    static auto* all = new std::unordered_map<ir::Interned, Place>;
    return *all;
}

ir::Interned line_of(CodeFacts& facts, PyFrameObject* frame) {
    // Instructions are of two bytes; -1 is a frame that has not begun.
    const auto instruction = static_cast<size_t>((PyFrame_GetLasti(frame) + 2) / 2);
    if (instruction >= facts.line_of.size()) facts.line_of.resize(instruction + 1);
    ir::Interned& line = facts.line_of[instruction];
    if (!line) {
        const int number = PyFrame_GetLineNumber(frame);
        line = ir::intern(facts.file + ":" + std::to_string(number));
        places().try_emplace(line, Place{facts.path, number});
    }
    return line;
}

bool ends_with_location(std::string_view message) {
    if (!message.ends_with(']')) return false;
    size_t at = message.size() - 1;
    while (at > 0 && ascii::is_digit(message[at - 1])) --at;
    return at > 0 && at < message.size() - 1 && message[at - 1] == ':' &&
           message.rfind('[', at) != std::string_view::npos;
}

// Whether the user called the NumPy door when user_frame was last asked for on this thread.
thread_local bool called_by_user = false;

// The nearest frame that is not the package's own: a new reference, or null. `facts_found` are of
// its code.
PyFrameObject* user_frame(CodeFacts** facts_found = nullptr) {
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    bool is_called = true;
    while (frame) {
        PyCodeObject* code = PyFrame_GetCode(frame);
        CodeFacts& facts = facts_of(code);
        Py_DECREF(code);
        is_called = is_called && !facts.is_late;
        if (!facts.is_internal) {
            if (facts_found) *facts_found = &facts;
            break;
        }
        PyFrameObject* caller = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = caller;
    }
    called_by_user = is_called;
    return frame;
}

}  // namespace

namespace {

// The part of a model that is being called on this thread; empty mostly.
thread_local std::string current_part;
// The line of what is being made late on this thread; null mostly.
thread_local ir::Interned replayed_line = nullptr;

}  // namespace

ir::Interned user_location() {
    if (replayed_line) {
        called_by_user = false;
        return replayed_line;
    }
    CodeFacts* facts = nullptr;
    PyFrameObject* frame = user_frame(&facts);
    if (!frame) return nullptr;
    const ir::Interned line = line_of(*facts, frame);
    Py_DECREF(frame);
    if (current_part.empty()) return line;
    const ir::Interned location =
        ir::intern(current_part + std::string(ir::part_separator) + *line);
    places().try_emplace(location, places()[line]);
    return location;
}

bool is_called_by_user() { return called_by_user; }

ir::Interned set_replayed_line(ir::Interned line) { return std::exchange(replayed_line, line); }

void set_current_part(std::string part) { current_part = std::move(part); }

Place place_of(ir::Interned location) {
    const auto found = places().find(location);
    return found == places().end() ? Place() : found->second;
}

PyObject* public_frame() {
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    PyFrameObject* called = nullptr;
    while (frame) {
        PyCodeObject* code = PyFrame_GetCode(frame);
        const CodeFacts& facts = facts_of(code);
        const bool is_internal = facts.is_internal, is_wrapper = facts.is_wrapper;
        Py_DECREF(code);
        if (!is_internal) {
            Py_DECREF(frame);
            break;
        }
        PyFrameObject* caller = PyFrame_GetBack(frame);
        if (is_wrapper) {
            Py_DECREF(frame);
        } else {
            Py_XDECREF(called);
            called = frame;
        }
        frame = caller;
    }
    return reinterpret_cast<PyObject*>(called);
}

void warn_user(const std::string& text) {
    const auto frame = nb::steal(reinterpret_cast<PyObject*>(user_frame()));
    if (!frame.is_valid()) {
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw nb::python_error();
        return;
    }
    auto* const at = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const auto code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(at)));
    const nb::object globals = nb::steal(PyFrame_GetGlobals(at));
    // Where warnings that were shown once are remembered: the module of the line.
    const nb::object registry = globals.attr("setdefault")("__warningregistry__", nb::dict());
    nb::module_::import_("warnings")
        .attr("warn_explicit")(nb::str(text.c_str()), nb::handle(PyExc_RuntimeWarning),
                               code.attr("co_filename"), PyFrame_GetLineNumber(at),
                               globals.attr("get")("__name__"), registry);
}

std::string with_location(std::string_view message) {
    const ir::Interned location = user_location();
    if (!location || ends_with_location(message)) return std::string(message);
    // An evaluation at the call names the line of what failed: it is said once.
    const std::string own = " (" + *location + ")";
    if (message.ends_with(own)) message.remove_suffix(own.size());
    return std::string(message) + " [" + *location + "]";
}

void add_internal_folder(std::string folder) {
    internal_folders().push_back(std::move(folder));
    clear_cache();
}

}  // namespace composit::python
