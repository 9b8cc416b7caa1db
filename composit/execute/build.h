// From a program to something that runs: kernels are placed on back ends, those of one back end go
// through the schedule's passes for its target, buffers are placed, kernels compiled. What a back
// end refuses, the interpreter runs.
#pragma once

#include "composit/execute/execute.h"
#include "composit/transforms/pipeline.h"

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

// The options' passes, else the standard ones.
const transforms::Pipeline& pipeline_of(const Options& options);

// The programs that the passes of the schedule make, pass by pass, as `build` runs them: one of the
// kernels of each back end, alone where there is one.
struct Scheduled {
    std::string pass;
    std::vector<ir::kernel::Program> programs;
    std::string refused;  // why the pass was left out of one of them, or empty
};
std::vector<Scheduled> scheduled(const ir::kernel::Program& program, const Options& options);

// Where the program's constants lie whose elements are in memory in row-major order.
std::vector<const void*> constants_of(const ir::kernel::Program& program);

// ----- split.cpp
// Neighbouring kernels of one back end, as a program of its own.
struct Segment {
    std::string backend;
    ir::kernel::Program program;
    std::vector<int> inputs, outputs;  // buffers of the whole program, in the segment's order
};
// placements[k] names the back end of kernel k.
std::vector<Segment> segments_of(const ir::kernel::Program& program,
                                 const std::vector<Placement>& placements);
// Runs one after the other. executables[s] is that of segment s. Inputs and outputs lie on `home`,
// which is null for host memory; what segments of other back ends need is copied.
std::shared_ptr<runtime::Executable> joined(
    const ir::kernel::Program& program, const std::vector<Placement>& placements,
    std::vector<Segment> segments, std::vector<std::shared_ptr<runtime::Executable>> executables,
    std::shared_ptr<runtime::Device> home = nullptr);

}  // namespace composit::execute
