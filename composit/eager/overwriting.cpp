#include "composit/eager/overwriting.h"

#include "composit/eager/small.h"
#include "composit/ir/scalar/values.h"
#include "composit/ops/ops.h"

#include <cstring>
#include <utility>

namespace composit::eager {
namespace {

using ir::DType;

// Of a dtype that holds every number of another one.
bool fits(DType from, bool is_weak, DType to) {
    if (from == to || from == DType::boolean) return true;
    return is_weak && from == DType::int64 && to == DType::float64;
}

// Whether it has a value that may be written over, in memory that is composit's own.
bool has_own_value(const Tensor& tensor) {
    return known(tensor) && !tensor.node().reads_borrowed();
}

// The memory of what `after` keeps from now on: that of `before`, if nobody else can see it; else a
// copy of it.
void* memory_for(const Tensor& after, const Tensor& before) {
    const bool is_only = before.node().holders() == 1;
    if (is_only && before.node().output_count() == 1 && after.node().output_count() == 1)
        if (void* memory = after.node().take_over_kept(before.node())) return memory;
    const ir::ConstantArray there = known(before);
    const Array copy(there.dtype(), there.shape());
    std::memcpy(copy.mutable_data(), there.row_major().get(), static_cast<size_t>(there.bytes()));
    after.node().keep(after.output_index(), copy);
    return copy.mutable_data();
}

// Elements that follow each other, to where a region has them.
void put(char* memory, const Region& region, const ir::Shape& shape, const char* elements,
         size_t size) {
    const auto at = [&](int64_t place) { return memory + place * static_cast<int64_t>(size); };
    for_each_row(region, shape, [&](int64_t place, int64_t step, int64_t length) {
        if (step == 1) {
            std::memcpy(at(place), elements, static_cast<size_t>(length) * size);
            elements += static_cast<size_t>(length) * size;
            return;
        }
        for (int64_t i = 0; i < length; ++i, elements += size)
            std::memcpy(at(place + i * step), elements, size);
    });
}

// Where an element of a view lies in its root, of which it is a path; nothing where the root's
// elements are repeated, or shown otherwise.
std::optional<std::vector<int64_t>> position_in_root(const Cell& view,
                                                     const std::vector<int64_t>& position) {
    if (!view.is_view() || !view.root()->is_plain()) return {};
    const Tensor &seen = view.tensor(), &root = view.root()->tensor();
    // Values are row-major, however NumPy's array lies in memory.
    const auto region = region_through(root, {0, ir::row_major_strides(root.shape())}, seen);
    if (!region) return {};
    int64_t place = region->offset;
    for (size_t d = 0; d < position.size(); ++d) {
        if (region->strides[d] == 0 && seen.shape()[d] > 1) return {};
        place += position[d] * region->strides[d];
    }
    std::vector<int64_t> found(root.shape().size());
    for (size_t d = found.size(); d-- > 0;) {
        found[d] = place % root.shape()[d];
        place /= root.shape()[d];
    }
    return found;
}

}  // namespace

bool write_element(const Cell& cell, const std::vector<int64_t>& position, const Tensor& value) {
    if (!cell.is_plain()) {
        const auto found = position_in_root(cell, position);
        return found && write_element(*cell.root(), *found, value);
    }
    if (value.rank() != 0 || value.node().is_open()) return false;
    const Tensor& before = cell.tensor();
    const DType dtype = before.dtype();
    if (!fits(value.dtype(), value.type().weak, dtype) || !has_own_value(before)) return false;
    const std::optional<Number> number = small_number(value);
    if (!number) return false;
    const auto bits = ir::scalar::cast_bits(number->dtype, dtype, number->bits);
    // What was made of the old elements is computed while they are there.
    if (before.node().use_count() > 1) settle();
    const Tensor after = ops::with_element(before, position, ops::astype(value, dtype));
    const ir::Shape& shape = before.shape();
    int64_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + position[d];
    const auto size = static_cast<size_t>(ir::size_of(dtype));
    std::memcpy(static_cast<char*>(memory_for(after, before)) + static_cast<size_t>(place) * size,
                bits.data(), size);
    cell.replace(after);
    return true;
}

bool write_region(const Cell& cell, const Region& region, const Tensor& value, Tensor after) {
    const Tensor& before = cell.tensor();
    if (!cell.is_plain() || value.node().is_open() || value.dtype() != before.dtype() ||
        value.size() == 0 || after.node().reads_borrowed() || !has_own_value(before) ||
        known(after))
        return false;
    const Array written = look_once(value);
    if (known(after)) {  // it lives beside, and was looked at with the value
        cell.replace(std::move(after));
        return true;
    }
    char* const memory = static_cast<char*>(memory_for(after, before));
    put(memory, region, value.shape(), static_cast<const char*>(written.data()),
        static_cast<size_t>(ir::size_of(value.dtype())));
    cell.replace(std::move(after));
    return true;
}

}  // namespace composit::eager
