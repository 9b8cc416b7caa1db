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
    std::vector<PlacedKernel> placements;  // one per kernel, in order
};

// Where the arguments and results of a program lie, in its order: null is host memory.
struct Homes {
    std::vector<std::shared_ptr<runtime::Device>> inputs, outputs;
};

// `program` as transforms::lower made it. Unavailable back ends: one warning per back end and text
// for the life of the process, and the interpreter instead. NotSupported when the interpreter
// refuses a kernel as well, naming it. `homes`: none where all lies on the options' back end.
Built build(const ir::kernel::Program& program, const Options& options, const Homes& homes = {});

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
                                 const std::vector<PlacedKernel>& placements);
// Puts kernels of one back end next to one another where what they read and write allows it, those
// on devices before those of the host, which works while they do.
void group_by_backend(ir::kernel::Program& program, std::vector<PlacedKernel>& placements);

// ----- joined.cpp
// Runs one segment after the other. executables[s] is that of segment s. What one needs that lies
// elsewhere is copied when it begins; devices work on while others are asked.
class Joined : public runtime::Executable {
  public:
    // The run, and what ran when, once all of it is done.
    virtual Timeline timeline(const runtime::Run& run) const = 0;
};
std::shared_ptr<Joined> joined(const ir::kernel::Program& program,
                               const std::vector<PlacedKernel>& placements,
                               std::vector<Segment> segments,
                               std::vector<std::shared_ptr<runtime::Executable>> executables,
                               const Homes& homes);

}  // namespace composit::execute
