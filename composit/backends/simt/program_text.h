// A program as one text of a dialect, and how it is run by that text's functions.
#pragma once

#include "composit/backends/simt/kernel_printer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace composit::simt {

// One kernel of a program, in the order of running.
struct ProgramStep {
    size_t kernel = 0;   // in program.kernels: it, or the Repeat around it
    size_t printed = 0;  // in ProgramText::kernels
    std::vector<int>
        buffers;  // one for each parameter; of a Repeat its counter, if anybody reads it
    struct Axis {
        int64_t number, length;
    };
    std::vector<Axis> axes = {};  // that indices may be out of bounds along
    // The call of a procedure, which tells on the host what did not hold on the device.
    std::shared_ptr<const ir::kernel::Call> called = {};
    // A Repeat: these steps for each counter.
    bool is_repeat = false;
    int64_t begin = 0, end = 0;
    std::vector<ProgramStep> repeated = {};
};

struct ProgramText {
    std::string text;
    std::vector<PrintedKernel> kernels;  // each once, whatever the number of steps that need it
    std::vector<ProgramStep> steps;      // those with something to do
    bool can_fault = false, needs_alignment = false;
    int64_t scratch_bytes = 0;  // for any one kernel
};

// Throws NotSupported for kernels that are `unprintable`.
ProgramText print_program(const Dialect& dialect, const ir::kernel::Program& program);

}  // namespace composit::simt
