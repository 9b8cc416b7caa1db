// bitcast: the bits of elements read as another dtype of the same size.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/batching.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

namespace composit::ops {

using ir::Components;
using ir::scalar::Expr;

namespace {

// Kernels keep a bool in a byte; one that is neither 0 nor 1 counts as True.
Expr recast(const Expr& x, DType dtype) {
    if (x.dtype() == dtype) return x;
    const Expr bits = x.dtype() == DType::boolean ? Expr::cast(x, DType::uint8) : x;
    return dtype == DType::boolean ? Expr::cast(Expr::bitcast(bits, DType::uint8), dtype)
                                   : Expr::bitcast(bits, dtype);
}

std::vector<TensorType> infer_bitcast(const Tensors& x, const Attributes& attributes) {
    const DType from = x[0].dtype(), to = attributes.get<DType>("dtype");
    user_check<TypeError>(
        !ir::is_complex(from) && !ir::is_complex(to) && ir::size_of(from) == ir::size_of(to),
        "bitcast: ", from, " to ", to, ". Real dtypes of one size are required.");
    return {{x[0].shape(), to}};
}

// Short floats are float32 there, so that their bits are another function of the value.
std::vector<Components> bitcast_by_components(const Node& node,
                                              const std::vector<Components>& operands) {
    const DType from = node.operand(0).dtype(), to = node.types()[0].dtype;
    const Tensor bits =
        ir::is_short_float(from) ? bits_of_short(operands[0].re, from) : operands[0].re;
    if (!ir::is_short_float(to)) return {{bitcast(bits, to), {}}};
    const DType whole = ir::unsigned_of_size(ir::size_of(to));
    return {{short_of_bits(bitcast(bits, whole), to), {}}};
}

const ir::Operation& bitcast_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "bitcast",
        .doc = "The bits of elements read as another dtype of the same size.",
        .infer = infer_bitcast,
        .batch = [](const Node& node, const Tensors& x, const Batched&, int64_t) -> Tensors {
            return {bitcast(x[0], node.types()[0].dtype)};
        },
        .lower =
            [](const Node& node, ir::Lowering& lowering) {
                lowering.result(0, combine({lowering.operand(0)}, [&](const std::vector<Expr>& x) {
                                    return recast(x[0], node.types()[0].dtype);
                                }));
            },
        .by_components = bitcast_by_components,
        .check =
            [](const Tensors& operands, const Attributes& attributes) {
                ir::check_operand_count("bitcast", operands, 1);
                ir::checked_attribute<DType>("bitcast", attributes, "dtype");
            },
    });
    return operation;
}

}  // namespace

Tensor bitcast(const Tensor& x, DType dtype) {
    if (x.dtype() == dtype && !x.type().weak) return x;
    return {ir::make_node(bitcast_operation(), {x}, ir::shared({{"dtype", dtype}})), 0};
}

void register_bitcast() { bitcast_operation(); }

}  // namespace composit::ops
