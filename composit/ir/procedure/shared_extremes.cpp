#include "composit/ir/procedure/shared_extremes.h"

#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/stand_ins.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;
using scalar::Row;
using scalar::RowRef;

// m = maximum(m, e) of floats, or minimum: e, else nothing.
Expr compared_in(const Statement& statement) {
    if (statement.kind != Kind::assign) return {};
    const Expr& value = statement.values[0];
    if (!is_floating(value.dtype()) || value.op() != Op::call) return {};
    static const RowRef &maximum = scalar::table_row("maximum"),
                        &minimum = scalar::table_row("minimum");
    if (value.row() != maximum && value.row() != minimum) return {};
    const Expr &m = value.operand(0), &e = value.operand(1);
    if (!is_variable(m, statement.variable) || is_held(e) ||
        variables_in({e}).contains(statement.variable))
        return {};
    return e;
}

// A loop, those within it and, in the innermost one, the statement that finds the extremum.
struct Nest {
    std::vector<const Statement*> loops;
    std::vector<Count> counts;
    const Statement* last = nullptr;
    int extremum() const { return last->variable; }
    Expr value() const { return compared_in(*last); }
};

class Sharer {
  public:
    explicit Sharer(Procedure procedure) : p_(with_own_variables(std::move(procedure))) {}

    Procedure run() {
        share_all(p_.body);
        return with_own_variables(std::move(p_));  // the loops are two
    }

  private:
    void share_all(Block& block) {
        Block out;
        for (Statement& statement : block) {
            Block behind;
            if (statement.kind == Kind::loop)
                for (auto nest = nest_of(statement); nest; nest = nest_of(statement))
                    statement = shared(*nest, out, behind);
            for (Block* inner : {&statement.body, &statement.otherwise}) share_all(*inner);
            out.push_back(std::move(statement));
            out.insert(out.end(), behind.begin(), behind.end());
        }
        block = std::move(out);
    }

    // The first extremum that a loop finds and that nothing else in it mentions, where the loops
    // around it run as often whatever the others are at.
    std::optional<Nest> nest_of(const Statement& loop) const {
        const Block one{loop};
        const auto all = all_statements(loop.body);
        const std::map<int, int> inside = mentions_in(p_, one), assigned = assignments_in(one);
        if (may_exit(loop.body)) return {};
        for (const Statement* each : all) {
            if (!compared_in(*each) || inside.at(each->variable) != 2 ||
                static_cast<size_t>(each->variable) < p_.parameters)
                continue;
            Nest nest;
            if (!find(loop, each, nest)) continue;
            bool is_even = true;
            for (const Count& count : nest.counts)
                for (const int variable : variables_in({count.begin, count.end}))
                    is_even &= !assigned.contains(variable);
            if (is_even) return nest;
        }
        return {};
    }

    static bool find(const Statement& loop, const Statement* wanted, Nest& nest) {
        const auto count = count_of(loop);
        if (!count) return false;
        nest.loops.push_back(&loop);
        nest.counts.push_back(*count);
        for (const Statement& each : loop.body) {
            if (&each == wanted) nest.last = wanted;
            if (each.kind == Kind::loop && find(each, wanted, nest)) return true;
            if (nest.last) return true;
        }
        nest.loops.pop_back();
        nest.counts.pop_back();
        return false;
    }

    Expr read(int variable) const { return p_.variable(static_cast<size_t>(variable)); }
    static Expr zero_of(const Expr& x) { return Expr::constant(x.dtype(), 0); }
    static Expr one_of(const Expr& x) { return Expr::constant(x.dtype(), 1); }
    // Whether a value is not the extremum; where that is NaN, all are.
    static Expr loses(const Expr& value, const Expr& raw, const Nest& nest) {
        static const RowRef& maximum = scalar::table_row("maximum");
        return nest.last->values[0].row() == maximum ? value < raw : value > raw;
    }

    // Whether the values are one operation or a few on elements that the loops change none of: they
    // have the same bits wherever they are computed, and it costs little.
    static bool is_read_again(const Nest& nest) {
        for (const Statement* loop : nest.loops)
            for (const Statement& each : loop->body) {
                const bool is_innermost = loop == nest.loops.back();
                const bool is_plain = each.kind == Kind::expect ||
                                      (is_innermost ? each.kind == Kind::load || &each == nest.last
                                                    : each.kind == Kind::loop);
                if (!is_plain || (!is_innermost && loop->body.size() > 1)) return false;
            }
        const auto all = scalar::topological_order({nest.value()});
        return std::none_of(all.begin(), all.end(), is_named_call);
    }

    // Whether assertions right before say that each of the loops runs.
    static bool is_known_to_run(const Nest& nest, const Block& out) {
        return std::all_of(nest.counts.begin(), nest.counts.end(), [&](const Count& count) {
            if (!is_integer_constant(count.begin, 0) || count.step != 1) return false;
            if (count.end.op() == Op::constant) return count.end.value() > 0;
            return std::any_of(out.begin(), out.end(), [&](const Statement& each) {
                if (each.kind != Kind::expect || each.values[0].op() != Op::greater) return false;
                const Expr &extent = each.values[0].operand(0), &low = each.values[0].operand(1);
                return is_integer_constant(low, 0) &&
                       scalar::structurally_equal({extent}, {count.end});
            });
        });
    }

    // The loop that takes the first one's place, before which `out` ends; what goes `behind` it.
    Statement shared(const Nest& nest, Block& out, Block& behind) {
        const int extremum = nest.extremum();
        const SourceLine line = nest.last->line;
        const Variable own = p_.variables[static_cast<size_t>(extremum)];
        const Expr m = read(extremum), e = nest.value();
        const Expr raw = read(p_.add_variable(own.name, own.dtype));
        const Expr equals = read(p_.add_variable("equal", own.dtype));
        const Expr total = read(p_.add_variable(own.name + "_total", own.dtype));
        const auto assigned = [&](const Expr& variable, const Expr& value) {
            return Statement::assign(variable.index(), value, line);
        };
        const auto before = std::find_if(out.rbegin(), out.rend(), [&](const Statement& each) {
            return mentions_in(p_, {each}).contains(extremum);
        });
        const bool begins_with_constant = before != out.rend() && before->kind == Kind::assign &&
                                          before->values[0].op() == Op::constant;
        const Expr none = zero_of(m);
        // An infinity that anything is better than has no part in it.
        bool has_part = true;
        Expr first = m;
        if (begins_with_constant) {
            first = before->values[0];
            has_part = !std::isinf(first.value());
            before->variable = raw.index();
        } else {
            out.push_back(assigned(raw, held(m)));
        }
        const bool may_be_none = !has_part && !is_known_to_run(nest, out);
        const Expr first_loses = loses(first, raw, nest);
        behind.push_back(assigned(equals, has_part ? select(first_loses, none, one_of(m)) : none));
        behind.push_back(
            assigned(total, begins_with_constant ? none : select(first_loses, none, first)));
        Block read_again, kept;
        Expr value = e;
        if (is_read_again(nest)) {
            for (const Statement& each : nest.loops.back()->body)
                if (each.kind == Kind::load) read_again.push_back(each);
        } else {
            value = keep(nest, own, kept, read_again, out);
        }
        const Expr is_less = loses(value, raw, nest);
        read_again.push_back(assigned(equals, equals + select(is_less, none, one_of(m))));
        read_again.push_back(assigned(total, total + select(is_less, none, value)));
        behind.push_back(around(nest, 0, std::move(read_again)));
        Expr part = total / held(equals);
        if (may_be_none) part = select(equals > none, part, none);
        behind.push_back(assigned(m, stand_in(raw, part)));
        const Expr known = kept.empty() ? e : value;
        kept.push_back(assigned(raw, nest.last->values[0].with_operands({raw, held(known)})));
        return replaced(*nest.loops.front(), nest.last, kept);
    }

    // Writes the values to an array, from which the other loop reads them.
    Expr keep(const Nest& nest, const Variable& own, Block& kept, Block& read_again, Block& out) {
        const SourceLine line = nest.last->line;
        ArrayVariable like;
        like.dtype = own.dtype;
        std::vector<Expr> place;
        for (const Count& count : nest.counts) {
            like.shape.push_back(trips_of(p_, count, count.begin));
            place.push_back(trip_of(p_, count, count.begin));
        }
        const int array = p_.add_array(own.name + "_of", like);
        const Expr value = read(p_.add_variable("value", own.dtype));
        out.push_back(Statement::allocate(array, false, line));
        kept.push_back(Statement::assign(value.index(), nest.value(), line));
        kept.push_back(Statement::write(Kind::store, array, place, value, line));
        read_again.push_back(Statement::load(value.index(), array, place, line));
        return value;
    }

    // The loops, with nothing in them but the innermost one's `body`.
    static Statement around(const Nest& nest, size_t depth, Block body) {
        Statement loop = *nest.loops[depth];
        loop.body = depth + 1 == nest.loops.size()
                        ? std::move(body)
                        : Block{around(nest, depth + 1, std::move(body))};
        return loop;
    }

    static Statement replaced(const Statement& within, const Statement* old, const Block& by) {
        Statement made = within;
        made.body.clear();
        for (const Statement& each : within.body) {
            if (&each == old)
                made.body.insert(made.body.end(), by.begin(), by.end());
            else
                made.body.push_back(each.kind == Kind::loop ? replaced(each, old, by) : each);
        }
        return made;
    }

    Procedure p_;
};

}  // namespace

Procedure with_extremes_shared(Procedure procedure) {
    const auto all = all_statements(procedure.body);
    const bool has_any = std::any_of(all.begin(), all.end(), [](const Statement* each) {
        return static_cast<bool>(compared_in(*each));
    });
    return has_any ? Sharer(std::move(procedure)).run() : procedure;
}

}  // namespace composit::ir::procedure
