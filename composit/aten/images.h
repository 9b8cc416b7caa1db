// Images with channels first, with or without a batch.
#pragma once

#include "composit/base/error.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"

#include <string_view>

namespace composit::aten {

// x with a batch, of one where it has none. ValueError unless x has channels and `count` more axes.
inline ir::Tensor with_batch(const ir::Tensor& x, int64_t count) {
    user_check(x.rank() == count + 1 || x.rank() == count + 2, "images: x has shape ", x.shape(),
               ". Channels and ", count, " spatial axes, with or without a batch, are required.");
    return x.rank() == count + 1 ? numpy::expand_dims(x, 0) : x;
}

// A result as x had it: without a batch where x has none.
inline ir::Tensor without_batch(const ir::Tensor& result, const ir::Tensor& x, int64_t count) {
    return x.rank() == count + 1 ? numpy::get_item(result, {int64_t{0}}) : result;
}

inline void check_floats(const ir::Tensor& x, std::string_view what) {
    user_check<NotSupported>(ir::is_inexact(x.dtype()), what, " of ", x.dtype(),
                             " is not traced. Floats are.");
}

}  // namespace composit::aten
