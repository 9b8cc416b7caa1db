// Derivatives of scalar expressions: reverse accumulation over operations and calls, without
// recursion.
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"
#include "composit/ir/scalar/slopes.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace composit::ir::scalar {
namespace {

bool is_constant(const Expr& x, double value) {
    if (x.op() != Op::constant) return false;
    return is_complex(x.dtype()) ? x.bits() == bits_of(x.dtype(), value) : x.value() == value;
}

// Products and negations that are exact are not written down.
Expr times(const Expr& a, const Expr& b) {
    if (is_constant(a, 1)) return b;
    if (is_constant(b, 1)) return a;
    if (is_constant(a, -1)) return -b;
    if (is_constant(b, -1)) return -a;
    return a * b;
}

Expr masked(const Expr& mask, const Expr& g) { return select(mask, g, 0.0); }

// Whether a slope is infinite somewhere where the function has a value: quotients by what may be 0,
// logarithms and powers are. (Those of quotients themselves, and what overflows, are left alone.)
bool has_poles(const Expr& slope) {
    for (const Expr& expr : topological_order({slope})) {
        if (expr.op() == Op::divide && expr.operand(1).op() != Op::constant) return true;
        if (expr.op() != Op::call) continue;
        const Row& row = *expr.row();
        if (row.name == "power" || !row.signals.poles.empty()) return true;
    }
    return false;
}

[[noreturn]] void refuse(Op op) {
    fail<TypeError>("derive: ", name(op),
                    " of a float has no derivative. A row whose definition contains it needs "
                    "`slopes`.");
}

class Derivation {
  public:
    explicit Derivation(const Expr& result) : order_(topological_order({result})) {
        for (const Expr& expr : order_)
            if (depends_smoothly(expr)) active_.insert(expr.id());
        if (active_.count(result.id())) gradients_[result.id()] = Expr::constant(result.dtype(), 1);
    }

    std::vector<Expr> run(int argument_count) {
        std::vector<Expr> out(static_cast<size_t>(argument_count));
        for (auto expr = order_.rbegin(); expr != order_.rend(); ++expr) {
            const auto found = gradients_.find(expr->id());
            if (found == gradients_.end()) continue;
            const Expr g = found->second;
            if (expr->op() != Op::argument) {
                pull_back_operation(*expr, g);
                continue;
            }
            internal_check(expr->index() < argument_count, "derive: argument ", expr->index(),
                           " of ", argument_count);
            Expr& slope = out[static_cast<size_t>(expr->index())];
            slope = slope ? slope + g : g;
        }
        return out;
    }

  private:
    // An inexact value that an inexact argument reaches; integers and bools on the way are steps,
    // which are flat.
    bool depends_smoothly(const Expr& expr) const {
        if (expr.op() == Op::argument) return is_inexact(expr.dtype());
        for (const Expr& operand : expr.operands())
            if (reaches_argument(expr, operand)) return true;
        return false;
    }

    // Integers stay marked, so that a float made of a float's bits is recognised and refused.
    bool reaches_argument(const Expr& user, const Expr& operand) const {
        if (!active_.count(operand.id())) return false;
        if (user.op() == Op::cast && is_floating(user.dtype()) && !is_floating(operand.dtype()))
            return false;
        return user.op() != Op::lookup;
    }

    void add(const Expr& operand, const Expr& g) {
        if (!g || !is_inexact(operand.dtype()) || !active_.count(operand.id())) return;
        Expr& sum = gradients_[operand.id()];
        sum = sum ? sum + g : g;
    }

    // The values of a loop's state that have derivatives.
    static std::vector<size_t> floats_of(const Loop& loop) {
        std::vector<size_t> floats;
        for (size_t i = 0; i < loop.state.size(); ++i)
            if (is_inexact(loop.state[i].dtype())) floats.push_back(i);
        return floats;
    }

    // Forward: the state is joined by the derivative of each of its floats with respect to each
    // initial float, row by row, which starts as 1 or 0 and follows the chain rule.
    const std::vector<Expr>& joined_state(const Expr& expr) {
        std::vector<Expr>& joined = joined_[run_of(expr)];
        if (!joined.empty()) return joined;
        const Loop& loop = *expr.loop();
        const std::vector<size_t> floats = floats_of(loop);
        const auto count = static_cast<std::ptrdiff_t>(loop.state.size());
        std::vector<Expr> initial = expr.operands();
        for (const size_t i : floats)
            for (const size_t j : floats)
                initial.push_back(Expr::constant(loop.state[i].dtype(), i == j ? 1 : 0));
        const auto own = [count](const std::vector<Expr>& s) {
            return std::vector<Expr>(s.begin(), s.begin() + count);
        };
        const auto condition = [&](const std::vector<Expr>& s) {
            return substitute({loop.condition}, own(s))[0];
        };
        const auto step = [&](const std::vector<Expr>& s) {
            std::vector<Expr> next = substitute(loop.steps, own(s));
            for (const size_t i : floats) {
                const std::vector<Expr> slopes =
                    substitute(derive(loop.steps[i], static_cast<int>(count)), own(s));
                for (size_t j = 0; j < floats.size(); ++j)
                    next.push_back(chain_rule(slopes, floats, s, j, loop.state[i].dtype()));
            }
            return next;
        };
        joined = scalar::loop(initial, condition, step, loop.limit);
        return joined;
    }

    // The sum over all floats of slope times their derivative with respect to initial float j.
    static Expr chain_rule(const std::vector<Expr>& slopes, const std::vector<size_t>& floats,
                           const std::vector<Expr>& s, size_t j, DType dtype) {
        Expr sum;
        for (size_t m = 0; m < floats.size(); ++m) {
            const Expr& slope = slopes[floats[m]];
            if (!slope) continue;
            const Expr& inner = s[slopes.size() + m * floats.size() + j];
            const Expr term = Expr::cast(times(slope, inner), dtype);
            sum = sum ? sum + term : term;
        }
        return sum ? sum : Expr::constant(dtype, 0);
    }

    void pull_back_loop(const Expr& expr, const Expr& g) {
        const std::vector<size_t> floats = floats_of(*expr.loop());
        const auto index = static_cast<size_t>(expr.index());
        const size_t row =
            static_cast<size_t>(std::find(floats.begin(), floats.end(), index) - floats.begin());
        const std::vector<Expr>& joined = joined_state(expr);
        for (size_t j = 0; j < floats.size(); ++j) {
            const Expr& initial = expr.operands()[floats[j]];
            const Expr& slope = joined[expr.operands().size() + row * floats.size() + j];
            add(initial, Expr::cast(times(g, slope), initial.dtype()));
        }
    }

    // Of a complex function the derivative is wanted here, which no conjugate is part of.
    static Expr pull_back_call(const Expr& call, const Expr& g, int operand) {
        const bool is_chosen = static_cast<bool>(call.row()->pullback);  // where and its like
        if (!is_complex(call.operand(operand).dtype()) || is_chosen)
            return pull_back(call.row(), call.operands(), call, g, operand);
        if (call.row()->complex.pullback) refuse(Op::call);  // it is not holomorphic
        const Expr slope =
            slopes_of(call.row(), call.operands(), call)[static_cast<size_t>(operand)];
        return slope ? times(g, slope) : Expr();
    }

    void pull_back_operation(const Expr& expr, const Expr& g) {
        if (expr.op() == Op::loop) return pull_back_loop(expr, g);
        if (expr.op() == Op::call) {
            for (size_t i = 0; i < expr.operands().size(); ++i)
                if (active_.count(expr.operands()[i].id()))
                    add(expr.operands()[i], pull_back_call(expr, g, static_cast<int>(i)));
            return;
        }
        const Expr a = expr.operand(0);
        const Expr b = expr.operands().size() > 1 ? expr.operand(1) : Expr();
        switch (expr.op()) {
            case Op::add: add(a, g); return add(b, g);
            case Op::subtract: add(a, g); return add(b, times(Expr::constant(g.dtype(), -1), g));
            case Op::multiply: add(a, times(g, b)); return add(b, times(g, a));
            case Op::divide: add(a, g / b); return add(b, -times(g, expr) / b);
            case Op::remainder: add(a, g); return add(b, -times(g, trunc(a / b)));
            case Op::negate: return add(a, times(Expr::constant(g.dtype(), -1), g));
            case Op::absolute: return add(a, select(a > 0, g, masked(a < 0, -g)));
            case Op::fma:
                add(a, times(g, b));
                add(b, times(g, a));
                return add(expr.operand(2), g);
            case Op::square_root: return add(a, times_slope(g, 0.5 / expr));
            case Op::floor:
            case Op::ceil:
            case Op::rint:
            case Op::trunc: return;
            case Op::copysign: {
                const Expr one = Expr::constant(a.dtype(), 1);
                return add(a,
                           masked(not_equal(a, 0), times(g, copysign(one, a) * copysign(one, b))));
            }
            case Op::nextafter: return add(a, g);
            case Op::select:
                // Such a product is a product, also where it is 0.
                if (expr.is_product_with(b)) return add(expr.operand(2), g);
                add(b, masked(a, g));
                return add(expr.operand(2), select(a, 0.0, g));
            case Op::cast:
                return is_floating(a.dtype()) ? add(a, Expr::cast(g, a.dtype())) : void();
            case Op::lookup: return;
            default: refuse(expr.op());
        }
    }

    std::vector<Expr> order_;
    std::unordered_set<const ExprNode*> active_;
    std::unordered_map<const ExprNode*, Expr> gradients_;
    std::map<LoopRun, std::vector<Expr>> joined_;
};

}  // namespace

Expr times_slope(const Expr& g, const Expr& slope) {
    if (g.op() == Op::constant || is_complex(g.dtype()) || is_complex(slope.dtype()) ||
        !has_poles(slope))
        return times(g, slope);
    return Expr::product_with(g, times(g, slope));
}

std::vector<Expr> derive(const Expr& result, int argument_count) {
    if (!is_inexact(result.dtype())) return std::vector<Expr>(static_cast<size_t>(argument_count));
    return Derivation(result).run(argument_count);
}

std::vector<Expr> slopes_of(const RowRef& row, const std::vector<Expr>& x, const Expr& y) {
    std::vector<Expr> slopes(x.size());
    if (row->is_piecewise_constant) return slopes;
    if (row->slopes) {
        slopes = row->slopes(x, y);
        internal_check(slopes.size() == x.size(), "row ", row->name, " gives ", slopes.size(),
                       " slopes for ", x.size(), " operands");
        return slopes;
    }
    std::vector<DType> dtypes;
    for (const Expr& operand : x) dtypes.push_back(operand.dtype());
    const std::vector<Expr> derived =
        derive(specialise(row, dtypes).body, static_cast<int>(x.size()));
    for (size_t i = 0; i < x.size(); ++i)
        if (derived[i]) slopes[i] = substitute({derived[i]}, x)[0];
    return slopes;
}

Expr pull_back(const RowRef& row, const std::vector<Expr>& x, const Expr& y, const Expr& g,
               int operand) {
    const Expr& target = x[static_cast<size_t>(operand)];
    if (!is_inexact(target.dtype()) || !is_inexact(y.dtype())) return Expr();
    const bool any_complex = is_complex(target.dtype()) || is_complex(y.dtype());
    if (any_complex && row->complex.pullback) return row->complex.pullback(x, y, g, operand);
    if (row->is_piecewise_constant) return Expr();
    if (row->pullback) return row->pullback(x, y, g, operand);
    const Expr slope = slopes_of(row, x, y)[static_cast<size_t>(operand)];
    if (!slope) return Expr();
    const bool is_real =
        !is_complex(slope.dtype()) ||
        (slope.op() == Op::constant && is_constant(slope, value_of(slope.dtype(), slope.bits())));
    const Expr factor = is_real ? slope : Expr::call(scalar::row("conjugate"), {slope});
    return row->name == "divide" ? times(g, factor) : times_slope(g, factor);
}

}  // namespace composit::ir::scalar
