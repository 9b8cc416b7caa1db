// Checks of what functions of PyTorch's ask of their operands' axes.
#pragma once

#include "composit/base/error.h"
#include "composit/ir/node.h"

#include <cstdint>
#include <string_view>

namespace composit::aten {

// RuntimeError: x has fewer axes than the function needs.
inline void check_rank(std::string_view function, const ir::Tensor& x, int64_t least) {
    user_check<RuntimeError>(x.rank() >= least, function, ": expected at least ", least,
                             " dimension(s), got a tensor of shape ", x.shape(), ".");
}

}  // namespace composit::aten
