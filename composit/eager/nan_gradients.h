// Where gradients through a graph become NaN: for who looks for the operation that is at fault.
#pragma once

#include "composit/ir/node.h"

#include <optional>
#include <string>
#include <vector>

namespace composit::eager {

using ir::Tensor;

struct NanGradient {
    std::string operation;  // its name, or that of its row of the scalar language
    size_t operand = 0;     // whose gradient is NaN
    std::string location;   // the line that called the operation
};

// The first operation from the outputs back to the inputs whose gradient by an operand is NaN
// somewhere, for what flows into the outputs; nothing where there is none. It computes them all,
// one after the other.
[[nodiscard]] std::optional<NanGradient> first_nan_gradient(const std::vector<Tensor>& outputs,
                                                            const std::vector<Tensor>& flows,
                                                            const std::vector<Tensor>& inputs);

// Whether an element is NaN, computed now.
[[nodiscard]] bool has_nan(const Tensor& values);

}  // namespace composit::eager
