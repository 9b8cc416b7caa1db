// The tangent of an expression, operation by operation.
#include "composit/ir/procedure/tangent_rules.h"

#include "composit/base/error.h"
#include "composit/ir/procedure/poles.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/slopes.h"

#include <set>
#include <unordered_map>

namespace composit::ir::procedure {
namespace {

using scalar::ExprNode;
using scalar::Op;

bool is_constant(const Expr& x, double value) {
    return x.op() == Op::constant && x.value() == value;
}

}  // namespace

Expr times(const Expr& a, const Expr& b) {
    if (is_constant(a, 1)) return b;
    if (is_constant(b, 1)) return a;
    if (is_constant(a, -1)) return -b;
    if (is_constant(b, -1)) return -a;
    return a * b;
}

Expr sum(const Expr& a, const Expr& b) { return !a ? b : !b ? a : a + b; }

Expr zero(DType dtype) { return Expr::constant(dtype, 0); }

namespace {

// The tangent of one operation, from its operands' tangents; an empty one is zero. `y` stands for
// the value of the operation.
class Rule {
  public:
    Rule(const Expr& expr, const std::vector<Expr>& tangents, const std::vector<bool>& infinite,
         const Expr& y, bool has_several)
        : expr_(expr), tangents_(tangents), infinite_(infinite), y_(y), has_several_(has_several) {}

    Expr operator()() const {
        switch (expr_.op()) {
            case Op::add: return sum(t(0), t(1));
            case Op::subtract: return !t(1) ? t(0) : !t(0) ? -t(1) : t(0) - t(1);
            case Op::multiply:
                if (t(0) && scalar::structurally_equal({x(0)}, {x(1)}))
                    return unless_zero(0, x(0),
                                       times(t(0), Expr::constant(expr_.dtype(), 2) * x(0)));
                return product();
            case Op::divide:
                if (!t(1)) return over_divisor(t(0));
                if (!t(0)) return over_divisor(-unless_zero(1, y_, times(y_, t(1))));
                return over_divisor(t(0) - unless_zero(1, y_, times(y_, t(1))));
            case Op::remainder: {
                const Expr moved = t(1) ? -times(trunc(x(0) / x(1)), t(1)) : Expr();
                return sum(t(0), moved);
            }
            case Op::negate: return -t(0);
            case Op::absolute:
                return select(x(0) > 0, t(0), select(x(0) < 0, -t(0), zero(t(0).dtype())));
            case Op::fma: return sum(product(), t(2));
            case Op::square_root: return scalar::times_slope(t(0), 0.5 / y_);
            case Op::copysign: {
                if (!t(0)) return {};
                const Expr one = Expr::constant(x(0).dtype(), 1);
                return select(not_equal(x(0), 0),
                              times(t(0), copysign(one, x(0)) * copysign(one, x(1))),
                              zero(t(0).dtype()));
            }
            case Op::nextafter: return t(0);
            case Op::select: {
                const DType dtype = expr_.dtype();
                if (expr_.is_product_with(x(1))) return of_product_zero_with_factor();
                return select(x(0), t(1) ? t(1) : zero(dtype), t(2) ? t(2) : zero(dtype));
            }
            case Op::cast: return Expr::cast(t(0), expr_.dtype());
            case Op::call: return of_call();
            case Op::floor:
            case Op::ceil:
            case Op::rint:
            case Op::trunc:
            case Op::lookup: return {};
            default: fail<NotSupported>(scalar::name(expr_.op()), " of a float has no derivative");
        }
    }

  private:
    const Expr& x(int index) const { return expr_.operand(index); }
    const Expr& t(size_t index) const { return tangents_[index]; }

    Expr over_divisor(const Expr& tangent) const {
        if (!has_several_ || x(1).op() == Op::constant) return tangent / x(1);
        return times(tangent, 1.0 / x(1));
    }

    Expr product() const {
        const bool first = t(0) && !is_constant(x(1), 0), second = t(1) && !is_constant(x(0), 0);
        return sum(first ? unless_zero(0, x(1), times(t(0), x(1))) : Expr(),
                   second ? unless_zero(1, x(0), times(x(0), t(1))) : Expr());
    }

    // The product of a factor and the tangent of an operand, which may be infinite; 0 where the
    // factor is.
    Expr unless_zero(size_t operand, const Expr& factor, const Expr& product) const {
        if (!infinite_[operand] || factor.op() == Op::constant) return product;
        return Expr::product_with(factor, product);
    }

    // Of a product that is 0 where its factor is: the product's, also there, unless the factor
    // stays 0. That zero never meets what is infinite.
    Expr of_product_zero_with_factor() const {
        const Expr& factor = x(1);
        if (!t(2)) return {};
        if (!t(1)) return select(equal(factor, 0), zero(expr_.dtype()), t(2));
        return select(equal(factor, 0) & equal(t(1), 0), t(1), t(2));
    }

    // What an operand receives of a gradient is linear in it, with the same factor.
    Expr of_call() const {
        Expr total;
        for (size_t i = 0; i < tangents_.size(); ++i)
            if (const Expr made = t(i) ? pulled_back(i) : Expr(); made && !is_known_zero(made))
                total = sum(total, made);
        return total;
    }

    // 0, or a call of what is 0 whatever it is given.
    static bool is_known_zero(const Expr& value) {
        if (value.op() != Op::call) return is_constant(value, 0);
        std::vector<DType> dtypes;
        for (const Expr& operand : value.operands()) dtypes.push_back(operand.dtype());
        return is_constant(scalar::specialise(value.row(), dtypes).body, 0);
    }

    Expr pulled_back(size_t i) const {
        const auto along = [&](const Expr& g) {
            return scalar::pull_back(expr_.row(), expr_.operands(), y_, g, static_cast<int>(i));
        };
        const Expr made = along(t(i));
        // Rows with a pullback of their own choose, and multiply nothing.
        if (!made || !infinite_[i] || expr_.row()->pullback) return made;
        return unless_zero(i, along(Expr::constant(t(i).dtype(), 1)), made);
    }

    const Expr& expr_;
    const std::vector<Expr>& tangents_;
    const std::vector<bool>& infinite_;  // whether they may be
    const Expr y_;
    const bool has_several_;
};

}  // namespace

Expr tangent_of(const Expr& value, const std::vector<Expr>& of_variables, const Expr& known,
                bool has_several, const std::set<int>& infinite) {
    std::unordered_map<const ExprNode*, Expr> tangents;
    std::set<const ExprNode*> infinite_nodes;
    std::set<const ExprNode*> bits;  // integers whose bits are those of a float with a tangent
    for (const Expr& expr : scalar::topological_order({value})) {
        Expr& tangent = tangents[expr.id()];
        for (const Expr& operand : expr.operands()) {
            const bool is_read_as_bits = expr.op() == Op::bitcast && tangents.at(operand.id());
            if (is_read_as_bits || bits.contains(operand.id())) bits.insert(expr.id());
        }
        if (expr.op() == Op::bitcast && is_floating(expr.dtype()) && bits.contains(expr.id()))
            fail<NotSupported>("the bits of a float as a float have no derivative");
        if (!is_floating(expr.dtype())) continue;
        if (expr.op() == Op::argument) {
            tangent = of_variables[static_cast<size_t>(expr.index())];
            if (tangent && infinite.contains(expr.index())) infinite_nodes.insert(expr.id());
            continue;
        }
        std::vector<Expr> operands;
        std::vector<bool> is_infinite;
        bool is_active = false, is_any_infinite = is_pole(expr);
        for (const Expr& operand : expr.operands()) {
            operands.push_back(tangents.at(operand.id()));
            is_active |= static_cast<bool>(operands.back());
            is_infinite.push_back(operands.back() && infinite_nodes.contains(operand.id()));
            is_any_infinite |= is_infinite.back();
        }
        if (!is_active) continue;
        if (is_any_infinite) infinite_nodes.insert(expr.id());
        tangent =
            Rule(expr, operands, is_infinite, known && expr == value ? known : expr, has_several)();
    }
    return tangents.at(value.id());
}

}  // namespace composit::ir::procedure
