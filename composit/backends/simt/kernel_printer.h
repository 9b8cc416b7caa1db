// Prints a kernel as functions for groups of threads, and says how they are launched.
//
// The order of floating-point work is that of ir/kernel/kernel.h, whatever the device.
#pragma once

#include "composit/backends/c_family/kernel_names.h"
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/simt/dialect.h"
#include "composit/ir/kernel/kernel.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace composit::simt {

// What an address parameter of a launch is.
struct Address {
    enum class Of : uint8_t {
        parameter,  // number `number` of the kernel's parameters: a buffer of the program
        scratch,    // `number` bytes into scratch memory, which is of no account between kernels
        fault,      // the program's record of the first index out of bounds: see fault.h
        workspace,  // memory of the items that the launch works on: PrintedLaunch::Workspace
    };
    Of of = Of::parameter;
    int64_t number = 0;
};

struct PrintedLaunch {
    std::string function;
    int64_t groups[2] = {1, 1};
    int64_t threads = 1;
    std::vector<Address> addresses;
    std::vector<int64_t> numbers;
    // One more number behind those: how many launches of the run came before, for the fault record.
    bool is_numbered = false;
    // Of work on the items of a batch that need memory of their own: as many items at a time as
    // there is memory for, by launches whose first numbers say from which item to before which one
    // it works, and how many bytes each has.
    struct Workspace {
        int64_t items = 0;  // 0: the launch is no such work
        int64_t bytes = 0;  // of an item, to begin with
        // Whether an item may need more: then it says so in the fault record.
        bool may_grow = false;
    };
    Workspace workspace = {};
};

struct PrintedKernel {
    std::string text;                             // all of its functions
    std::vector<c_family::Parameter> parameters;  // c_family::parameters_of, with names
    std::vector<PrintedLaunch> launches;          // one after the other; none: nothing to do
    int64_t scratch_bytes = 0;
    bool can_fault = false;
    // Whether some pointer must be a multiple of 16 bytes, as device memory is.
    bool needs_alignment = false;
};

// Why the kernel cannot be printed; nothing where it can.
std::optional<std::string> unprintable(const ir::kernel::Kernel& kernel,
                                       const ir::kernel::Program& program);

// Of any kind but Repeat and Foreign. Claims the functions' names in `file_names`.
PrintedKernel print_kernel(const Dialect& dialect, const ir::kernel::Kernel& kernel,
                           const ir::kernel::Program& program, c_family::Names& file_names);

}  // namespace composit::simt
