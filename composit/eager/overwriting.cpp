#include "composit/eager/overwriting.h"

#include "composit/base/error.h"
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
    const Array copy = copied(known(before));
    after.node().keep(after.output_index(), copy);
    return copy.mutable_data();
}

// Elements that follow each other, to places that lie `step` elements apart. Their size is known
// when this is compiled: a call for each would take most of the time.
template <size_t size>
void put_apart(char* to, int64_t step, int64_t length, const char* elements) {
    for (int64_t i = 0; i < length; ++i)
        std::memcpy(to + i * step * static_cast<int64_t>(size),
                    elements + i * static_cast<int64_t>(size), size);
}

using PutApart = void (*)(char* to, int64_t step, int64_t length, const char* elements);
PutApart put_apart_of(size_t size) {
    switch (size) {
        case 1: return put_apart<1>;
        case 2: return put_apart<2>;
        case 4: return put_apart<4>;
        case 8: return put_apart<8>;
        case 16: return put_apart<16>;
        default: internal_check(false, "elements of ", size, " bytes");
    }
    return nullptr;
}

// Elements that follow each other, to where a region has them.
void put(char* memory, const Region& region, const ir::Shape& shape, const char* elements,
         size_t size) {
    const auto at = [&](int64_t place) { return memory + place * static_cast<int64_t>(size); };
    const PutApart put_elements = put_apart_of(size);
    for_each_row(region, shape, [&](int64_t place, int64_t step, int64_t length) {
        if (step == 1) {
            std::memcpy(at(place), elements, static_cast<size_t>(length) * size);
        } else {
            put_elements(at(place), step, length, elements);
        }
        elements += static_cast<size_t>(length) * size;
    });
}

}  // namespace

bool write_element(const Cell& cell, int64_t place, const Ref<Deferred>& value) {
    const bool is_fitting = fits(value->dtype(), value->is_weak(), cell.type().dtype);
    return is_fitting && cell.write_element(place, value);
}

bool write_region(const Cell& cell, const Region& region, const Tensor& value, Tensor after) {
    if (!cell.is_plain()) return false;
    cell.close_elements();  // which refer to the memory
    const Tensor& before = cell.tensor();
    if (value.node().is_open() || value.dtype() != before.dtype() || value.size() == 0 ||
        after.node().reads_borrowed() || !has_own_value(before) || known(after))
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
