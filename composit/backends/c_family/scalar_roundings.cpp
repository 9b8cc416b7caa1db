#include "composit/backends/c_family/scalar_roundings.h"

#include "composit/backends/c_family/scalar_printer.h"

#include <cmath>

namespace composit::c_family {

using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

bool may_be_power_of_two(const Expr& value) {
    int exponent = 0;
    return value.op() != Op::constant || std::abs(std::frexp(value.value(), &exponent)) == 0.5;
}

}  // namespace

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
            return {arguments_.products.contains(value.index()),
                    arguments_.negated.contains(value.index()),
                    arguments_.constants.contains(value.index())};
        case Op::multiply: return {true, operand(0).is_negated || operand(1).is_negated, false};
        case Op::divide:  // by a power of two: a product
            return {operand(1).is_constant && may_be_power_of_two(value.operand(1)),
                    operand(0).is_negated || operand(1).is_negated, false};
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

namespace {

bool is_widening(const Expr& value) {
    return value.op() == Op::cast && value.dtype() == ir::DType::float64;
}

// Whether a body makes a float64 of an argument.
bool widens(const Expr& body, int argument) {
    for (const Expr& each : ir::scalar::topological_order({body}))
        for (size_t i = 0; i < each.operands().size(); ++i) {
            const Expr& operand = each.operands()[i];
            if (operand.op() != Op::argument || operand.index() != argument) continue;
            if (is_widening(each)) return true;
            if (each.op() == Op::call && widens(specialisation_of(each).body, static_cast<int>(i)))
                return true;
        }
    return false;
}

}  // namespace

bool Fusing::is_narrowed(const Expr& value, size_t i) {
    const Expr& operand = value.operands()[i];
    if (operand.dtype() != ir::DType::float32) return false;
    if (is_widening(value))  // a variable may have been narrowed where it was computed
        return shape_of(operand).is_narrowed ||
               (operand.op() == Op::argument && arguments_.computed.contains(operand.index()));
    return value.op() == Op::call && shape_of(operand).is_narrowed &&
           widens(specialisation_of(value).body, static_cast<int>(i));
}

}  // namespace composit::c_family
