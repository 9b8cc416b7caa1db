// What a traced function captured: tensors that it uses beside its parameters.
#pragma once

#include "composit/ir/body.h"

#include <vector>

namespace composit {

// Scalar constants: left in the body, where they become literals of the code, or taken out, where
// gradients may have to reach them.
enum class ScalarConstants { stay, come_out };

// Tensors on no way from a parameter become parameters of the body, which then depends on nothing
// else (but for weak scalars). Returns their values, in the order of the new parameters.
std::vector<ir::Tensor> take_out_captured(ir::Body& body, ScalarConstants scalars);

}  // namespace composit
