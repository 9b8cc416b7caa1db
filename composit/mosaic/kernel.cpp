// A kernel of a program, compiled and called on its own.
#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/execute/build.h"
#include "composit/execute/devices.h"
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
    Extraction(const ir::kernel::Program& whole, const ir::kernel::Kernel& kernel,
               const OuterBuffers& outer)
        : whole_(whole) {
        ir::kernel::Kernel moved = kernel;
        program.name = moved.name;
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

std::vector<OuterBuffers> outer_buffers(const ir::kernel::Program& program) {
    std::vector<size_t> first_writer(program.buffers.size(), program.kernels.size());
    std::vector<bool> has_others(program.buffers.size(), false);  // that write it, too
    std::vector<OuterBuffers> all(program.kernels.size());
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const ir::kernel::Kernel& kernel = program.kernels[k];
        const bool is_repeat = std::holds_alternative<ir::kernel::Repeat>(kernel.body),
                   goes_on = is_repeat || std::holds_alternative<ir::kernel::Scatter>(kernel.body);
        const std::vector<bool> touched =
            is_repeat ? ir::kernel::touched_outside(program, k) : std::vector<bool>();
        const auto is_outer = [&](int number) {
            return !is_repeat || touched[static_cast<size_t>(number)];
        };
        const std::vector<int> written = ir::kernel::buffers_written(kernel);
        OuterBuffers& outer = all[k];
        for (int number : ir::kernel::buffers_read(kernel))
            if (is_outer(number) && (goes_on || !contains(written, number)))
                outer.read.push_back(number);
        for (int number : written) {
            if (!is_outer(number)) continue;
            outer.written.push_back(number);
            const auto at = static_cast<size_t>(number);
            if (first_writer[at] == program.kernels.size()) {
                first_writer[at] = k;
                continue;
            }
            has_others[at] = true;
            if (!contains(outer.read, number)) outer.read.push_back(number);
        }
    }
    for (size_t b = 0; b < has_others.size(); ++b)
        if (has_others[b]) all[first_writer[b]].begun.push_back(static_cast<int>(b));
    return all;
}

struct Kernel::Alone {
    std::once_flag once;
    std::shared_ptr<runtime::Executable> executable;

    const runtime::Executable& compiled(const Kernel& kernel) {
        std::call_once(once, [&] {
            execute::Options as_it_stands = kernel.options_;  // scheduled with the others
            as_it_stands.fuse = false;
            as_it_stands.whole_model = false;
            as_it_stands.reuse_buffers = true;
            const Extraction extraction(*kernel.whole_, *kernel.kernel_, kernel.outer_);
            executable =
                execute::with_host_memory(execute::build(extraction.program, as_it_stands).executable,
                                          as_it_stands.backend, extraction.program);
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
    const DefaultFloatingPoint floating_point;
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
    for (size_t o = 0; o < outputs_.size(); ++o) {
        Array& result = results.emplace_back(outputs_[o].dtype, outputs_[o].shape);
        run.outputs.push_back(result.mutable_data());
        if (contains(outer_.begun, outer_.written[o]))
            std::fill_n(static_cast<char*>(result.mutable_data()), result.bytes(), char{0});
    }
    alone_->compiled(*this).run(run);
    return results;
}

}  // namespace composit::mosaic
