// search: how many elements of a row in ascending order come before each value.
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

namespace composit::ops {
namespace {

bool is_right_of(const Node& node) { return node.attributes().get<bool>("is_right"); }

void lower_search(const Node& node, ir::Lowering& lowering) {
    const Shape& shape = node.types()[0].shape;
    const size_t batch = node.operand(0).shape().size() - 1;
    ir::kernel::Search kernel;
    kernel.extents = shape;
    kernel.row = {node.operand(0).shape().back()};
    kernel.is_right = is_right_of(node);
    kernel.sorted = lowering.memory(0);
    auto& strides = kernel.sorted.strides;
    strides.insert(strides.end() - 1, shape.size() - batch, 0);
    kernel.values = lowering.memory(1);
    kernel.output = lowering.new_output(0);
    lowering.emit(std::move(kernel));
}

const ir::Operation& search_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "search",
        .doc = "How many elements of a row in ascending order come before each value.",
        .infer = [](const std::vector<Tensor>& x, const Attributes&) -> std::vector<TensorType> {
            return {{x[1].shape(), DType::int64}};
        },
        .vjp = [](const Node&, const std::vector<Tensor>&,
                  const std::vector<bool>&) -> std::vector<Tensor> { return {Tensor(), Tensor()}; },
        .batch = [](const Node& node, const std::vector<Tensor>& x, const Batched& batched,
                    int64_t n) -> std::vector<Tensor> {
            const bool has_one_row = !batched[0] && x[0].rank() == 1;
            return {search(has_one_row ? x[0] : with_batch(x[0], batched[0], n),
                           with_batch(x[1], batched[1], n), is_right_of(node))};
        },
        .lower = lower_search,
        .check = check_search,
    });
    return operation;
}

}  // namespace

Tensor search(const Tensor& sorted, const Tensor& values, bool is_right) {
    return make_checked(search_operation(), {sorted, values}, {{"is_right", is_right}})[0];
}

void register_search() { search_operation(); }

}  // namespace composit::ops
