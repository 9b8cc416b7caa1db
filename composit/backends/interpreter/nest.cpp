// Sorting and joining loops.
#include "composit/backends/interpreter/nest.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace composit::interpreter {

Operand::Operand(const ir::kernel::Access& access)
    : buffer(access.buffer), dtype(access.dtype), offset(access.offset), strides(access.strides) {}

bool Operand::is_uniform() const {
    return std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; });
}

int64_t Nest::iterations() const { return iterations(0, rank()); }

int64_t Nest::iterations(int first, int last) const {
    int64_t count = 1;
    for (int d = first; d < last; ++d) count *= extents[static_cast<size_t>(d)];
    return count;
}

namespace {

// The nest with loop order[i] in place i.
Nest reordered(const Nest& nest, const std::vector<size_t>& order) {
    Nest result = nest;
    for (size_t i = 0; i < order.size(); ++i) {
        result.extents[i] = nest.extents[order[i]];
        for (size_t k = 0; k < nest.operands.size(); ++k)
            result.operands[k].strides[i] = nest.operands[k].strides[order[i]];
    }
    return result;
}

void drop_loop(Nest& nest, size_t d) {
    nest.extents.erase(nest.extents.begin() + static_cast<std::ptrdiff_t>(d));
    for (Operand& operand : nest.operands)
        operand.strides.erase(operand.strides.begin() + static_cast<std::ptrdiff_t>(d));
}

// Loops d and d + 1 visit the same elements as one loop of the product of their lengths.
bool are_one_loop(const Nest& nest, size_t d) {
    return std::all_of(nest.operands.begin(), nest.operands.end(), [&](const Operand& operand) {
        return operand.strides[d] == operand.strides[d + 1] * nest.extents[d + 1];
    });
}

}  // namespace

void sort_loops(Nest& nest, size_t by_operand) {
    std::vector<size_t> order(nest.extents.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const std::vector<int64_t>& strides = nest.operands[by_operand].strides;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::llabs(strides[a]) > std::llabs(strides[b]);
    });
    nest = reordered(nest, order);
}

int collapse(Nest& nest, int boundary) {
    auto border = static_cast<size_t>(boundary);
    for (size_t d = nest.extents.size(); d-- > 0;) {
        if (nest.extents[d] != 1) continue;
        drop_loop(nest, d);
        if (d < border) --border;
    }
    for (size_t d = nest.extents.size(); d-- > 1;) {
        if (d == border || !are_one_loop(nest, d - 1)) continue;
        nest.extents[d] *= nest.extents[d - 1];
        drop_loop(nest, d - 1);
        if (d < border) --border;
    }
    return static_cast<int>(border);
}

void add_offsets(const Nest& nest, int first, int last, int64_t flat,
                 std::vector<int64_t>& offsets) {
    for (int d = last - 1; d >= first && flat > 0; --d) {
        const auto dim = static_cast<size_t>(d);
        const int64_t index = flat % nest.extents[dim];
        flat /= nest.extents[dim];
        if (index == 0) continue;
        for (size_t k = 0; k < nest.operands.size(); ++k)
            offsets[k] += index * nest.operands[k].strides[dim];
    }
}

}  // namespace composit::interpreter
