// What operations have in common that a foreign function computes.
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/decompositions.h"

#include <algorithm>

namespace composit::ops {

void lower_foreign(const ir::Node& node, ir::Lowering& lowering, std::string function,
                   std::vector<int64_t> options) {
    ir::kernel::Foreign kernel{std::move(function), std::move(options), {}, {}};
    for (int i = 0; i < static_cast<int>(node.operands().size()); ++i)
        kernel.inputs.push_back({lowering.memory(i), node.operand(i).shape()});
    for (int i = 0; i < node.output_count(); ++i)
        kernel.outputs.push_back(
            {lowering.new_output(i), node.types()[static_cast<size_t>(i)].shape});
    lowering.emit(std::move(kernel));
}

std::vector<Tensor> batch_foreign(const ir::Node& node, const std::vector<Tensor>& operands,
                                  const std::vector<bool>& batched, int64_t batch_size) {
    std::vector<Tensor> all;
    for (size_t i = 0; i < operands.size(); ++i)
        all.push_back(with_batch(operands[i], batched[i], batch_size));
    return ir::outputs_of(ir::make_node(node.operation(), all, node.shared_attributes()));
}

void check_matrices(std::string_view operation, const std::vector<Tensor>& operands,
                    const MatrixRules& rules) {
    user_check(operands.size() == rules.count, operation, ": ", operands.size(),
               " operands given. ", rules.count, " required.");
    for (size_t i = 0; i < rules.matrices; ++i) {
        const Tensor &x = operands[i], &first = operands[0];
        user_check<TypeError>((x.dtype() == DType::float64 || x.dtype() == DType::complex128) &&
                                  x.dtype() == first.dtype(),
                              operation, ": operand ", i, " has dtype ", x.dtype(),
                              ". float64 or complex128, the same for all, is required.");
        user_check(x.rank() >= 2 && x.rank() == first.rank() &&
                       std::equal(x.shape().begin(), x.shape().end() - 2, first.shape().begin()),
                   operation, ": operand ", i, " has shape ", x.shape(),
                   ". Matrices in the last two axes, and equal batch axes, are required.");
    }
    const Shape& shape = operands[0].shape();
    user_check(!rules.is_square || shape.back() == shape[shape.size() - 2], operation,
               ": a has shape ", shape, ". Square matrices are required.");
}

}  // namespace composit::ops
