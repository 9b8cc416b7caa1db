// An export while its files are written: names, modules, constants. Internal to the exporter.
#pragma once

#include "composit/backends/c_family/kernel_module.h"
#include "composit/backends/c_family/procedure_file.h"
#include "composit/backends/c_family/text_table.h"
#include "composit/ir/kernel/kernel.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::cpp_project {

// Constants of all functions, each piece of data once.
class WeightsFile {
  public:
    // Where the constant lies in the file, after the header.
    int64_t place(const ir::Array& value);
    bool is_empty() const { return content_.empty(); }
    int64_t bytes() const { return static_cast<int64_t>(content_.size()); }
    // XXH64 of the constants, 16 digits.
    std::string checksum() const;
    // 64 bytes that tell this file from any other; then the constants.
    std::string header() const;
    std::string text() const { return header() + content_; }

  private:
    std::string content_;
    std::map<uint64_t, std::vector<int64_t>> known_;  // places by hash
};

// Constant operands of products of all functions, each once: text that packs them at run time.
class PackedWeights {
  public:
    // Where what `pack` makes of the constant at `from`, of so many bytes, lies among all.
    int64_t place(const ir::kernel::Pack& pack, int64_t from, int64_t bytes);
    bool is_empty() const { return places_.empty(); }
    // The function packed_weights(), which asks that module's kernels, if any, for the width of
    // panels.
    std::string text_of(std::optional<size_t> module) const;

  private:
    std::string lists_, table_;
    int64_t bytes_ = 0;
    std::set<int64_t> sizes_;  // of elements
    std::map<std::string, int64_t> places_;
};

// Procedures that functions call, each once: functions of a namespace of their own.
class Procedures {
  public:
    // The name of the function, which is printed from now on.
    const std::string& name_of(int64_t number);
    bool is_empty() const { return all_.empty(); }
    // Everything that `functions`, the text of all, calls.
    std::string text(const std::string& functions) const;

  private:
    std::vector<ir::procedure::Procedure> all_;
    std::map<int64_t, size_t> places_;
    c_family::TakenNames taken_;
};

// One exported function.
struct ExportedFunction {
    const ir::kernel::Program* program = nullptr;
    std::string name;
    std::vector<std::string> names;  // of the program's buffers, unique in the function
};

struct Project {
    std::string name;
    std::vector<c_family::TextTable> texts;
    std::vector<ExportedFunction> functions;
    c_family::Modules modules;
    WeightsFile weights;
    PackedWeights packed;
    Procedures procedures;
};

// Names that the text of functions uses for itself.
inline const std::set<std::string> function_words = {
    "arena", "constants", "dense",   "procedures", "slice",   "made",          "fault",
    "first", "iteration", "kernels", "lengths",    "memory",  "numbers",       "packed",
    "pool",  "scratch",   "steps",   "threads",    "weights", "floating_point"};

// Names that the project declares beside its functions, and those of C that it calls.
inline const std::set<std::string> project_words = {"load_weights",
                                                    "dense",
                                                    "procedures",
                                                    "Fault",
                                                    "Memory",
                                                    "Pool",
                                                    "Task",
                                                    "FirstFault",
                                                    "Weights",
                                                    "Packing",
                                                    "packings",
                                                    "pack",
                                                    "pack_all",
                                                    "offsets_of",
                                                    "packed_weights",
                                                    "the_weights",
                                                    "pool",
                                                    "scratch",
                                                    "weights",
                                                    "weights_mutex",
                                                    "loaded_weights",
                                                    "open",
                                                    "close",
                                                    "mmap",
                                                    "munmap",
                                                    "fstat",
                                                    "xxh64",
                                                    "rotated_left",
                                                    "little_endian_word",
                                                    "DefaultFloatingPoint"};

// The lines of a call, of buffers with these names.
std::vector<std::string> call_of_procedure(Project& project, const ir::kernel::Call& call,
                                           const std::vector<std::string>& names);

// Whether products of the module read packed operands; the first module of which that is so.
bool reads_panels(const c_family::Module& module);
std::optional<size_t> module_that_reads_panels(const Project& project);

// "c++ -O2 -std=c++17 digits.cpp main.cpp -o digits"
std::string compile_command(const Project& project);
// "digits.cpp", "digits_2.cpp"
std::string module_file(const Project& project, size_t module);
// "const float* image /* [1, 8, 8] */, float* logits /* [1, 10] */"
// Those whose buffer is not in `used` have no name; null: all are used.
std::string parameter_list(const ExportedFunction& function, const std::string& separator,
                           const std::set<int>* used = nullptr);

// What stands around the prelude of products, whose text is compiled for each instruction set.
extern const c_family::Around around_products;
// The struct of a module's kernels: pointers to functions, and scratch sizes.
std::string kernels_struct(const Project& project, size_t module);
// The kernels of one module, once per instruction set, and the function that picks one.
std::string kernels_text(const Project& project, size_t module);
// The text that is included for each instruction set.
std::string kernel_section(const Project& project, size_t module);
// What `functions`, the text of all, needs: memory, threads, weights.
std::string support_text(const Project& project, const std::string& functions);
// The exported functions. Places constants in the project's weights.
std::string functions_text(Project& project);

// NAME.hpp is the one behind the other.
std::string header_comment(const Project& project);
std::string header_declarations(const Project& project);
std::string main_text(const Project& project);
std::string cmake_text(const Project& project);

// "the memory that this text describes", at most 16 elements: "{1.0f, 2.0f}".
std::string literals(const ir::Array& value);
inline constexpr int64_t inlined_elements = 16;

}  // namespace composit::cpp_project
