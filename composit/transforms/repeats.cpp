// Passes over the kernels that run again and again, and what loops leave over.
#include "composit/transforms/transforms.h"

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;
using ir::kernel::Repeat;

Program within_repeats(Program program, const ProgramToProgram& pass) {
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        auto* repeat = std::get_if<Repeat>(&program.kernels[k].body);
        if (repeat == nullptr) continue;
        std::vector<bool> is_kept = ir::kernel::touched_outside(program, k);
        if (repeat->counter.buffer != Access::position)
            is_kept[static_cast<size_t>(repeat->counter.buffer)] = true;
        Program inner;
        inner.name = program.name;
        inner.kernels = std::move(repeat->kernels);
        inner.buffers = std::move(program.buffers);
        std::vector<size_t> changed;
        for (size_t b = 0; b < is_kept.size(); ++b)
            if (is_kept[b] && inner.buffers[b].kind == BufferKind::temporary) {
                inner.buffers[b].kind = BufferKind::output;
                changed.push_back(b);
            }
        inner = pass(within_repeats(std::move(inner), pass));
        for (size_t b : changed) inner.buffers[b].kind = BufferKind::temporary;
        program.buffers = std::move(inner.buffers);
        repeat->kernels = std::move(inner.kernels);
    }
    return program;
}

bool has_one_kernel(const Program& program) {
    return program.kernels.size() == 1 && !std::holds_alternative<Repeat>(program.kernels[0].body);
}

namespace {

void renumber_locals(Kernel& kernel, const std::vector<int>& number) {
    if (auto* fused = std::get_if<ir::kernel::Fused>(&kernel.body))
        for (int& local : fused->locals) local = number[static_cast<size_t>(local)];
    if (auto* repeat = std::get_if<Repeat>(&kernel.body))
        for (Kernel& inner : repeat->kernels) renumber_locals(inner, number);
}

}  // namespace

Program without_unused_buffers(Program program) {
    const std::vector<bool> is_used = ir::kernel::touched_outside(program, program.kernels.size());
    std::vector<int> number(is_used.size(), Access::position);
    std::vector<Buffer> kept;
    for (size_t b = 0; b < is_used.size(); ++b) {
        if (!is_used[b]) continue;
        number[b] = static_cast<int>(kept.size());
        kept.push_back(std::move(program.buffers[b]));
    }
    program.buffers = std::move(kept);
    for (int& input : program.inputs) input = number[static_cast<size_t>(input)];
    for (int& output : program.outputs) output = number[static_cast<size_t>(output)];
    for (Kernel& kernel : program.kernels) {
        for (Access* access : ir::kernel::accesses(kernel.body))
            if (access->buffer != Access::position)
                access->buffer = number[static_cast<size_t>(access->buffer)];
        renumber_locals(kernel, number);
    }
    return program;
}

}  // namespace composit::transforms
