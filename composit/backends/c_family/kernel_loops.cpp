// Merges, sorts and splits loops, and writes addresses.
#include "composit/backends/c_family/kernel_loops.h"

#include "composit/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace composit::c_family {

using ir::kernel::Access;
using ir::kernel::Extents;

namespace {

bool can_merge(const LoopNest& nest, size_t outer) {
    for (const Access& access : nest.accesses)
        if (access.strides[outer] != access.strides[outer + 1] * nest.extents[outer + 1])
            return false;
    return true;
}

void erase_loop(LoopNest& nest, size_t loop) {
    nest.extents.erase(nest.extents.begin() + static_cast<std::ptrdiff_t>(loop));
    for (Access& access : nest.accesses)
        access.strides.erase(access.strides.begin() + static_cast<std::ptrdiff_t>(loop));
}

}  // namespace

Access access_over(const Access& access, size_t first, size_t count) {
    Access result = access;
    const auto start = access.strides.begin() + static_cast<std::ptrdiff_t>(first);
    result.strides.assign(start, start + static_cast<std::ptrdiff_t>(count));
    return result;
}

LoopNest merge_loops(LoopNest nest) {
    for (size_t d = nest.extents.size(); d-- > 0;)
        if (nest.extents[d] == 1) erase_loop(nest, d);
    for (size_t d = nest.extents.size(); d-- > 1;) {
        if (!can_merge(nest, d - 1)) continue;
        nest.extents[d] *= nest.extents[d - 1];
        erase_loop(nest, d - 1);
    }
    return nest;
}

LoopNest sort_loops(const LoopNest& nest, size_t leader) {
    std::vector<size_t> order(nest.extents.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const std::vector<int64_t> steps = nest.accesses[leader].strides;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return std::abs(steps[a]) > std::abs(steps[b]); });
    LoopNest sorted = nest;
    for (size_t d = 0; d < order.size(); ++d) {
        sorted.extents[d] = nest.extents[order[d]];
        for (size_t k = 0; k < nest.accesses.size(); ++k)
            sorted.accesses[k].strides[d] = nest.accesses[k].strides[order[d]];
    }
    return sorted;
}

LoopNest sort_and_merge_loops(LoopNest nest, size_t leader) {
    return merge_loops(sort_loops(nest, leader));
}

int loop_to_split(const Extents& extents) {
    constexpr int64_t long_enough = 64;  // even shares for any number of threads that one meets
    if (extents.empty()) return -1;
    for (size_t d = 0; d < extents.size(); ++d)
        if (extents[d] >= long_enough) return static_cast<int>(d);
    return static_cast<int>(std::max_element(extents.begin(), extents.end()) - extents.begin());
}

int transposed_loop(const LoopNest& nest, size_t inputs) {
    constexpr int64_t least_extent = 32, least_bytes = 1 << 16;  // caches hold what is smaller
    if (nest.extents.size() < 2 || nest.extents.back() < least_extent) return -1;
    const size_t last = nest.extents.size() - 1;
    for (size_t k = 0; k < inputs; ++k) {
        const Access& input = nest.accesses[k];
        if (input.buffer == Access::position) continue;
        if (ir::element_count(nest.extents) * ir::size_of(input.dtype) < least_bytes) continue;
        for (size_t d = 0; d < last; ++d)
            if (nest.extents[d] >= least_extent && input.strides[d] != 0 &&
                std::abs(input.strides[d]) < std::abs(input.strides[last]))
                return static_cast<int>(d);
    }
    return -1;
}

int64_t columns_of_strip(ir::DType written) {
    return std::max<int64_t>(8, 32 / ir::size_of(written));
}

std::string address_text(const Access& access, const std::vector<std::string>& indices) {
    std::string result;
    auto put = [&](bool is_negative, const std::string& term) {
        if (result.empty())
            result = (is_negative ? "-" : "") + term;
        else
            result += (is_negative ? " - " : " + ") + term;
    };
    auto magnitude = [](int64_t value) {
        std::string digits = text(value);
        return value < 0 ? digits.substr(1) : digits;
    };
    // A positive term first reads better, and a leading constant keeps "-i" away.
    if (access.offset != 0) put(access.offset < 0, magnitude(access.offset));
    for (size_t d = 0; d < access.strides.size(); ++d) {
        int64_t stride = access.strides[d];
        if (stride == 0) continue;
        std::string factor = magnitude(stride);
        put(stride < 0, factor == "1" ? indices[d] : indices[d] + " * " + factor);
    }
    return result.empty() ? "0" : result;
}

}  // namespace composit::c_family
