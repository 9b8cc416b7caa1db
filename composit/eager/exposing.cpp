// Constants whose memory others know.
#include "composit/eager/exposing.h"

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
    void* const data = value.mutable_data();
    return {value.dtype(), value.shape(), std::shared_ptr<void>(data, Exposed{value.owner()}),
            data};
}

}  // namespace

Array exposed(const Ref<Cell>& cell) {
    if (cell->is_view() || cell->type().weak || !cell->lies_on_host()) return {};
    if (const Tensor held = cell->tensor(); held.node().reads_borrowed()) {
        if (!ir::is_constant(held.node())) return {};
        Array value = ir::constant_value(held.node());
        return std::get_deleter<Exposed>(value.owner()) ? value : Array();
    }
    Array value = look({cell->tensor()}, {})[0];
    if (value.is_remote()) return {};
    cell->replace(ir::constant(shared(value)));
    constexpr int64_t own_uses = 2;  // here, and by what is shared
    if (value.owner().use_count() > own_uses) {
        Array copy(value.dtype(), value.shape());
        if (value.bytes() > 0)
            std::memcpy(copy.mutable_data(), value.data(), static_cast<size_t>(value.bytes()));
        cell->replace(ir::constant(shared(copy)));
    }
    return ir::constant_value(cell->tensor().node());
}

}  // namespace composit::eager
