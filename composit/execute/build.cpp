// Asks a back end which kernels it takes, compiles, and falls back loudly where it cannot.
#include "composit/execute/build.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/execute/awaited.h"
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

// What a back end refuses runs on the interpreter.
std::vector<PlacedKernel> place(const Program& program, const Options& options) {
    const std::string own = runtime::backend(options.backend)->name();
    const std::vector<std::string> wanted = options.placement.backends_of(
        program, own, runtime::backend(options.host.empty() ? own : options.host)->name());
    std::vector<PlacedKernel> placements;
    std::shared_ptr<runtime::Backend> backend;  // of the kernel before
    for (size_t k = 0; k < wanted.size(); ++k) {
        const Kernel& kernel = program.kernels[k];
        if (k == 0 || wanted[k] != wanted[k - 1]) backend = runtime::backend(wanted[k]);
        // What the interpreter refuses shows when it compiles: asking it first is half the work.
        const auto why =
            wanted[k] == interpreter ? std::nullopt : backend->refuses(kernel, program);
        if (why) check_interpreter(program, kernel, wanted[k]);
        placements.push_back({kernel.name, why ? interpreter : wanted[k], why.value_or("")});
    }
    return placements;
}

// The target of a back end, as the options change it. Nothing is scheduled where parts are empty.
Target target_of(const runtime::Backend& backend, const Options& options) {
    const Target target = backend.target();
    if (!options.fuse) return target.with_part_bytes(0);
    const bool changes = options.bytes_of_part > 0 && target.part_bytes > 0;
    return changes ? target.with_part_bytes(options.bytes_of_part) : target;
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

// Whether kernels run on several back ends, or on another device than what they are called with.
bool is_split(const std::vector<PlacedKernel>& placements, const Options& options,
              const Homes& homes) {
    const auto device = runtime::backend(options.backend)->device();
    const std::string& first = placements.empty() ? options.backend : placements[0].backend;
    const auto is_away = [&](const std::shared_ptr<runtime::Device>& home) {
        return home != device;
    };
    return std::ranges::any_of(homes.inputs, is_away) ||
           std::ranges::any_of(homes.outputs, is_away) ||
           runtime::backend(first)->device() != device ||
           std::ranges::any_of(placements,
                               [&](const PlacedKernel& placed) { return placed.backend != first; });
}

// Schedules a program of kernels of one back end, places its buffers and compiles it.
std::shared_ptr<runtime::Executable> compiled(const Program& program, const std::string& name,
                                              const Options& options,
                                              const runtime::ParallelFor& parallel_for,
                                              Program& ready) {
    const auto backend = runtime::backend(name);
    const int threads = options.threads > 0 ? options.threads : default_threads();
    transforms::Refusal refusal;
    ready = transforms::plan_buffers(schedule(program, *backend, options, refusal),
                                     options.reuse_buffers);
    const runtime::CompileOptions how{options.cache_folder, threads, options.whole_model,
                                      parallel_for};
    if (!options.waits && backend->compiles_for_long()) {
        Program unused;
        const auto compile = [backend, ready, how] {
            const ReadingMappedFiles reading;
            const ExecutableRef made = backend->compile(ready, how);
            reading.check(ready.name.empty() ? "compile" : ready.name, constants_of(ready));
            return made;
        };
        return compiled_meanwhile(compile,
                                  compiled(program, interpreter, options, parallel_for, unused));
    }
    try {
        return backend->compile(ready, how);
    } catch (const NotSupported&) {
        for (const Kernel& kernel : program.kernels)
            check_interpreter(program, kernel, options.backend);
        throw;
    }
}

Built build_split(Program program, std::vector<PlacedKernel> placements, const Options& options,
                  Homes homes) {
    group_by_backend(program, placements);
    std::vector<Segment> segments = segments_of(program, placements);
    std::vector<std::shared_ptr<runtime::Executable>> executables;
    for (const Segment& segment : segments) {
        Program ready;
        executables.push_back(compiled(segment.program, segment.backend, options, {}, ready));
    }
    const auto device = runtime::backend(options.backend)->device();
    homes.inputs.resize(program.inputs.size(), device);
    homes.outputs.resize(program.outputs.size(), device);
    Built built{transforms::plan_buffers(program, options.reuse_buffers), nullptr, placements};
    built.executable =
        joined(built.program, placements, std::move(segments), std::move(executables), homes);
    return built;
}

Built build_as_wished(const Program& program, const Options& options, const Homes& homes) {
    const std::vector<PlacedKernel> placements = place(program, options);
    if (is_split(placements, options, homes))
        return build_split(program, placements, options, homes);
    const PlacedKernel first =
        placements.empty() ? PlacedKernel{"", options.backend, ""} : placements[0];
    const int threads = options.threads > 0 ? options.threads : default_threads();
    Built built;
    built.executable =
        compiled(program, first.backend, options, parallel_for(threads), built.program);
    for (const Kernel& kernel : built.program.kernels)
        built.placements.push_back({kernel.name, first.backend, first.why});
    return built;
}

}  // namespace

std::vector<const void*> constants_of(const Program& program) {
    std::vector<const void*> constants;
    for (const ir::kernel::Buffer& buffer : program.buffers)
        if (buffer.value.is_row_major()) constants.push_back(buffer.value.row_major().get());
    return constants;
}

const transforms::Pipeline& pipeline_of(const Options& options) {
    return options.pipeline ? *options.pipeline : transforms::standard_pipeline();
}

std::vector<Scheduled> scheduled(const Program& program, const Options& options) {
    const DefaultFloatingPoint floating_point;
    Program grouped = program;
    std::vector<PlacedKernel> placements = place(program, options);
    const bool is_one = std::ranges::all_of(placements, [&](const PlacedKernel& placed) {
        return placed.backend == placements[0].backend;
    });
    if (!is_one) group_by_backend(grouped, placements);
    const std::vector<Segment> segments =
        is_one ? std::vector<Segment>{{placements.empty() ? options.backend : placements[0].backend,
                                       program,
                                       {},
                                       {}}}
               : segments_of(grouped, placements);
    std::vector<Program> programs;
    std::vector<transforms::Refusal> refusals(segments.size());
    for (size_t s = 0; s < segments.size(); ++s) {
        programs.push_back(segments[s].program);
        schedule(programs[s], *runtime::backend(segments[s].backend), options, refusals[s]);
    }
    std::vector<Scheduled> result;
    for (const transforms::SchedulePass& pass : pipeline_of(options).schedule) {
        std::string refused;
        for (size_t s = 0; s < segments.size(); ++s) {
            const Target target = target_of(*runtime::backend(segments[s].backend), options);
            std::string here;
            programs[s] = transforms::run_schedule_pass(pass, std::move(programs[s]), target,
                                                        refusals[s], here);
            if (refused.empty()) refused = here;
        }
        result.push_back({pass.name, programs, refused});
    }
    return result;
}

Built build(const Program& program, const Options& options, const Homes& homes) {
    const DefaultFloatingPoint floating_point;
    try {
        // Constants are packed now.
        const ReadingMappedFiles reading;
        Built built = build_as_wished(program, options, homes);
        reading.check(program.name.empty() ? "evaluate" : program.name, constants_of(program));
        return built;
    } catch (const runtime::Unavailable& missing) {
        // Values on a device stay there: what cannot run is an error.
        if (options.backend == interpreter || runtime::backend(options.backend)->device() ||
            !options.placement.empty())
            throw;
        warn_once(text("back end ", options.backend, ": ", missing.what(),
                       " The interpreter runs the program instead: the same results, slower."));
        Options instead = options;
        instead.backend = interpreter;
        Built built = build_as_wished(program, instead, homes);
        for (PlacedKernel& placed : built.placements) placed.why = missing.what();
        return built;
    }
}

}  // namespace composit::execute
