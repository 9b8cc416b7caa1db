// A program's kernels as C++ text: functions that are printed once each, in modules of bounded
// size.
#pragma once

#include "composit/backends/c_family/kernel_printer.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::c_family {

// Limits that keep the cost of compiling linear (docs/semantics.md 15).
inline constexpr size_t kernels_per_module = 64;

// Functions and all that they use. Needs <cstddef> and <cstdint>; may be put into any namespace.
struct Module {
    std::string text;
    std::vector<PrintedKernel> functions;
    bool calls_ready_products = false;
};

// One step of running a program: a kernel's function; for a Repeat the calls of its kernels; a
// Foreign and a Call, which have no text, are for the back end to run (runtime/foreign.h,
// runtime/procedure_call.h).
struct KernelCall {
    const ir::kernel::Kernel* kernel = nullptr;  // of the program
    size_t number = 0;                           // in program.kernels, of it or the one around it
    size_t module = 0, function = 0;
    // One per parameter of the function; of a Repeat its counter; without one, one per operand.
    std::vector<int> buffers = {};
    std::vector<KernelCall> repeated = {};

    bool is_repeat() const { return std::holds_alternative<ir::kernel::Repeat>(kernel->body); }
    bool has_function() const;
};
// Calls `visit` for every call of a printed function, however deep.
void for_each_function(const std::vector<KernelCall>& calls,
                       const std::function<void(const KernelCall&)>& visit);

struct Modules {
    std::vector<Module> modules;
    std::vector<std::vector<KernelCall>>
        calls;  // of each program; kernels with nothing to do are left out
};

// Lines before and after a part of a text.
struct Around {
    std::string_view begin = "", end = "";
};

struct ModuleOptions {
    size_t kernels = kernels_per_module;  // the most of a module
    Around products = {};  // what stands around the prelude of products, compiled differently
    bool asks =
        false;  // loops of functions ask, now and then, if they are to end (prelude/loops.h)
    // Products of floats are not compiled with the kernels: whoever loads these sets
    // `ready_products` (prelude/contract_ready.h).
    bool has_ready_products = false;
};

// Prints the kernels of several programs, which must live as long as what is returned; identical
// ones share a function. Function names are unique over all modules. Throws NotSupported.
Modules print_modules(const std::vector<const ir::kernel::Program*>& programs,
                      const ModuleOptions& options = {});

// What every generated file starts with: "// Made by composit …", the graph (its first 40 lines),
// the user's source lines, and `notes`, as comments.
std::string file_comment(const ir::kernel::Program& program, const std::vector<std::string>& notes);

// The pragmas that a text needs for exact results, guarded for each compiler; before everything
// else. `optimisation`: how g++ optimises an export, whatever flags it is compiled with, and flags
// that change results are an error there; "" for as the flags say.
std::string exactness_pragmas(std::string_view optimisation = "");

// Of statements that a user wrote, and of kernels: what -O3 does beside making vectors serves only
// nests of loops as users write them, and takes a third of the time to compile.
inline constexpr std::string_view optimisation_of_statements = "O3";
inline constexpr std::string_view optimisation_of_kernels = "O2,vect-cost-model=dynamic";

}  // namespace composit::c_family
