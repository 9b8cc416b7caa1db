// Asks a back end which kernels it takes, compiles, and falls back loudly where it cannot.
#include "composit/execute/build.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/runtime/unavailable.h"
#include "composit/runtime/warning.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace composit::execute {
namespace {

using ir::kernel::Kernel;
using ir::kernel::Program;

const char* const interpreter = "interpreter";

void warn_once(const std::string& text) {
    static std::mutex mutex;
    static auto* said = new std::set<std::string>;
    {
        const std::lock_guard lock(mutex);
        if (!said->insert(text).second) return;
    }
    runtime::warn(text);
}

// Throws what the interpreter, the last resort, says of the first kernel that it refuses.
void check_interpreter(const Program& program, const Kernel& kernel, const std::string& backend) {
    const auto why = runtime::backend(interpreter)->refuses(kernel, program);
    user_check<NotSupported>(!why, backend, ": ", kernel.name, " (", kernel.comment,
                             kernel.lines.empty() ? "" : "; ", join(kernel.lines),
                             ") cannot run: ", why.value_or(""));
}

std::vector<Placement> place(const Program& program, const Options& options) {
    const auto wanted = runtime::backend(options.backend);
    std::vector<Placement> placements;
    for (const Kernel& kernel : program.kernels) {
        // What the interpreter refuses shows when it compiles: asking it first is half the work.
        const auto why =
            options.backend == interpreter ? std::nullopt : wanted->refuses(kernel, program);
        if (why) check_interpreter(program, kernel, options.backend);
        placements.push_back({kernel.name, why ? interpreter : options.backend, why.value_or("")});
    }
    return placements;
}

// Why kernels do not run where they were to, of a program that runs on one back end.
std::string why_of(const std::vector<Placement>& placements) {
    return placements.empty() ? "" : placements[0].why;
}

// The target of a back end, as the options change it. Nothing is scheduled where parts are empty.
Target target_of(const runtime::Backend& backend, const Options& options) {
    const Target target = backend.target();
    if (!options.fuse) return target.with_part_bytes(0);
    const bool changes = options.bytes_of_part > 0 && target.part_bytes > 0;
    return changes ? target.with_part_bytes(options.bytes_of_part) : target;
}

const transforms::Pipeline& pipeline_of(const Options& options) {
    return options.pipeline ? *options.pipeline : transforms::standard_pipeline();
}

bool takes_all(const runtime::Backend& backend, const Program& program) {
    // The interpreter is the last resort: there, compiling tells what is refused.
    if (backend.name() == interpreter) return true;
    return std::none_of(program.kernels.begin(), program.kernels.end(), [&](const Kernel& kernel) {
        return backend.refuses(kernel, program).has_value();
    });
}

// A program of kernels that the back end takes, through the schedule. `refusal` becomes what each
// pass is to ask: nothing where all that comes out is taken.
Program schedule(const Program& program, const runtime::Backend& backend, const Options& options,
                 transforms::Refusal& refusal) {
    const Target target = target_of(backend, options);
    const transforms::Pipeline& pipeline = pipeline_of(options);
    Program made = transforms::run_schedule_stage(pipeline, program, target, {});
    if (takes_all(backend, made)) return made;
    refusal = [&backend](const Kernel& kernel, const Program& within) {
        return backend.refuses(kernel, within);
    };
    return transforms::run_schedule_stage(pipeline, program, target, refusal);
}

// One segment is the whole program, with its own numbers of buffers.
std::vector<Segment> segments_or_whole(const Program& program,
                                       const std::vector<Placement>& placements,
                                       const Options& options) {
    const bool is_split = std::any_of(
        placements.begin(), placements.end(),
        [&](const Placement& placement) { return placement.backend != placements[0].backend; });
    if (is_split) return segments_of(program, placements);
    return {{placements.empty() ? options.backend : placements[0].backend, program, {}, {}}};
}

Built build_as_wished(const Program& program, const Options& options) {
    Built built{program, nullptr, place(program, options)};
    const int threads = options.threads > 0 ? options.threads : default_threads();
    std::vector<Segment> segments = segments_or_whole(program, built.placements, options);
    const bool is_whole = segments.size() == 1;
    std::vector<std::shared_ptr<runtime::Executable>> executables;
    for (Segment& segment : segments) {
        const auto backend = runtime::backend(segment.backend);
        transforms::Refusal refusal;
        segment.program = transforms::plan_buffers(
            schedule(segment.program, *backend, options, refusal), options.reuse_buffers);
        try {
            executables.push_back(backend->compile(
                segment.program, {options.cache_folder, threads, options.whole_model,
                                  is_whole ? parallel_for(threads) : runtime::ParallelFor()}));
        } catch (const NotSupported&) {
            for (const Kernel& kernel : program.kernels)
                check_interpreter(program, kernel, options.backend);
            throw;
        }
    }
    if (!is_whole) {
        built.program = transforms::plan_buffers(std::move(built.program), options.reuse_buffers);
        built.executable =
            joined(built.program, built.placements, std::move(segments), std::move(executables));
        return built;
    }
    built.program = std::move(segments[0].program);
    built.executable = std::move(executables[0]);
    std::vector<Placement> placements;
    for (const Kernel& kernel : built.program.kernels)
        placements.push_back({kernel.name, segments[0].backend, why_of(built.placements)});
    built.placements = std::move(placements);
    return built;
}

}  // namespace

std::vector<const void*> constants_of(const Program& program) {
    std::vector<const void*> constants;
    for (const ir::kernel::Buffer& buffer : program.buffers)
        if (buffer.value.is_row_major()) constants.push_back(buffer.value.row_major().get());
    return constants;
}

std::vector<Scheduled> scheduled(const Program& program, const Options& options) {
    const DefaultFloatingPoint floating_point;
    std::vector<Segment> segments = segments_or_whole(program, place(program, options), options);
    std::vector<Scheduled> result{{"", {}, ""}};
    std::vector<transforms::Refusal> refusals(segments.size());
    for (size_t s = 0; s < segments.size(); ++s) {
        result[0].programs.push_back(segments[s].program);
        schedule(segments[s].program, *runtime::backend(segments[s].backend), options, refusals[s]);
    }
    for (const transforms::SchedulePass& pass : pipeline_of(options).schedule) {
        const transforms::Pipeline one{{}, {}, {pass}};
        Scheduled next{pass.name, {}, ""};
        for (size_t s = 0; s < segments.size(); ++s) {
            const auto backend = runtime::backend(segments[s].backend);
            next.programs.push_back(transforms::run_schedule_stage(
                one, result.back().programs[s], target_of(*backend, options), refusals[s],
                [&](const std::string&, const Program&, const Program&,
                    const std::string& refused) {
                    if (next.refused.empty()) next.refused = refused;
                }));
        }
        result.push_back(std::move(next));
    }
    return result;
}

Built build(const Program& program, const Options& options) {
    const DefaultFloatingPoint floating_point;
    try {
        // Constants are packed now.
        const ReadingMappedFiles reading;
        Built built = build_as_wished(program, options);
        reading.check(program.name.empty() ? "evaluate" : program.name, constants_of(program));
        return built;
    } catch (const runtime::Unavailable& missing) {
        if (options.backend == interpreter) throw;
        warn_once(text("back end ", options.backend, ": ", missing.what(),
                       " The interpreter runs the program instead: the same results, slower."));
        Options instead = options;
        instead.backend = interpreter;
        Built built = build_as_wished(program, instead);
        for (Placement& placement : built.placements) placement.why = missing.what();
        return built;
    }
}

}  // namespace composit::execute
