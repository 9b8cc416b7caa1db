// Pipeline: the passes that every way of running takes a graph through, by name and in order.
//
// Evaluation, compiled functions, mosaic and exports use one pipeline. It has three stages:
//
//     graph     inline_calls, simplify                       tensors to tensors
//               lower                                        tensors to a program of kernels
//     program   (none; mosaic puts tiles here)               the whole program
//     schedule  merge_maps, fuse_rows, finish_products,      the kernels of one back end, for
//               pack_constants                               its target
//               plan_buffers
//
//     Pipeline mine = standard_pipeline().without("pack_constants").with(
//         SchedulePass{"count", [](Program program, const Target&) { … }}, "fuse_rows");
//     execute::Options options{.pipeline = std::make_shared<Pipeline>(mine)};
#pragma once

#include "composit/target/target.h"
#include "composit/transforms/transforms.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::transforms {

// Tensors of the same number, shapes and dtypes that have the same values.
struct GraphPass {
    std::string name;
    std::function<std::vector<Tensor>(const std::vector<Tensor>&)> apply;
};

// A program that computes the same. `leaves`: the leaf behind each of its inputs.
struct ProgramPass {
    std::string name;
    std::function<ir::kernel::Program(ir::kernel::Program, const std::vector<Tensor>& leaves)>
        apply;
};

// A program that computes the same on the target. Left out where the back end refuses a kernel that
// it makes, and where the target's part_bytes is 0.
struct SchedulePass {
    std::string name;
    std::function<ir::kernel::Program(ir::kernel::Program, const Target&)> apply;
};

struct Pipeline {
    std::vector<GraphPass> graph;
    std::vector<ProgramPass> program;
    std::vector<SchedulePass> schedule;

    // Of all passes, in order, `lower` and `plan_buffers` among them.
    [[nodiscard]] std::vector<std::string> names() const;
    // KeyError for a name that is not there; ValueError for `lower` and `plan_buffers`, which are
    // always needed.
    [[nodiscard]] Pipeline without(std::string_view name) const;
    // With one more pass, before the one of that name in its stage, or at the stage's end.
    // ValueError for a name that is there already; KeyError where the stage has none called
    // `before`.
    [[nodiscard]] Pipeline with(GraphPass pass, std::string_view before = "") const;
    [[nodiscard]] Pipeline with(ProgramPass pass, std::string_view before = "") const;
    [[nodiscard]] Pipeline with(SchedulePass pass, std::string_view before = "") const;
};
const Pipeline& standard_pipeline();

// `outputs`, taken through the graph stage. ValueError where a pass changes their number or types.
std::vector<Tensor> run_graph_stage(const Pipeline& pipeline, const std::vector<Tensor>& outputs);

// The program stage. ValueError where a pass changes the number of inputs or outputs.
ir::kernel::Program run_program_stage(const Pipeline& pipeline, ir::kernel::Program program,
                                      const std::vector<Tensor>& leaves);

// Why a back end does not take a kernel of a program; nothing where it does.
using Refusal = std::function<std::optional<std::string>(const ir::kernel::Kernel&,
                                                         const ir::kernel::Program&)>;
// One pass of kernels that the back end takes. Where it makes one that the refusal (if there is
// any) refuses, the program stays, and `refused` says why.
ir::kernel::Program run_schedule_pass(const SchedulePass& pass, ir::kernel::Program program,
                                      const Target& target, const Refusal& refusal,
                                      std::string& refused);
// The schedule stage without plan_buffers.
ir::kernel::Program run_schedule_stage(const Pipeline& pipeline, ir::kernel::Program program,
                                       const Target& target, const Refusal& refusal);

}  // namespace composit::transforms
