// Constants whose memory others know.
#include "composit/eager/exposing.h"

#include "composit/ir/remote_memory.h"
#include "composit/runtime/device.h"

#include <cstring>
#include <utility>

namespace composit::eager {
namespace {

// Keeps the memory, and tells what was shared here from what others lent.
struct Exposed {
    std::shared_ptr<void> memory;
    void operator()(void*) const {}
};

Array shared(const Array& value) {
    if (const auto memory = value.remote())
        return {value.dtype(), value.shape(),
                runtime::shared_memory(runtime::device(memory->device()), memory->address(),
                                       memory->bytes(), memory)};
    void* const data = value.mutable_data();
    return {value.dtype(), value.shape(), std::shared_ptr<void>(data, Exposed{value.owner()}),
            data};
}

Array copied(const Array& value) {
    if (const auto memory = value.remote())
        return runtime::copy_on(runtime::device(memory->device()), value);
    Array copy(value.dtype(), value.shape());
    if (value.bytes() > 0)
        std::memcpy(copy.mutable_data(), value.data(), static_cast<size_t>(value.bytes()));
    return copy;
}

// Which others were given, or gave themselves on a device, where all memory can be written.
bool is_exposed(const Array& value) {
    return value.is_remote() || std::get_deleter<Exposed>(value.owner()) != nullptr;
}

}  // namespace

Array exposed(const Ref<Cell>& cell) {
    if (cell->is_view() || cell->type().weak) return {};
    if (const Tensor held = cell->tensor(); held.node().reads_borrowed()) {
        if (!ir::is_constant(held.node())) return {};
        Array value = ir::constant_value(held.node());
        return is_exposed(value) ? value : Array();
    }
    Array value = look({cell->tensor()}, {})[0];
    if (!value.is_remote() && !cell->lies_on_host())
        value = runtime::copied_to(runtime::device(ir::device_name(cell->device())), value);
    const auto give = [&](const Array& memory) { cell->replace(ir::constant(shared(memory))); };
    // Memory that nobody else holds by then is the cell's own.
    give(value);
    constexpr int64_t own_uses = 2;  // here, and by what is shared
    if (value.owner().use_count() > own_uses) give(copied(value));
    return ir::constant_value(cell->tensor().node());
}

}  // namespace composit::eager
