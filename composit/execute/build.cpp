// Asks a back end which kernels it takes, compiles, and falls back loudly where it cannot.
#include "composit/execute/build.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/runtime/unavailable.h"
#include "composit/runtime/warning.h"

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

bool is_split(const std::vector<Placement>& placements) {
    for (const Placement& placement : placements)
        if (placement.backend != placements[0].backend) return true;
    return false;
}

Built build_as_wished(const Program& program, const Options& options) {
    Built built{program, nullptr, place(program, options)};
    const bool is_whole = !is_split(built.placements);
    int64_t bytes_of_part = is_whole && !built.placements.empty() && options.fuse
                                ? runtime::backend(built.placements[0].backend)->bytes_of_part()
                                : 0;
    if (bytes_of_part > 0) {
        if (options.bytes_of_part > 0) bytes_of_part = options.bytes_of_part;
        built.program =
            transforms::fuse_rows(transforms::merge_maps(std::move(built.program)), bytes_of_part);
        constexpr int64_t parts_near = 16;  // in the L2 cache
        built.program =
            transforms::finish_products(std::move(built.program), parts_near * bytes_of_part);
        built.program = transforms::pack_constants(std::move(built.program));
        built.placements = place(built.program, options);
    }
    built.program = transforms::plan_buffers(std::move(built.program), options.reuse_buffers);
    if (!is_whole) {
        built.executable = compile_split(program, built.placements, options);
        return built;
    }
    const auto backend =
        runtime::backend(built.placements.empty() ? options.backend : built.placements[0].backend);
    const int threads = options.threads > 0 ? options.threads : default_threads();
    try {
        built.executable = backend->compile(
            built.program,
            {options.cache_folder, threads, options.whole_model, parallel_for(threads)});
    } catch (const NotSupported&) {
        for (const Kernel& kernel : program.kernels)
            check_interpreter(program, kernel, options.backend);
        throw;
    }
    return built;
}

}  // namespace

std::vector<const void*> constants_of(const Program& program) {
    std::vector<const void*> constants;
    for (const ir::kernel::Buffer& buffer : program.buffers)
        if (buffer.value.is_row_major()) constants.push_back(buffer.value.row_major().get());
    return constants;
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
