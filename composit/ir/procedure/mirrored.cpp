// Mirrored: values of an iteration (j, i) by those of (i, j).
#include "composit/ir/procedure/mirrored.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_any_zero(const Expr& x) {
    return x.op() == Op::constant && is_floating(x.dtype()) && x.value() == 0;
}

}  // namespace

SignedValue signed_value(const Expr& value) {
    if (value.op() == Op::negate && is_floating(value.dtype())) return {value.operand(0), true};
    return {value};
}

Mirrored::Mirrored(Procedure& procedure, int one, int other)
    : p_(procedure), one_(one), other_(other) {}

void Mirrored::know(const std::vector<Expr>& values) {
    for (const Expr& each : scalar::topological_order(values))
        if (!each.operands().empty())
            known_[scalar::structural_hash({each})].emplace_back(each, each);
}

void Mirrored::know(const Statement& statement) {
    given_.emplace(statement.variable, statement);
    if (statement.kind == Kind::load) {
        loads_.push_back(statement);
        return;
    }
    const Expr variable = p_.variable(static_cast<size_t>(statement.variable));
    if (!statement.values[0].operands().empty())
        known_[scalar::structural_hash(statement.values)].emplace_back(statement.values[0],
                                                                       variable);
    know(statement.values);
}

const Expr* Mirrored::found(const Expr& expr) const {
    const auto all = known_.find(scalar::structural_hash({expr}));
    if (all == known_.end()) return nullptr;
    for (const auto& [known, holder] : all->second)
        if (scalar::structurally_equal({known}, {expr})) return &holder;
    return nullptr;
}

Expr Mirrored::or_found(const Expr& expr) const {
    const Expr* const holder = expr.operands().empty() ? nullptr : found(expr);
    return holder ? *holder : expr;
}

// The value itself, of one that is not rough.
Expr Mirrored::with_sign(const SignedValue& x) const {
    return x.is_negative ? or_found(-x.value) : x.value;
}

SignedValue Mirrored::sum_of(const SignedValue& a, const SignedValue& b) const {
    const bool is_rough = a.is_rough || b.is_rough;
    if (a.is_negative == b.is_negative) {
        const Expr sum = a.value + b.value, turned = b.value + a.value;
        const Expr* const holder = found(turned);
        return {holder && !found(sum) ? *holder : or_found(sum), a.is_negative,
                is_rough || a.is_negative};
    }
    const Expr& more = a.is_negative ? b.value : a.value;
    const Expr& less = a.is_negative ? a.value : b.value;
    const Expr difference = more - less;
    const Expr* const turned = found(less - more);
    if (turned && !found(difference)) return {*turned, true, true};
    return {or_found(difference), false, is_rough};
}

SignedValue Mirrored::product_of(const SignedValue& a, const SignedValue& b) const {
    const Expr product = a.value * b.value;
    const Expr* const turned = found(b.value * a.value);
    const Expr value = turned && !found(product) ? *turned : or_found(product);
    if (scalar::structurally_equal({a.value}, {b.value}) && a.is_negative == b.is_negative)
        return {value};  // a square has no sign
    return {value, a.is_negative != b.is_negative, a.is_rough || b.is_rough};
}

SignedValue Mirrored::value(const Expr& given, Block& out) {
    std::map<const scalar::ExprNode*, SignedValue> made;
    for (const Expr& expr : scalar::topological_order({given})) {
        const auto of = [&](int operand) -> const SignedValue& {
            return made.at(expr.operand(operand).id());
        };
        const bool floats = is_floating(expr.dtype());
        SignedValue& own = made[expr.id()];
        if (expr.op() == Op::argument || expr.op() == Op::constant) {
            own = made_of(expr);
        } else if (floats && expr.op() == Op::add) {
            own = sum_of(of(0), of(1));
        } else if (floats && expr.op() == Op::subtract) {
            SignedValue taken = of(1);
            taken.is_negative = !taken.is_negative;
            own = sum_of(of(0), taken);
        } else if (floats && expr.op() == Op::negate) {
            own = of(0);
            own.is_negative = !own.is_negative;
        } else if (floats && expr.op() == Op::multiply) {
            own = product_of(of(0), of(1));
        } else if (floats && expr.op() == Op::divide) {
            const Expr divisor = of(1).is_rough ? exact_of(expr.operand(1), out) : with_sign(of(1));
            own = {or_found(of(0).value / divisor), of(0).is_negative, of(0).is_rough};
        } else if (floats && expr.op() == Op::absolute) {
            own = {or_found(absolute(of(0).value))};
        } else if (expr.op() == Op::select && expr.is_product_with(expr.operand(1))) {
            // Where the factor is 0, it is the value.
            own = {or_found(Expr::product_with(of(1).value, of(2).value)), of(2).is_negative, true};
        } else if (floats && expr.op() == Op::select && of(1).is_negative == of(2).is_negative &&
                   !of(0).is_rough) {
            own = {or_found(expr.with_operands({of(0).value, of(1).value, of(2).value})),
                   of(1).is_negative, of(1).is_rough || of(2).is_rough};
        } else if ((expr.op() == Op::equal || expr.op() == Op::not_equal) &&
                   is_any_zero(expr.operand(1))) {
            own = {or_found(expr.with_operands({of(0).value, Expr(expr.operand(1))}))};
        } else {
            std::vector<Expr> operands;
            for (const Expr& operand : expr.operands()) {
                const SignedValue& one = made.at(operand.id());
                operands.push_back(one.is_rough ? exact_of(operand, out) : with_sign(one));
            }
            own = {or_found(expr.with_operands(std::move(operands)))};
        }
    }
    return made.at(given.id());
}

SignedValue Mirrored::made_of(const Expr& expr) const {
    if (expr.op() == Op::constant) return {expr};
    const int variable = expr.index();
    if (variable == one_) return {p_.variable(static_cast<size_t>(other_))};
    if (variable == other_) return {p_.variable(static_cast<size_t>(one_))};
    const auto known = mirrored_.find(variable);
    return known == mirrored_.end() ? SignedValue{expr} : known->second;
}

Expr Mirrored::exact_of(const Expr& given, Block& out) {
    std::map<const scalar::ExprNode*, Expr> made;
    for (const Expr& expr : scalar::topological_order({given})) {
        Expr& own = made[expr.id()];
        if (expr.op() == Op::argument) {
            own = exact_variable(expr.index(), out);
        } else if (expr.op() == Op::constant) {
            own = expr;
        } else {
            std::vector<Expr> operands;
            for (const Expr& operand : expr.operands()) operands.push_back(made.at(operand.id()));
            own = or_found(expr.with_operands(std::move(operands)));
        }
    }
    return made.at(given.id());
}

Expr Mirrored::exact_variable(int variable, Block& out) {
    const auto known = mirrored_.find(variable);
    if (known == mirrored_.end()) return made_of(p_.variable(static_cast<size_t>(variable))).value;
    if (!known->second.is_rough) return with_sign(known->second);
    const auto there = exact_.find(variable);
    if (there != exact_.end()) return there->second;
    const Statement& from = given_.at(variable);
    const Expr own = named(variable, exact_of(from.values[0], out), from.line, out);
    exact_.emplace(variable, own);
    return own;
}

std::vector<Expr> Mirrored::exact(const std::vector<Expr>& values, Block& out) {
    std::vector<Expr> made;
    for (const Expr& each : values) made.push_back(exact_of(each, out));
    return made;
}

// A variable with the value, if that is more than a variable or a constant.
Expr Mirrored::named(int like, const Expr& value, const SourceLine& line, Block& out) {
    if (value.operands().empty()) return value;
    const Variable known = p_.variables[static_cast<size_t>(like)];
    const int made = p_.add_variable(known.name, known.dtype);
    out.push_back(Statement::assign(made, value, line));
    const Expr variable = p_.variable(static_cast<size_t>(made));
    known_[scalar::structural_hash({value})].emplace_back(value, variable);
    return variable;
}

Expr Mirrored::read(const Statement& load, const std::vector<Expr>& index, Block& out) {
    for (const Statement& each : loads_)
        if (each.array == load.array && each.index.size() == index.size() &&
            scalar::structurally_equal(each.index, index))
            return p_.variable(static_cast<size_t>(each.variable));
    const Variable known = p_.variables[static_cast<size_t>(load.variable)];
    const int made = p_.add_variable(known.name, known.dtype);
    out.push_back(Statement::load(made, load.array, index, load.line));
    loads_.push_back(out.back());
    return p_.variable(static_cast<size_t>(made));
}

void Mirrored::compute(const Statement& statement, Block& out) {
    SignedValue& own = mirrored_[statement.variable];
    if (statement.kind == Kind::load) {
        const std::vector<Expr> index = exact(statement.index, out);
        own = {read(statement, index, out)};
        return;
    }
    SignedValue made = value(statement.values[0], out);
    made.value = named(statement.variable, made.value, statement.line, out);
    own = std::move(made);
}

namespace {

struct SharedQuotient {
    Expr numerator, divisor, variable;
};

class QuotientSharing {
  public:
    QuotientSharing(Procedure& procedure, Block& block) : p_(procedure), block_(block) {}

    void run() {
        find();
        for (size_t i = 0; i < block_.size(); ++i) {
            if (block_[i].line.sweep != Sweep::gradient) continue;
            std::vector<Expr> values = block_[i].values;
            Block before;
            for (Expr& value : values) value = shared(value, block_[i].line, before);
            block_[i].values = std::move(values);
            block_.insert(block_.begin() + static_cast<std::ptrdiff_t>(i), before.begin(),
                          before.end());
            i += before.size();
        }
    }

  private:
    // Quotients of which a part of another one's numerator is divided alone.
    void find() {
        std::vector<Expr> all;
        for (const Statement& each : block_)
            for (const Expr& value : scalar::topological_order(each.values))
                if (value.op() == Op::divide && is_floating(value.dtype()) &&
                    each.line.sweep == Sweep::gradient)
                    all.push_back(value);
        for (const Expr& one : all)
            for (const Expr& other : all)
                if (one.operand(0).op() == Op::argument && part_in(other, one).has_value() &&
                    !quotient(one.operand(0), one.operand(1)))
                    quotients_.push_back({one.operand(0), one.operand(1), {}});
    }

    SharedQuotient* quotient(const Expr& numerator, const Expr& divisor) {
        for (SharedQuotient& each : quotients_)
            if (scalar::structurally_equal({numerator, divisor}, {each.numerator, each.divisor}))
                return &each;
        return nullptr;
    }

    // Of a * x / b and x / b: a, with the sign.
    static std::optional<SignedValue> part_in(const Expr& whole, const Expr& part) {
        if (!scalar::structurally_equal({whole.operand(1)}, {part.operand(1)})) return {};
        SignedValue product = signed_value(whole.operand(0));
        const Expr& value = product.value;
        if (value.op() != Op::multiply) return {};
        for (const int side : {0, 1})
            if (scalar::structurally_equal({value.operand(side)}, {part.operand(0)}))
                return SignedValue{value.operand(1 - side), product.is_negative};
        return {};
    }

    Expr shared(const Expr& value, const SourceLine& line, Block& before) {
        std::map<const scalar::ExprNode*, Expr> made;
        for (const Expr& expr : scalar::topological_order({value})) {
            std::vector<Expr> operands;
            for (const Expr& operand : expr.operands()) operands.push_back(made.at(operand.id()));
            const bool is_same =
                std::equal(operands.begin(), operands.end(), expr.operands().begin());
            Expr own = is_same ? expr : expr.with_operands(std::move(operands));
            if (own.op() == Op::divide && is_floating(own.dtype()))
                own = by_quotient(own, line, before);
            made[expr.id()] = own;
        }
        return made.at(value.id());
    }

    Expr by_quotient(const Expr& whole, const SourceLine& line, Block& before) {
        for (SharedQuotient& each : quotients_) {
            const Expr part = each.numerator / each.divisor;
            const bool is_alone = scalar::structurally_equal({whole}, {part});
            const auto factor = is_alone ? std::nullopt : part_in(whole, part);
            if (!is_alone && !factor) continue;
            if (!each.variable) {
                const int number = p_.add_variable("quotient", whole.dtype());
                each.variable = p_.variable(static_cast<size_t>(number));
                before.push_back(Statement::assign(number, part, line));
            }
            if (is_alone) return each.variable;
            const Expr product = factor->value * each.variable;
            return factor->is_negative ? -product : product;
        }
        return whole;
    }

    Procedure& p_;
    Block& block_;
    std::vector<SharedQuotient> quotients_;
};

}  // namespace

void share_quotients(Procedure& procedure, Block& block) {
    QuotientSharing(procedure, block).run();
}

}  // namespace composit::ir::procedure
