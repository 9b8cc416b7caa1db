// The standard list of passes, changes to it, and how its stages run.
#include "composit/transforms/pipeline.h"

#include "composit/base/error.h"
#include "composit/base/text.h"

#include <algorithm>
#include <utility>

namespace composit::transforms {
namespace {

using ir::kernel::Kernel;
using ir::kernel::Program;

constexpr std::string_view lower_name = "lower", plan_name = "plan_buffers";

template <class Passes>
auto found(Passes& passes, std::string_view name) {
    return std::find_if(passes.begin(), passes.end(),
                        [&](const auto& pass) { return pass.name == name; });
}

template <class Pass>
Pipeline with_pass(Pipeline pipeline, std::vector<Pass> Pipeline::* stage, Pass pass,
                   std::string_view before) {
    const std::vector<std::string> names = pipeline.names();
    user_check<ValueError>(
        !pass.name.empty() && std::find(names.begin(), names.end(), pass.name) == names.end(),
        "pipeline: a pass cannot be called '", pass.name,
        "'. A name is required that none of these has: ", join(names), ".");
    std::vector<Pass>& passes = pipeline.*stage;
    auto place = passes.end();
    if (!before.empty()) {
        place = found(passes, before);
        user_check<KeyError>(place != passes.end(), "pipeline: '", before,
                             "' is no pass of the stage of '", pass.name,
                             "'. The passes are: ", join(names), ".");
    }
    passes.insert(place, std::move(pass));
    return pipeline;
}

// The first kernel that is refused, and why.
std::string refused_in(const Program& program, const Refusal& refusal) {
    for (const Kernel& kernel : program.kernels)
        if (const auto why = refusal(kernel, program)) return kernel.name + ": " + *why;
    return "";
}

}  // namespace

std::vector<std::string> Pipeline::names() const {
    std::vector<std::string> names;
    for (const GraphPass& pass : graph) names.push_back(pass.name);
    names.emplace_back(lower_name);
    for (const ProgramPass& pass : program) names.push_back(pass.name);
    for (const SchedulePass& pass : schedule) names.push_back(pass.name);
    names.emplace_back(plan_name);
    return names;
}

Pipeline Pipeline::without(std::string_view name) const {
    user_check<ValueError>(name != lower_name && name != plan_name, "pipeline: '", name,
                           "' cannot be left out: nothing runs without it.");
    Pipeline changed = *this;
    const auto erase = [&](auto& passes) {
        const auto place = found(passes, name);
        if (place == passes.end()) return false;
        passes.erase(place);
        return true;
    };
    const bool was_there =
        erase(changed.graph) || erase(changed.program) || erase(changed.schedule);
    user_check<KeyError>(was_there, "pipeline: '", name,
                         "' is no pass. The passes are: ", join(names()), ".");
    return changed;
}

Pipeline Pipeline::with(GraphPass pass, std::string_view before) const {
    return with_pass(*this, &Pipeline::graph, std::move(pass), before);
}
Pipeline Pipeline::with(ProgramPass pass, std::string_view before) const {
    return with_pass(*this, &Pipeline::program, std::move(pass), before);
}
Pipeline Pipeline::with(SchedulePass pass, std::string_view before) const {
    return with_pass(*this, &Pipeline::schedule, std::move(pass), before);
}

const Pipeline& standard_pipeline() {
    static const Pipeline& standard = *new Pipeline{
        {{"inline_calls", [](const std::vector<Tensor>& outputs) { return inline_calls(outputs); }},
         {"simplify", simplify}},
        {},
        {{"decode_weights", decode_weights},
         {"narrow_products", narrow_products},
         {"merge_maps", merge_maps},
         {"fuse_rows", fuse_rows},
         {"finish_products", finish_products},
         {"pack_constants", pack_constants}},
    };
    return standard;
}

std::vector<Tensor> run_graph_stage(const Pipeline& pipeline, const std::vector<Tensor>& outputs) {
    std::vector<Tensor> made = outputs;
    for (const GraphPass& pass : pipeline.graph) {
        made = pass.apply(made);
        user_check<ValueError>(made.size() == outputs.size(), "pipeline: pass '", pass.name,
                               "' made ", made.size(), " tensors of ", outputs.size(),
                               ". As many are required.");
        for (size_t i = 0; i < made.size(); ++i)
            user_check<ValueError>(
                made[i].shape() == outputs[i].shape() && made[i].dtype() == outputs[i].dtype(),
                "pipeline: pass '", pass.name, "' made ", made[i].type(), " of output ", i, ", ",
                outputs[i].type(), ". The same shape and dtype are required.");
    }
    return made;
}

Program run_program_stage(const Pipeline& pipeline, Program program,
                          const std::vector<Tensor>& leaves) {
    for (const ProgramPass& pass : pipeline.program) {
        const size_t inputs = program.inputs.size(), outputs = program.outputs.size();
        program = pass.apply(std::move(program), leaves);
        user_check<ValueError>(program.inputs.size() == inputs && program.outputs.size() == outputs,
                               "pipeline: pass '", pass.name, "' made a program of ",
                               program.inputs.size(), " inputs and ", program.outputs.size(),
                               " outputs. ", inputs, " and ", outputs, " are required, as before.");
    }
    return program;
}

Program run_schedule_pass(const SchedulePass& pass, Program program, const Target& target,
                          const Refusal& refusal, std::string& refused) {
    if (target.part_bytes <= 0) return program;
    if (!refusal) return pass.apply(std::move(program), target);
    Program made = pass.apply(program, target);
    refused = refused_in(made, refusal);
    return refused.empty() ? made : program;
}

Program run_schedule_stage(const Pipeline& pipeline, Program program, const Target& target,
                           const Refusal& refusal) {
    std::string refused;
    for (const SchedulePass& pass : pipeline.schedule)
        program = run_schedule_pass(pass, std::move(program), target, refusal, refused);
    return program;
}

}  // namespace composit::transforms
