// Moves axes to the end and flattens them.
#include "composit/numpy/merged_axes.h"

#include "composit/numpy/manipulation.h"

#include <algorithm>

namespace composit::numpy {

MergedAxes merge_axes(const Tensor& x, std::vector<int64_t> axes) {
    std::sort(axes.begin(), axes.end());
    MergedAxes result{{}, {}, x.shape(), 1};
    std::vector<int64_t> permutation;
    int64_t count = 1;
    for (int64_t d = 0; d < x.rank(); ++d) {
        const auto at = static_cast<size_t>(d);
        if (std::binary_search(axes.begin(), axes.end(), d)) {
            result.length *= x.shape()[at];
            result.kept[at] = 1;
        } else {
            permutation.push_back(d);
            result.rest.push_back(x.shape()[at]);
            count *= x.shape()[at];
        }
    }
    permutation.insert(permutation.end(), axes.begin(), axes.end());
    result.rows = reshape(transpose(strong(x), permutation), {count, result.length});
    return result;
}

}  // namespace composit::numpy
