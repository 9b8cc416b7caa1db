// A program as one function: every kernel called in turn from generated code.
#pragma once

#include "composit/backends/c_family/kernel_module.h"
#include "composit/backends/cpp/entries.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::cpp {

// What a model's function needs from the process that runs it. The generated text declares the
// same.
struct Host {
    void* state;
    // Runs step `number` of the program with its pointers: shares it out to threads, looks for an
    // interruption, and for indices out of bounds. False: the model has to return at once.
    bool (*run_step)(void* state, int64_t number, void* const* at);
    // Looks for an interruption, from time to time in long loops. False: return at once.
    bool (*may_go_on)(void* state);
    // What a step that the model called itself has met. False: return at once.
    bool (*accepts)(void* state, int64_t number, const Fault* fault);
};
using Model = bool (*)(const Entry* const* kernels, void* const* inputs, void* const* constants,
                       void* const* outputs, char* arena, char* scratch, const Host* host);

inline constexpr const char* model_symbol = "composit_run_model";

// One call of a kernel's function; or the steps of a Repeat.
struct ModelStep {
    size_t module = 0, function = 0;
    std::string name;  // of the kernel
    // Expressions for where its buffers are; of a Repeat for its counter, if it has one.
    std::vector<std::string> pointers;
    int64_t tasks = 1;
    bool is_direct = false;  // called at once; else by the host
    bool can_fault = false;
    size_t number = 0;  // for the host: among all calls of functions
    bool is_repeat = false;
    int64_t begin = 0, end = 0;  // the iterations of a Repeat
    int64_t patience = 1;        // how many of them are run between looks for an interruption
    std::vector<ModelStep> repeated = {};
};

// The text of the function that runs `steps`. With `functions` it stands in the file of the only
// module, where these are; else it finds them in tables.
std::string model_text(const std::vector<ModelStep>& steps,
                       const std::vector<c_family::PrintedKernel>* functions);

// How many steps one function calls, and how many a file holds: docs/semantics.md 15.
inline constexpr size_t steps_per_function = 200, steps_per_file = 3200;

}  // namespace composit::cpp
