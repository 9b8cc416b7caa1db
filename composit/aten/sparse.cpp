// Sparse shapes.
#include "composit/aten/sparse.h"

#include "composit/base/error.h"

#include <algorithm>

namespace composit::aten {

Shape sparse_size(int64_t dims, const std::vector<int64_t>& least,
                  const std::vector<int64_t>& greatest, const Shape& value,
                  const std::optional<Shape>& given) {
    if (!least.empty()) {
        const auto lowest = std::ranges::min_element(least);
        user_check<RuntimeError>(*lowest >= 0, "found negative index ", *lowest, " for dim ",
                                 lowest - least.begin());
    }
    Shape ends(static_cast<size_t>(std::max<int64_t>(dims, 0)), 0);
    for (size_t dim = 0; dim < std::min(ends.size(), greatest.size()); ++dim)
        ends[dim] = greatest[dim] + 1;
    if (!given) {
        ends.insert(ends.end(), value.begin(), value.end());
        return ends;
    }
    for (size_t dim = 0; dim < std::min(ends.size(), given->size()); ++dim)
        user_check<RuntimeError>(ends[dim] <= (*given)[dim],
                                 "size is inconsistent with indices: for dim ", dim, ", size is ",
                                 (*given)[dim], " but found index ", ends[dim] - 1);
    return *given;
}

int64_t sparse_dims(int64_t rank, std::optional<int64_t> sparse, std::optional<int64_t> dense) {
    user_check<TypeError>(!sparse || !dense,
                          "to_sparse: sparse_dim and dense_dim are both given. One is required.");
    const int64_t count = sparse ? *sparse : rank - dense.value_or(0);
    const int64_t least = std::min<int64_t>(rank, 1);
    user_check<RuntimeError>(count >= least && count <= rank, "to_sparse: sparse_dim is ", count,
                             " for a tensor of ", rank, " dimensions. From ", least, " to ", rank,
                             " is required.");
    return count;
}

}  // namespace composit::aten
