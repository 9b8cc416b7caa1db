// Finding the user's line quickly: frames are walked with the C API, lines are cached.
#include "location.h"

#include <Python.h>
#include <cctype>
#include <unordered_map>
#include <vector>

namespace composit::python {
namespace {

struct CodeFacts {
    bool is_internal = false;
    std::string file;                               // base name
    std::unordered_map<int, ir::Interned> line_of;  // by instruction
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

void clear_cache() {
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

CodeFacts& facts_of(PyCodeObject* code) {
    auto found = cache().find(code);
    if (found != cache().end()) return found->second;
    if (cache().size() >= cache_limit) clear_cache();
    CodeFacts facts;
    if (const char* text = PyUnicode_AsUTF8(code->co_filename)) {
        const std::string_view path(text);
        facts.is_internal = is_internal(path);
        facts.file = path.substr(path.rfind('/') + 1);
    } else {
        PyErr_Clear();
    }
    Py_INCREF(code);
    return cache().emplace(code, std::move(facts)).first->second;
}

ir::Interned line_of(CodeFacts& facts, PyFrameObject* frame) {
    ir::Interned& line = facts.line_of[PyFrame_GetLasti(frame)];
    if (!line) line = ir::intern(facts.file + ":" + std::to_string(PyFrame_GetLineNumber(frame)));
    return line;
}

bool ends_with_location(std::string_view message) {
    if (!message.ends_with(']')) return false;
    size_t at = message.size() - 1;
    while (at > 0 && std::isdigit(static_cast<unsigned char>(message[at - 1]))) --at;
    return at > 0 && at < message.size() - 1 && message[at - 1] == ':' &&
           message.rfind('[', at) != std::string_view::npos;
}

}  // namespace

ir::Interned user_location() {
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    ir::Interned location = nullptr;
    while (frame && !location) {
        PyCodeObject* code = PyFrame_GetCode(frame);
        CodeFacts& facts = facts_of(code);
        Py_DECREF(code);
        if (!facts.is_internal) {
            location = line_of(facts, frame);
        } else {
            PyFrameObject* caller = PyFrame_GetBack(frame);
            Py_DECREF(frame);
            frame = caller;
        }
    }
    Py_XDECREF(frame);
    return location;
}

std::string with_location(std::string_view message) {
    const ir::Interned location = user_location();
    if (!location || ends_with_location(message)) return std::string(message);
    return std::string(message) + " [" + *location + "]";
}

void add_internal_folder(std::string folder) {
    internal_folders().push_back(std::move(folder));
    clear_cache();
}

}  // namespace composit::python
