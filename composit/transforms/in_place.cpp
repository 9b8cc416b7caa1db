// Looks at who reads and who writes, in the order of the kernels.
#include "composit/transforms/in_place.h"

#include "composit/ops/nest.h"

#include <algorithm>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Kernel;
using ir::kernel::Map;

namespace {

// Whether a map reads of `place` only what the same index writes to `next`.
bool reads_what_it_writes(const Kernel& kernel, const Access& place, const Access& next) {
    const auto* map = std::get_if<Map>(&kernel.body);
    if (map == nullptr) return false;
    for (const Access& input : map->inputs) {
        if (input.buffer != place.buffer) continue;
        for (const Access& output : map->outputs) {
            Access there = output;
            there.buffer = place.buffer;
            if (output.buffer == next.buffer && !ops::is_equal(there, input)) return false;
        }
    }
    return true;
}

// A map that writes every element where it read it.
bool does_nothing(const Kernel& kernel) {
    const auto* map = std::get_if<Map>(&kernel.body);
    if (map == nullptr || map->outputs.size() != 1) return false;
    const ir::scalar::Expr& value = map->values[0];
    return value.op() == ir::scalar::Op::argument &&
           ops::is_equal(map->inputs[static_cast<size_t>(value.index())], map->outputs[0]);
}

}  // namespace

bool touches(const std::vector<int>& buffers, int buffer) {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

bool may_write_in_place(const std::vector<Kernel>& kernels, const Access& place,
                        const Access& next) {
    bool is_written = false;
    for (const Kernel& kernel : kernels) {
        if (is_written && touches(ir::kernel::buffers_read(kernel), place.buffer)) return false;
        if (!touches(ir::kernel::buffers_written(kernel), next.buffer)) continue;
        if (!is_written && touches(ir::kernel::buffers_read(kernel), place.buffer) &&
            !reads_what_it_writes(kernel, place, next))
            return false;
        is_written = true;
    }
    return is_written;
}

void replace_buffer(std::vector<Kernel>& kernels, int replaced, int by) {
    for (Kernel& kernel : kernels)
        for (Access* access : ir::kernel::accesses(kernel.body))
            if (access->buffer == replaced) access->buffer = by;
    std::erase_if(kernels, does_nothing);
}

}  // namespace composit::transforms
