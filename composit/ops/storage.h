// How tensors of dtypes that no kernel has lie in memory: complex numbers as pairs of real ones,
// short floats as their bits.
#pragma once

#include "composit/ir/operation.h"

#include <vector>

namespace composit::ops {

using ir::Components;
using ir::Tensor;

// complex64[3] is float32[3, 2], float16[3] is uint16[3].
ir::TensorType storage_type(const ir::TensorType& type);

// A leaf as it lies in memory.
Tensor stored(const Tensor& x);

Components from_storage(const Tensor& memory, const ir::TensorType& type);
Tensor to_storage(const Components& x, const ir::TensorType& type);

}  // namespace composit::ops
