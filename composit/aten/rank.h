// Checks of what functions of PyTorch's ask of their operands' axes, and shapes in their errors.
#pragma once

#include "composit/base/error.h"
#include "composit/ir/node.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace composit::aten {

// RuntimeError: x has fewer axes than the function needs.
inline void check_rank(std::string_view function, const ir::Tensor& x, int64_t least) {
    user_check<RuntimeError>(x.rank() >= least, function, ": expected at least ", least,
                             " dimension(s), got a tensor of shape ", x.shape(), ".");
}

// A shape as PyTorch's messages show it: "[2, 3]".
inline std::string sizes_of(const ir::Tensor& x) {
    std::string text = "[";
    for (const int64_t size : x.shape())
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + "]";
}

}  // namespace composit::aten
