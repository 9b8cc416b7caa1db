#include "composit/backends/c_family/scalar_roundings.h"

#include "composit/backends/c_family/scalar_printer.h"

#include <cmath>

namespace composit::c_family {

using ir::scalar::Expr;
using ir::scalar::Op;

Shape Fusing::shape_of(const Expr& value) {
    if (!ir::is_floating(value.dtype())) return {false, true, true};
    const auto found = known_.find(value.id());
    return found != known_.end() ? found->second
                                 : known_.emplace(value.id(), computed(value)).first->second;
}

Shape Fusing::computed(const Expr& value) {
    const auto operand = [&](size_t i) { return shape_of(value.operands()[i]); };
    switch (value.op()) {
        case Op::constant: return {false, std::signbit(value.value()), true};
        case Op::argument:
            return {
                arguments_.products.contains(value.index()),
                arguments_.negated.contains(value.index()),
                arguments_.constants.contains(value.index()),
                arguments_.computed.contains(value.index()) && value.dtype() == ir::DType::float32};
        case Op::multiply: return {true, operand(0).is_negated || operand(1).is_negated, false};
        case Op::divide:  // by a power of two: a product
            return {operand(1).is_constant, operand(0).is_negated || operand(1).is_negated, false};
        case Op::add:  // of -0.0: the other operand
            return {(operand(0).is_product && operand(1).is_constant && operand(1).is_negated) ||
                        (operand(1).is_product && operand(0).is_constant && operand(0).is_negated),
                    false, false};
        case Op::subtract: return {false, operand(0).is_constant, false};  // from 0
        case Op::negate: return {operand(0).is_product, true, operand(0).is_constant};
        case Op::absolute: return {operand(0).is_product, false, operand(0).is_constant};
        case Op::copysign: return {operand(0).is_product, true, operand(0).is_constant};
        case Op::select:
            return {operand(1).is_product || operand(2).is_product,
                    operand(1).is_negated || operand(2).is_negated,
                    operand(1).is_constant || operand(2).is_constant,
                    operand(1).is_narrowed || operand(2).is_narrowed};
        case Op::call: {
            const ir::scalar::Specialisation& called = specialisation_of(value);
            Roundings given;
            for (size_t i = 0; i < value.operands().size(); ++i) {
                const Shape own = operand(i);
                const int number = static_cast<int>(i);
                if (own.is_negated) given.negated.insert(number);
                if (own.is_constant) given.constants.insert(number);
            }
            return Fusing(given).shape_of(called.body);
        }
        case Op::bitcast: return {false, true, false};
        case Op::cast:
            return {false, operand(0).is_negated, operand(0).is_constant,
                    value.dtype() == ir::DType::float32 &&
                        value.operands()[0].dtype() == ir::DType::float64};
        case Op::loop: return {true, true, true};
        default: return {};
    }
}

bool Fusing::is_rounded(const Expr& value, size_t i) {
    if (!ir::is_floating(value.operands()[i].dtype())) return false;
    if (!shape_of(value.operands()[i]).is_product) return false;
    if (value.op() == Op::call) return true;
    if (value.op() == Op::subtract) return i == 0;
    return value.op() == Op::add && shape_of(value.operands()[1 - i]).is_negated;
}

bool Fusing::is_narrowed(const Expr& value, size_t i) {
    const Expr& operand = value.operands()[i];
    const bool may_widen =
        value.op() == Op::call || (value.op() == Op::cast && value.dtype() == ir::DType::float64);
    return may_widen && operand.dtype() == ir::DType::float32 && shape_of(operand).is_narrowed;
}

}  // namespace composit::c_family
