// forgotten: what a history gave up (composit/eager/history.h).
#include "composit/ops/forgotten.h"

#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/rules.h"

namespace composit::ops {

using ir::DType;
using ir::Tensor;

namespace {

[[noreturn]] void refuse(std::string_view function, const Node& node) {
    const auto bound = node.attributes().get<int64_t>("bound");
    fail<ValueError>(function, ": the operations behind the value of ",
                     node.location().empty() ? "an earlier step" : node.location(),
                     " were given up, as the history had more than ", bound,
                     " nodes; what was asked for lies behind it. A greater bound is required "
                     "(set_most_history_nodes), or a leaf of that step.");
}

const ir::Operation& forgotten_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "forgotten",
        .doc = "A value that was made of the operands, by operations that were given up.",
        .infer = [](const Tensors&, const Attributes& attributes) -> std::vector<ir::TensorType> {
            return {
                {attributes.get<std::vector<int64_t>>("shape"), attributes.get<DType>("dtype")}};
        },
        .vjp = [](const Node& node, const Tensors&, const std::vector<bool>&) -> Tensors {
            refuse("vjp", node);
        },
        .batch = [](const Node& node, const Tensors&, const std::vector<bool>&,
                    int64_t) -> Tensors { refuse("vmap", node); },
        // Where the value is kept nobody asks for this.
        .decompose = [](const Node& node) -> Tensors { refuse("evaluate", node); },
        .check =
            [](const Tensors&, const Attributes& attributes) {
                ir::checked_attribute<DType>("forgotten", attributes, "dtype");
                ir::checked_attribute<int64_t>("forgotten", attributes, "bound");
                ir::check_shape("forgotten", ir::checked_attribute<std::vector<int64_t>>(
                                                 "forgotten", attributes, "shape"));
            },
        .keeps_forever = true,
    });
    return operation;
}

}  // namespace

void register_forgotten() { forgotten_operation(); }

Tensor forgotten(const std::vector<Tensor>& behind, const ir::ConstantArray& value, int64_t bound) {
    const Tensor made =
        ir::make(forgotten_operation(), behind,
                 {{"shape", value.shape()}, {"dtype", value.dtype()}, {"bound", bound}});
    made.node().keep(0, value);
    return made;
}

}  // namespace composit::ops
