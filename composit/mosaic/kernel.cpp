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

bool contains(const std::vector<int>& numbers, int number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// The kernel as a program of its own: what it reads are inputs, what it writes outputs.
class Extraction {
  public:
    Extraction(const ir::kernel::Program& whole, size_t kernel) : whole_(whole) {
        ir::kernel::Kernel moved = whole.kernels[kernel];
        program.name = moved.name;
        const OuterBuffers outer = outer_buffers(whole, kernel);
        for (int number : outer.read)
            if (contains(outer.written, number))
                copy_first(number);
            else
                program.inputs.push_back(add(number, BufferKind::input));
        for (int number : outer.written) program.outputs.push_back(add(number, BufferKind::output));
        renumber(moved);
        program.kernels.push_back(std::move(moved));
    }

    ir::kernel::Program program;

  private:
    void renumber(ir::kernel::Kernel& kernel) {
        if (auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body)) {
            if (repeat->counter.buffer != Access::position)
                repeat->counter.buffer = add(repeat->counter.buffer, BufferKind::temporary);
            for (ir::kernel::Kernel& inner : repeat->kernels) renumber(inner);
            return;
        }
        for (Access* access : ir::kernel::accesses(kernel.body))
            if (access->buffer != Access::position)
                access->buffer = add(access->buffer, kind_of(access->buffer));
        if (auto* fused = std::get_if<ir::kernel::Fused>(&kernel.body))
            for (int& local : fused->locals) local = renumbered_.at(local);
    }

    BufferKind kind_of(int number) const {
        return whole_.buffers[static_cast<size_t>(number)].kind;
    }

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

OuterBuffers outer_buffers(const ir::kernel::Program& program, size_t kernel) {
    const ir::kernel::Kernel& k = program.kernels[kernel];
    const bool is_repeat = std::holds_alternative<ir::kernel::Repeat>(k.body),
               goes_on = is_repeat || std::holds_alternative<ir::kernel::Scatter>(k.body);
    const std::vector<int> written = ir::kernel::buffers_written(k);
    const std::vector<bool> is_outer = is_repeat ? ir::kernel::touched_outside(program, kernel)
                                                 : std::vector<bool>(program.buffers.size(), true);
    OuterBuffers outer;
    for (int number : ir::kernel::buffers_read(k))
        if (is_outer[static_cast<size_t>(number)] && (goes_on || !contains(written, number)))
            outer.read.push_back(number);
    for (int number : written)
        if (is_outer[static_cast<size_t>(number)]) outer.written.push_back(number);
    return outer;
}

struct Kernel::Alone {
    std::once_flag once;
    std::shared_ptr<runtime::Executable> executable;

    const runtime::Executable& compiled(const Kernel& kernel) {
        std::call_once(once, [&] {
            // As it stands: it has been scheduled with the others.
            const auto number = static_cast<size_t>(kernel.kernel_ - kernel.whole_->kernels.data());
            const ir::kernel::Program program =
                transforms::plan_buffers(Extraction(*kernel.whole_, number).program, true);
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
