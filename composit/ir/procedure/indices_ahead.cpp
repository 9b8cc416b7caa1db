// with_indices_ahead: inner loops over neighbouring elements, whose bounds are looked at once.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_any_variable(const Expr& x) { return x.op() == Op::argument; }

bool is_plain(const Statement& statement) {
    return statement.kind == Kind::assign || statement.kind == Kind::load ||
           statement.kind == Kind::store || statement.kind == Kind::add ||
           statement.kind == Kind::append || statement.kind == Kind::take;
}

class Versions {
  public:
    explicit Versions(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        mentions_ = mentions_in(p_, p_.body);
        for (Statement& statement : p_.body) walk(statement, false);
        return std::move(p_);
    }

  private:
    void walk(Statement& statement, bool is_inner) {
        const bool is_loop = statement.kind == Kind::loop;
        for (Block* block : {&statement.body, &statement.otherwise})
            for (Statement& inner : *block) walk(inner, is_inner || is_loop);
        if (!is_loop || !is_inner) return;
        if (std::optional<Statement> made = versions_of(statement)) statement = std::move(*made);
    }

    // if (what it asserts holds from the first iteration to the last, of indices that are not
    // negative) the loop without assertions else the loop.
    std::optional<Statement> versions_of(const Statement& loop) {
        const auto count = count_by_one(loop);
        if (!count) return {};
        const bool counts_up = count->step == 1;
        const std::map<int, int> assigned = assignments_in({loop});
        std::vector<Expr> by = all_variables(p_), begin = by, last = by;
        const auto counter = static_cast<size_t>(count->counter);
        const Expr end = counts_up ? count->end - integer(1) : count->end + integer(1);
        begin[counter] = count->begin;
        last[counter] = end;
        Statement plain = loop;
        plain.body.clear();
        bool is_plainer = false;
        std::vector<Expr> conditions;
        // Sums and products of integers wrap. Of a counter that counts up: if the first is not
        // negative and the last not below it, those between are in order. Of multiples: they are,
        // if neither the factor nor the number of iterations is larger than `far`, and both the
        // first and the last are natural.
        const Expr far = integer(int64_t(1) << 31);
        const Expr span = counts_up ? end - count->begin : count->begin - end;
        const auto stay_natural = [&](const Expr& index, const Expr& factor) {
            const Expr first = scalar::substitute({index}, begin)[0];
            const Expr behind = scalar::substitute({index}, last)[0];
            conditions.push_back(first >= integer(0));
            if (counts_up && is_integer_constant(factor, 1)) {
                conditions.push_back(first <= behind);
                return;
            }
            conditions.push_back(behind >= integer(0));
            for (const Expr& each : {span, factor}) {
                if (each.op() == Op::constant && each.value() >= 0 && each.value() < 0x1p31)
                    continue;
                conditions.push_back(each >= integer(0));
                conditions.push_back(each < far);
            }
        };
        for (const Statement& statement : loop.body) {
            if (statement.kind == Kind::expect) {
                const Expr& holds = statement.values[0];
                const bool is_below = holds.op() == Op::less;
                if (!is_below &&
                    (holds.op() != Op::greater_equal || !is_integer_constant(holds.operand(1), 0)))
                    return {};
                const Expr index = scalar::substitute({holds.operand(0)}, by)[0];
                const Expr& extent = holds.operand(1);
                const Expr factor = factor_of(count->counter, index, assigned);
                if (!factor || reads_any({extent}, assigned)) return {};
                stay_natural(index, factor);
                if (is_below) {
                    conditions.push_back(scalar::substitute({index}, last)[0] < extent);
                    if (!counts_up)
                        conditions.push_back(scalar::substitute({index}, begin)[0] < extent);
                }
                is_plainer = true;
                continue;
            }
            if (!is_plain(statement)) return {};
            plain.body.push_back(statement);
            for (Expr& index : plain.body.back().index) {
                const Expr own = scalar::substitute({index}, by)[0];
                if (factor_of(count->counter, own, assigned)) index = own;
            }
            // A variable that is assigned twice, or read before, is none that moves.
            if (statement.kind != Kind::assign || assigned.at(statement.variable) != 1) continue;
            Expr& value = plain.body.back().values[0];
            if (const auto wrapped = wrapped_index(value);
                wrapped && is_any_variable(wrapped->from)) {
                const Expr index = scalar::substitute({wrapped->from}, by)[0];
                if (const Expr factor = factor_of(count->counter, index, assigned)) {
                    stay_natural(index, factor);
                    value = wrapped->from;
                    is_plainer = true;
                }
            }
            by[static_cast<size_t>(statement.variable)] = scalar::substitute({value}, by)[0];
        }
        if (!is_plainer) return {};
        leave_out_unread(plain, loop);
        give_own_variables(p_, plain, loop, mentions_);
        const Expr all = all_of(scalar::simplify(conditions));
        if (!all) return plain;
        return Statement::branch(all, {std::move(plain)}, {loop}, loop.line);
    }

    // Integers that nothing reads any more.
    void leave_out_unread(Statement& plain, const Statement& loop) {
        const std::map<int, int> all = mentions_in(p_, {loop});
        for (bool has_changed = true; has_changed;) {
            const std::map<int, int> inside = mentions_in(p_, {plain});
            has_changed = std::erase_if(plain.body, [&](const Statement& each) {
                              return each.kind == Kind::assign && inside.at(each.variable) == 1 &&
                                     all.at(each.variable) == mentions_[each.variable] &&
                                     !is_floating(each.values[0].dtype());
                          }) > 0;
        }
    }

    // Each condition once; none if all hold.
    static Expr all_of(const std::vector<Expr>& conditions) {
        std::vector<Expr> taken;
        Expr all;
        for (const Expr& one : conditions) {
            if (is_integer_constant(one, 1) ||
                std::find(taken.begin(), taken.end(), one) != taken.end())
                continue;
            taken.push_back(one);
            all = all ? all & one : one;
        }
        return all;
    }

    // By what the counter is multiplied in a value that is the rest of something that no iteration
    // changes: not by a negative number; none of other values.
    static Expr factor_of(int counter, const Expr& value, const std::map<int, int>& assigned) {
        if (is_any_variable(value)) return value.index() == counter ? integer(1) : Expr();
        if (value.operands().size() != 2) return {};
        const Expr &a = value.operand(0), &b = value.operand(1);
        const bool is_fixed = !reads_any({a}, assigned), is_rest_fixed = !reads_any({b}, assigned);
        switch (value.op()) {
            case Op::add:
                if (is_fixed) return factor_of(counter, b, assigned);
                return is_rest_fixed ? factor_of(counter, a, assigned) : Expr();
            case Op::subtract: return is_rest_fixed ? factor_of(counter, a, assigned) : Expr();
            case Op::multiply: {
                // Of one factor alone, so that no product wraps before it is looked at.
                const Expr &own = is_fixed ? b : a, &factor = is_fixed ? a : b;
                const bool is_one = is_fixed || is_rest_fixed;
                return is_one && is_any_variable(own) && own.index() == counter ? factor : Expr();
            }
            default: return {};
        }
    }

    Procedure p_;
    std::map<int, int> mentions_;
};

}  // namespace

Procedure with_indices_ahead(Procedure procedure) { return Versions(std::move(procedure)).run(); }

}  // namespace composit::ir::procedure
