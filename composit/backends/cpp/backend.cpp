// Prints, compiles, loads; and registers the back end when the library is loaded.
#include "composit/backends/cpp/backend.h"

#include "composit/backends/c_family/kernel_module.h"
#include "composit/backends/cpp/cache.h"
#include "composit/backends/cpp/executable.h"
#include "composit/backends/cpp/process.h"
#include "composit/backends/cpp/whole_model.h"
#include "composit/base/text.h"
#include "composit/runtime/interrupt.h"
#include "composit/runtime/warning.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

namespace composit::cpp {
namespace {

const bool is_registered = [] {
    runtime::register_backend(std::make_shared<CppBackend>());
    return true;
}();

struct BuiltSource {
    std::shared_ptr<Library> library;
    std::string warning;
    std::exception_ptr error;
};

// Builds all sources, several at a time: compilers are processes of their own.
std::vector<BuiltSource> build_all(const std::vector<Source>& sources, const std::string& folder,
                                   int threads, const std::stop_token& stop) {
    std::vector<BuiltSource> built(sources.size());
    std::atomic<size_t> next{0};
    auto work = [&] {
        for (size_t s; (s = next++) < sources.size();) {
            try {
                built[s].library = build_or_load(sources[s], folder, stop, built[s].warning);
            } catch (...) {
                built[s].error = std::current_exception();
            }
        }
    };
    std::vector<std::jthread> others;
    size_t wanted = std::min(sources.size(), static_cast<size_t>(std::max(threads, 1)));
    try {
        for (size_t t = 1; t < wanted; ++t) others.emplace_back(work);
    } catch (const std::system_error&) {
        // A machine that gives no more threads builds with those that are there.
    }
    work();
    others.clear();
    return built;
}

}  // namespace

std::optional<std::string> CppBackend::refuses(const ir::kernel::Kernel& kernel,
                                               const ir::kernel::Program&) const {
    return c_family::unprintable(kernel);
}

std::shared_ptr<runtime::Executable> CppBackend::compile(const ir::kernel::Program& program,
                                                         const runtime::CompileOptions& options) {
    c_family::Modules modules =
        c_family::print_modules({&program}, {.asks = true, .has_ready_products = true});
    const Layout layout(program, modules);
    Compiled compiled;
    std::vector<BuiltSource> built;
    runtime::run_interruptibly([&](const std::stop_token& stop) {
        Compiler compiler = find_compiler(stop);
        compiled.command = command_line(build_command(compiler));
        const std::string name = program.name.empty() ? "program" : program.name;
        const std::string head = head_of(program, compiled.command);
        std::vector<Source> sources;
        const auto add = [&](const std::string& file, std::string text,
                             std::vector<std::string> symbols) {
            compiled.sources.push_back({file, text});
            sources.push_back(
                {name, std::move(text), program.graph_text, compiler, std::move(symbols)});
        };
        const bool is_one_file = options.whole_model && modules.modules.size() == 1 &&
                                 layout.steps.size() <= steps_per_file;
        for (size_t m = 0; m < modules.modules.size(); ++m) {
            const c_family::Module& module = modules.modules[m];
            const std::string model =
                is_one_file ? model_text(layout.steps, &module.functions) : "";
            std::vector<std::string> symbols = symbols_of(module);
            if (is_one_file) symbols.push_back(model_symbol);
            add(text("kernels_", m, ".cpp"), source_of(module, head, model), std::move(symbols));
        }
        for (size_t s = 0; options.whole_model && !is_one_file && s < layout.steps.size();
             s += steps_per_file) {
            const auto begin = layout.steps.begin() + static_cast<std::ptrdiff_t>(s);
            const auto end = layout.steps.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                        s + steps_per_file, layout.steps.size()));
            add(text("model_", s / steps_per_file, ".cpp"),
                source_of_model(head, model_text({begin, end}, nullptr)), {model_symbol});
        }
        compiled.models = is_one_file ? 1 : sources.size() - modules.modules.size();
        built = build_all(sources, options.cache_folder, options.threads, stop);
    });
    // Here, as warnings belong to the thread that asked for the program.
    for (const BuiltSource& one : built)
        if (!one.warning.empty()) runtime::warn(one.warning);
    for (const BuiltSource& one : built) {
        if (one.error) std::rethrow_exception(one.error);
        compiled.libraries.push_back(one.library);
    }
    return std::make_shared<CompiledProgram>(program, modules, layout, std::move(compiled),
                                             options.parallel_for);
}

}  // namespace composit::cpp
