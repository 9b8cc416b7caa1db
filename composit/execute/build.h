// From a program to something that runs: buffers placed, kernels compiled by a back end, and those
// that it refuses handed to the interpreter.
#pragma once

#include "composit/execute/execute.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::execute {

struct Built {
    ir::kernel::Program program;  // with buffers placed
    std::shared_ptr<runtime::Executable> executable;
    std::vector<Placement> placements;  // one per kernel, in order
};

// `program` as transforms::lower made it. Unavailable back ends: one warning per back end and text
// for the life of the process, and the interpreter instead. NotSupported when the interpreter
// refuses a kernel as well, naming it.
Built build(const ir::kernel::Program& program, const Options& options);

// Where the program's constants lie whose elements are in memory in row-major order.
std::vector<const void*> constants_of(const ir::kernel::Program& program);

// ----- split.cpp
// Runs of kernels with the same back end, each a program of its own.
// placements[k] names the back end of kernel k.
std::shared_ptr<runtime::Executable> compile_split(const ir::kernel::Program& program,
                                                   const std::vector<Placement>& placements,
                                                   const Options& options);

}  // namespace composit::execute
