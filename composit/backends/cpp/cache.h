// The cache of compiled sources: each is built once per machine and user, and survives crashes.
#pragma once

#include "composit/backends/cpp/compiler.h"

#include <memory>
#include <stop_token>
#include <string>

namespace composit::cpp {

// A loaded shared library; unloaded with its last owner.
class Library {
  public:
    // Throws InputOutputError with the loader's words, or with the first of `symbols` that the
    // library does not have.
    explicit Library(const std::string& path, const std::vector<std::string>& symbols = {});
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    // Throws InputOutputError when there is no such symbol.
    void* symbol(const std::string& name) const;
    void* find(const std::string& name) const;  // null: there is none
    int64_t bytes() const { return bytes_; }    // of its file

  private:
    void* handle_ = nullptr;
    int64_t bytes_ = 0;
};

// What is to be compiled, and by what.
struct Source {
    std::string name;        // of the folder, as far as it is letters, before its hash
    std::string text;        // kernel.cpp
    std::string graph_text;  // graph.txt
    Compiler compiler;
    std::vector<std::string> symbols;  // what the library must have; follows from the text
};

// The command that compiles a source, run in the folder of kernel.cpp; the source's header shows
// it.
std::vector<std::string> build_command(const Compiler& compiler);

// The library of `source`, or of a text that differs in comments alone, from
// <folder>/<version>/<identifier of name>-<hash>/{kernel.cpp, kernel.so, graph.txt, build.txt},
// built if it is not there or not as it was written: an entry of somebody else, cut off, without
// its symbols, or no folder at all. `folder` empty: the default one. A folder that others can write
// to, or that cannot be written, is not used but a private temporary folder; `warning` then says
// so, once per folder and reason, for the caller to pass on. An entry gets its name when its
// symbols were found. Throws CompilationUnavailable, or runtime::Interrupted on a stop, which
// leaves nothing behind.
std::shared_ptr<Library> build_or_load(const Source& source, const std::string& folder,
                                       const std::stop_token& stop, std::string& warning);

}  // namespace composit::cpp
