// A kernel of a program, compiled and called on its own.
#include "composit/base/error.h"
#include "composit/execute/build.h"
#include "composit/mosaic/program.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace composit::mosaic {
namespace {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;

// The kernel as a program of its own: what it reads are inputs, what it writes outputs.
class Extraction {
  public:
    Extraction(const ir::kernel::Kernel& kernel, const ir::kernel::Program& whole) : whole_(whole) {
        program.name = kernel.name;
        ir::kernel::Kernel moved = kernel;
        const auto written = ir::kernel::buffers_written(kernel);
        const bool adds_to_what_is_there = std::holds_alternative<ir::kernel::Scatter>(kernel.body);
        for (int number : ir::kernel::buffers_read(kernel)) {
            const bool is_written =
                std::find(written.begin(), written.end(), number) != written.end();
            if (!is_written)
                program.inputs.push_back(add(number, BufferKind::input));
            else if (adds_to_what_is_there)
                copy_first(number);
        }
        for (int number : written) program.outputs.push_back(add(number, BufferKind::output));
        for (Access* access : ir::kernel::accesses(moved.body))
            if (access->buffer != Access::position)
                access->buffer = add(access->buffer, BufferKind::local);
        if (auto* fused = std::get_if<ir::kernel::Fused>(&moved.body))
            for (int& local : fused->locals) local = renumbered_.at(local);
        program.kernels.push_back(std::move(moved));
    }

    ir::kernel::Program program;

  private:
    // The buffer's number here; of that kind if it is new.
    int add(int number, BufferKind kind) {
        const auto [found, is_new] =
            renumbered_.emplace(number, static_cast<int>(program.buffers.size()));
        if (is_new) {
            Buffer buffer = whole_.buffers[static_cast<size_t>(number)];
            buffer.kind = kind;
            buffer.arena_offset = -1;
            buffer.value = {};
            program.buffers.push_back(std::move(buffer));
        }
        return found->second;
    }

    void copy_first(int number) {
        const int target = add(number, BufferKind::output);
        Buffer before = program.buffers[static_cast<size_t>(target)];
        before.kind = BufferKind::input;
        before.name += "_before";
        const int64_t count = ir::element_count(before.shape);
        const ir::DType dtype = before.dtype;
        program.buffers.push_back(std::move(before));
        const int source = static_cast<int>(program.buffers.size()) - 1;
        program.inputs.push_back(source);
        program.kernels.push_back({"copy",
                                   "copy",
                                   {},
                                   ir::kernel::Map{{count},
                                                   {Access{source, dtype, 0, {1}}},
                                                   {ir::scalar::Expr::argument(0, dtype)},
                                                   {Access{target, dtype, 0, {1}}}}});
    }

    const ir::kernel::Program& whole_;
    std::unordered_map<int, int> renumbered_;
};

}  // namespace

struct Kernel::Alone {
    std::once_flag once;
    std::shared_ptr<runtime::Executable> executable;

    const runtime::Executable& compiled(const Kernel& kernel) {
        std::call_once(once, [&] {
            // As it stands: it has been scheduled with the others.
            const ir::kernel::Program program =
                transforms::plan_buffers(Extraction(*kernel.kernel_, *kernel.whole_).program, true);
            const execute::Options& options = kernel.options_;
            auto backend = runtime::backend(options.backend);
            if (backend->refuses(program.kernels.back(), program))
                backend = runtime::backend("interpreter");
            executable = backend->compile(program, {options.cache_folder, options.threads, false});
        });
        return *executable;
    }
};

Kernel::Kernel() : alone_(std::make_shared<Alone>()) {}

std::string Kernel::print() const { return ir::kernel::print(*kernel_, *whole_); }

std::string Kernel::source() const { return alone_->compiled(*this).source(); }

std::vector<Array> Kernel::operator()(const std::vector<Array>& arguments) const {
    user_check<TypeError>(arguments.size() == inputs_.size(), name(), ": ", arguments.size(),
                          " arguments given. ", inputs_.size(), " are required.");
    runtime::Run run;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Operand& input = inputs_[i];
        user_check<TypeError>(arguments[i].dtype() == input.dtype, name(), ": argument '",
                              input.name, "' has dtype ", arguments[i].dtype(), ". ", input.dtype,
                              " is required.");
        user_check(arguments[i].shape() == input.shape, name(), ": argument '", input.name,
                   "' has shape ", arguments[i].shape(), ". ", input.shape, " is required.");
        run.inputs.push_back(arguments[i].data());
    }
    run.threads = options_.threads;
    run.parallel_for = execute::parallel_for(run.threads);
    std::vector<Array> results;
    results.reserve(outputs_.size());
    for (const Operand& output : outputs_) {
        results.emplace_back(output.dtype, output.shape);
        run.outputs.push_back(results.back().mutable_data());
    }
    alone_->compiled(*this).run(run);
    return results;
}

}  // namespace composit::mosaic
