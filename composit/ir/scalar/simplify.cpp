// Bit-preserving simplification: constants folded, common subexpressions shared, operations that
// change nothing removed.
//
// Every rule here holds for all values of its dtype, zeros of both signs, infinities and NaN
// included (any NaN counts as equal to any other); x + 0 and x * 0 of floats are therefore left
// alone.
#include "composit/ir/dtype_traits.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <unordered_map>

namespace composit::ir::scalar {
namespace {

bool is_constant(const Expr& x) { return x.op() == Op::constant; }

// Whether x is this number; -0 is told from 0.
bool is_number(const Expr& x, double value) {
    return is_constant(x) && !is_complex(x.dtype()) && x.bits() == bits_of(x.dtype(), value);
}

bool is_integral(const Expr& x) { return is_integer(x.dtype()); }

bool is_foldable(const Expr& expr) {
    // A loop's limit may be high.
    if (expr.operands().empty() || expr.op() == Op::loop) return false;
    for (const Expr& operand : expr.operands())
        if (!is_constant(operand) || is_complex(operand.dtype())) return false;
    if (is_complex(expr.dtype())) return false;
    // Left to run time, which reports them: their preconditions do not hold.
    const bool divides = expr.op() == Op::divide || expr.op() == Op::remainder;
    if (divides && is_integral(expr)) return !is_number(expr.operand(1), 0);
    if (expr.op() == Op::lookup)
        return expr.operand(0).value() >= 0 && expr.operand(0).value() < expr.table()->size();
    if (expr.op() == Op::shift_left || expr.op() == Op::shift_right)
        return expr.operand(1).value() >= 0 && expr.operand(1).value() < 8 * size_of(expr.dtype());
    return true;
}

Expr simplify_cast(const Expr& expr) {
    const Expr& x = expr.operand(0);
    if (x.op() != Op::cast || !holds_all(x.dtype(), x.operand(0).dtype())) return expr;
    // The first cast lost nothing, so that the second one can start from its operand, but for the
    // way from float to integer, where what does not fit depends on the types, and bool, which
    // compares with 0 either way.
    const Expr& origin = x.operand(0);
    const bool converts_kind = is_floating(origin.dtype()) && !is_floating(expr.dtype());
    return converts_kind && expr.dtype() != DType::boolean ? expr
                                                           : Expr::cast(origin, expr.dtype());
}

Expr simplify_select(const Expr& expr) {
    const Expr& condition = expr.operand(0);
    if (is_constant(condition)) return condition.bits()[0] ? expr.operand(1) : expr.operand(2);
    if (expr.operand(1) == expr.operand(2)) return expr.operand(1);
    if (condition.op() == Op::bit_not)
        return select(condition.operand(0), expr.operand(2), expr.operand(1)).named(expr.name());
    return expr;
}

Expr simplify_operation(const Expr& expr) {
    const Expr a = expr.operand(0);
    const Expr b = expr.operands().size() > 1 ? expr.operand(1) : Expr();
    const bool integral = is_integral(expr);
    switch (expr.op()) {
        case Op::add:
            if (is_number(b, integral ? 0.0 : -0.0)) return a;
            return is_number(a, integral ? 0.0 : -0.0) ? b : expr;
        case Op::subtract: return is_number(b, 0) ? a : expr;
        case Op::multiply:
            if (is_number(b, 1)) return a;
            if (is_number(a, 1)) return b;
            if (integral && is_number(a, 0)) return a;
            return integral && is_number(b, 0) ? b : expr;
        case Op::divide: return is_number(b, 1) ? a : expr;
        case Op::negate:
        case Op::bit_not: return a.op() == expr.op() ? a.operand(0) : expr;
        case Op::absolute:
            if (a.op() == Op::absolute) return a;
            return a.op() == Op::negate
                       ? Expr::make(Op::absolute, {a.operand(0)}).named(expr.name())
                       : expr;
        case Op::floor:
        case Op::ceil:
        case Op::rint:
        case Op::trunc: return a.op() >= Op::floor && a.op() <= Op::trunc ? a : expr;
        case Op::bit_and:
        case Op::bit_or: {
            if (a == b) return a;
            if (expr.dtype() != DType::boolean) return expr;
            // false & x, true | x; true & x, false | x
            const bool is_and = expr.op() == Op::bit_and;
            for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)})
                if (is_constant(one)) return (one.bits()[0] != 0) == is_and ? other : one;
            return expr;
        }
        case Op::shift_left:
        case Op::shift_right: return is_number(b, 0) ? a : expr;
        case Op::cast: return simplify_cast(expr);
        case Op::bitcast:
            if (a.op() == Op::bitcast) return Expr::bitcast(a.operand(0), expr.dtype());
            return expr;
        case Op::select: return simplify_select(expr);
        default: return expr;
    }
}

// One simplified twin for each distinct structure met so far; operands are already shared, so that
// comparing their identities compares all that lies below.
class Sharing {
  public:
    Expr share(const Expr& expr) {
        const uint64_t hash = structural_hash_of_node(expr);
        const auto [first, last] = known_.equal_range(hash);
        for (auto entry = first; entry != last; ++entry)
            if (is_same(entry->second, expr)) return entry->second;
        known_.emplace(hash, expr);
        return expr;
    }

  private:
    static uint64_t structural_hash_of_node(const Expr& expr) {
        uint64_t hash = static_cast<uint64_t>(expr.op()) * 31 + static_cast<uint64_t>(expr.dtype());
        if (expr.op() == Op::constant)
            hash = hash * 1099511628211u + expr.bits()[0] + 3 * expr.bits()[1];
        if (expr.op() == Op::argument || expr.op() == Op::loop)
            hash = hash * 1099511628211u + static_cast<uint64_t>(expr.index());
        for (const Expr& operand : expr.operands())
            hash = (hash ^ reinterpret_cast<uintptr_t>(operand.id())) * 1099511628211u;
        return hash;
    }

    static bool is_same(const Expr& a, const Expr& b) {
        if (a.op() != b.op() || a.dtype() != b.dtype() || a.operands() != b.operands())
            return false;
        switch (a.op()) {
            case Op::select:
                return a.is_product_with(a.operand(1)) == b.is_product_with(b.operand(1));
            case Op::constant: return a.bits() == b.bits();
            case Op::argument: return a.index() == b.index();
            case Op::call: return a.row() == b.row();
            case Op::lookup: return a.table() == b.table() || *a.table() == *b.table();
            case Op::loop: return a.index() == b.index() && a.loop() == b.loop();
            default: return true;
        }
    }

    std::unordered_multimap<uint64_t, Expr> known_;
};

}  // namespace

std::vector<Expr> simplify(const std::vector<Expr>& results) {
    std::unordered_map<const ExprNode*, Expr> simplified;
    Sharing sharing;
    // What a rule makes of an expression is one operation on operands that are simplified, or one
    // of those.
    for (const Expr& expr : topological_order(results)) {
        std::vector<Expr> operands;
        bool changed = false;
        for (const Expr& operand : expr.operands()) {
            operands.push_back(simplified.at(operand.id()));
            changed |= !(operands.back() == operand);
        }
        Expr out = changed ? expr.with_operands(std::move(operands)) : expr;
        if (is_foldable(out))
            out = Expr::constant_bits(out.dtype(), evaluate({out}, {})[0]);
        else if (!out.operands().empty())
            out = simplify_operation(out);
        simplified.emplace(expr.id(), sharing.share(out));
    }
    std::vector<Expr> out;
    for (const Expr& result : results) out.push_back(result ? simplified.at(result.id()) : Expr());
    return out;
}

}  // namespace composit::ir::scalar
