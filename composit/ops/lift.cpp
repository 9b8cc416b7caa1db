#include "composit/ops/lift.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"
#include "composit/ops/ops.h"

#include <cstring>
#include <unordered_map>

namespace composit::ops {

using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

// The row that does to elements what the operation does; empty where there is none.
std::string_view row_of(const Expr& e) {
    const bool on_bool = !e.operands().empty() && e.operand(0).dtype() == DType::boolean;
    switch (e.op()) {
        case Op::add: return "add";
        case Op::subtract: return "subtract";
        case Op::multiply: return "multiply";
        case Op::divide: return ir::is_inexact(e.dtype()) ? "divide" : "";
        case Op::remainder: return ir::is_inexact(e.dtype()) ? "fmod" : "";
        case Op::negate: return "negative";
        case Op::absolute: return "absolute";
        case Op::square_root: return "sqrt";
        case Op::floor: return "floor";
        case Op::ceil: return "ceil";
        case Op::rint: return "rint";
        case Op::trunc: return "trunc";
        case Op::copysign: return "copysign";
        case Op::nextafter: return "nextafter";
        case Op::equal: return "equal";
        case Op::not_equal: return "not_equal";
        case Op::less: return "less";
        case Op::less_equal: return "less_equal";
        case Op::greater: return "greater";
        case Op::greater_equal: return "greater_equal";
        case Op::bit_and: return on_bool ? "logical_and" : "bitwise_and";
        case Op::bit_or: return on_bool ? "logical_or" : "bitwise_or";
        case Op::bit_xor: return on_bool ? "logical_xor" : "bitwise_xor";
        case Op::bit_not: return on_bool ? "logical_not" : "invert";
        case Op::select: return "where";
        case Op::call: return e.row()->name;
        case Op::constant:
        case Op::argument:
        case Op::fma:
        case Op::cast: return "its own";
        case Op::shift_left:
        case Op::shift_right:
        case Op::bitcast:
        case Op::lookup:
        case Op::loop: return "";
    }
    return "";
}

Tensor scalar_constant(const Expr& e) {
    Array value(e.dtype(), {});
    const ir::scalar::Bits bits = e.bits();
    std::memcpy(value.mutable_data(), bits.data(), static_cast<size_t>(ir::size_of(e.dtype())));
    const bool is_real = !ir::is_complex(e.dtype());
    return ir::constant(std::move(value),
                        is_real ? "scalar_" + number_text(e.value()) : std::string());
}

}  // namespace

Tensor lift(const Expr& expression, const std::vector<Tensor>& values) {
    const std::vector<Expr> order = ir::scalar::topological_order({expression});
    if (order.size() > 128) return Tensor();
    for (const Expr& e : order)
        if (row_of(e).empty()) return Tensor();
    std::unordered_map<const ir::scalar::ExprNode*, Tensor> lifted;
    for (const Expr& e : order) {
        std::vector<Tensor> operands;
        for (const Expr& operand : e.operands()) operands.push_back(lifted.at(operand.id()));
        Tensor tensor;
        if (e.op() == Op::argument)
            tensor = values[static_cast<size_t>(e.index())];
        else if (e.op() == Op::constant)
            tensor = scalar_constant(e);
        else if (e.op() == Op::cast)
            tensor = astype(operands[0], e.dtype());
        else if (e.op() == Op::call)
            tensor = map(e.row(), operands);
        else if (e.op() == Op::fma)  // a slope need not be fused, and its graph reads better so
            tensor = map("add", {map("multiply", {operands[0], operands[1]}), operands[2]});
        else
            tensor = map(row_of(e), operands);
        lifted.emplace(e.id(), tensor);
    }
    return lifted.at(expression.id());
}

Tensor sum_to_shape(const Tensor& x, const Shape& shape) {
    if (x.shape() == shape) return x;
    const size_t extra = x.shape().size() - shape.size();
    Axes axes;
    for (size_t d = 0; d < x.shape().size(); ++d)
        if (d < extra || (shape[d - extra] == 1 && x.shape()[d] != 1))
            axes.push_back(static_cast<int64_t>(d));
    const Tensor sum = axes.empty() ? x : reduce(Combiner::sum, x, axes);
    return sum.shape() == shape ? sum : reshape(sum, shape);
}

Tensor add_gradients(const Tensor& a, const Tensor& b) {
    if (!a) return b;
    if (!b) return a;
    return map("add", {a, b});
}

}  // namespace composit::ops
