// What operations have in common that a foreign function computes (docs/decisions/0011).
#pragma once

#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::ops {

// The function that computes a node, and what it is told.
struct ForeignCallee {
    std::string function;
    std::vector<int64_t> options;
};
using ForeignRule = std::function<ForeignCallee(const ir::Attributes& attributes)>;

// Registers an operation whose lowering is a call of the function that `callee` names, of complex
// operands as of real ones, and whose batch is a leading axis of all operands.
const ir::Operation& register_foreign(ir::Operation operation, ForeignRule callee);

// Emits the call of a function with the node's operands and outputs; where `pairs_in` or
// `pairs_out` is 1, one and the next are parts of a complex operand.
void emit_call(const ir::Node& node, ir::Lowering& lowering, const ForeignCallee& callee,
               const std::vector<int64_t>& pairs_in = {},
               const std::vector<int64_t>& pairs_out = {});

// Types that attributes state: of each output its dtype ("dtypes"), its rank and its lengths
// ("lengths").
std::vector<ir::TensorType> stated_types(const std::vector<Tensor>& operands,
                                         const ir::Attributes& attributes);
void state_type(const ir::TensorType& type, ir::DType dtype, std::vector<int64_t>& dtypes,
                std::vector<int64_t>& lengths);
void check_stated_types(std::string_view name, const ir::Attributes& attributes);

// The node's operation with a leading axis on all operands: a batch rule.
std::vector<Tensor> batched_alike(const ir::Node& node, const std::vector<Tensor>& operands,
                                  const std::vector<bool>& batched, int64_t batch_size);

// Checks that there are `count` operands, that the first `matrices` of them are matrices of one
// dtype and batch, and that the first is square where it has to be.
struct MatrixRules {
    size_t count = 1, matrices = 1;
    bool is_square = false;
};
void check_matrices(std::string_view operation, const std::vector<Tensor>& operands,
                    const MatrixRules& rules);

}  // namespace composit::ops
