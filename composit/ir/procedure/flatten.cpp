// flatten: statements as expressions. Branches become choices, loops those of the scalar language.
#include "composit/base/error.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

// Every loop of a scalar program has a limit; this one is not reached.
constexpr int64_t no_limit = std::numeric_limits<int64_t>::max();

Expr boolean(bool value) { return Expr::constant(DType::boolean, value ? 1 : 0); }

bool is_constant(const Expr& x, bool value) {
    return x.op() == scalar::Op::constant && (x.value() != 0) == value;
}

Expr negation(const Expr& x) {
    if (x.op() == scalar::Op::constant) return boolean(x.value() == 0);
    if (x.op() == scalar::Op::bit_not) return x.operand(0);
    return ~x;
}
Expr both(const Expr& a, const Expr& b) {
    if (is_constant(a, true)) return b;
    if (is_constant(b, true)) return a;
    return is_constant(a, false) || is_constant(b, false) ? boolean(false) : a & b;
}
Expr either(const Expr& a, const Expr& b) { return negation(both(negation(a), negation(b))); }

Expr chosen(const Expr& condition, const Expr& a, const Expr& b) {
    if (a == b || scalar::structurally_equal({a}, {b})) return a;
    if (is_constant(condition, true)) return a;
    if (is_constant(condition, false)) return b;
    if (a.dtype() != DType::boolean) return scalar::select(condition, a, b);
    if (is_constant(a, true)) return either(condition, b);
    if (is_constant(a, false)) return both(negation(condition), b);
    if (is_constant(b, true)) return either(negation(condition), a);
    if (is_constant(b, false)) return both(condition, a);
    return scalar::select(condition, a, b);
}

// What all variables and results are at a point, and how it was reached. Variables without a value
// are empty; those of which one side of a choice has none are not read behind it.
struct State {
    std::vector<Expr> variables, results;
    Expr has_left, has_stopped, goes_on;  // bool: return, break, continue was met

    Expr is_running() const {
        return both(negation(has_left), both(negation(has_stopped), negation(goes_on)));
    }
};

std::vector<Expr> choose(const Expr& condition, const std::vector<Expr>& a,
                         const std::vector<Expr>& b) {
    std::vector<Expr> out;
    for (size_t i = 0; i < a.size(); ++i)
        out.push_back(!a[i] ? b[i] : !b[i] ? a[i] : chosen(condition, a[i], b[i]));
    return out;
}

State choose(const Expr& condition, const State& a, const State& b) {
    return {choose(condition, a.variables, b.variables), choose(condition, a.results, b.results),
            chosen(condition, a.has_left, b.has_left),
            chosen(condition, a.has_stopped, b.has_stopped),
            chosen(condition, a.goes_on, b.goes_on)};
}

void find_assigned(const Block& block, std::set<size_t>& variables) {
    for (const Statement* statement : all_statements(block))
        if (statement->kind == Kind::assign)
            variables.insert(static_cast<size_t>(statement->variable));
}

void find_read(const std::vector<Expr>& values, std::set<size_t>& variables) {
    for (const Expr& expr : scalar::topological_order(values))
        if (expr.op() == scalar::Op::argument) variables.insert(static_cast<size_t>(expr.index()));
}

bool has(const Block& block, Kind kind) {
    const auto all = all_statements(block);
    return std::any_of(all.begin(), all.end(),
                       [&](const Statement* statement) { return statement->kind == kind; });
}

class Flattener {
  public:
    explicit Flattener(const Procedure& procedure) : procedure_(procedure) {}

    std::vector<Expr> run() const {
        State state;
        state.variables.resize(procedure_.variables.size());
        for (size_t i = 0; i < procedure_.parameters; ++i)
            state.variables[i] = procedure_.variable(i);
        state.results.resize(procedure_.results.size());
        state.has_left = state.has_stopped = state.goes_on = boolean(false);
        const State end = run_block(procedure_.body, std::move(state), boolean(true));
        return scalar::simplify(end.results);
    }

  private:
    // `reached`: whether the block is; loops run only then.
    State run_block(const Block& block, State state, const Expr& reached) const {
        return run_from(block, 0, std::move(state), reached);
    }

    State run_from(const Block& block, size_t begin, State state, const Expr& reached) const {
        for (size_t i = begin; i < block.size(); ++i) {
            state = run_statement(block[i], std::move(state), reached);
            const Expr runs = state.is_running();
            if (is_constant(runs, true)) continue;
            if (is_constant(runs, false) || i + 1 == block.size()) return state;
            // What follows happens only where nothing was left.
            State rest = run_from(block, i + 1, running(state), both(reached, runs));
            return choose(runs, rest, state);
        }
        return state;
    }

    static State running(State state) {
        state.has_left = state.has_stopped = state.goes_on = boolean(false);
        return state;
    }

    static Expr read(const Expr& value, const State& state) {
        // Variables that have no value are not read: anything stands for them.
        std::vector<Expr> values = state.variables;
        for (const Expr& expr : scalar::topological_order({value})) {
            if (expr.op() != scalar::Op::argument) continue;
            Expr& found = values[static_cast<size_t>(expr.index())];
            if (!found) found = Expr::constant_bits(expr.dtype(), {});
        }
        for (Expr& each : values)
            if (!each) each = boolean(false);
        return scalar::substitute({value}, values)[0];
    }

    State run_statement(const Statement& statement, State state, const Expr& reached) const {
        switch (statement.kind) {
            case Kind::assign:
                state.variables[static_cast<size_t>(statement.variable)] =
                    read(statement.values[0], state);
                return state;
            case Kind::branch: {
                const Expr condition = read(statement.values[0], state);
                const State a = run_block(statement.body, state, both(reached, condition));
                const State b =
                    run_block(statement.otherwise, state, both(reached, negation(condition)));
                return choose(condition, a, b);
            }
            case Kind::loop: return run_loop(statement, std::move(state), reached);
            case Kind::stop: state.has_stopped = boolean(true); return state;
            case Kind::go_on: state.goes_on = boolean(true); return state;
            case Kind::leave:
                for (size_t i = 0; i < statement.values.size(); ++i)
                    state.results[i] = read(statement.values[i], state);
                state.has_left = boolean(true);
                return state;
            case Kind::expect: return state;
            case Kind::load:
            case Kind::store:
            case Kind::add:
            case Kind::allocate:
            case Kind::append:
            case Kind::take: break;
        }
        fail<InternalError>("flatten: a statement of no kind");
    }

    // The state of the scalar loop: variables that the loop reads or assigns and that have a value,
    // those that it assigns first within itself and that are read behind it; then whether it still
    // runs, and whether and with which results the procedure was left.
    State run_loop(const Statement& loop, State before, const Expr& reached) const {
        before = run_block(loop.first, std::move(before), reached);
        std::set<size_t> used;
        find_assigned(loop.body, used);
        find_assigned(loop.otherwise, used);
        find_read(loop.values, used);
        for (const Block* block : {&loop.body, &loop.otherwise})
            for (const Statement* statement : all_statements(*block))
                find_read(statement->values, used);
        const std::vector<size_t> variables(used.begin(), used.end());
        const bool may_leave = has(loop.body, Kind::leave);

        std::vector<Expr> initial;
        for (const size_t variable : variables) {
            const Expr& value = before.variables[variable];
            const Variable& known = procedure_.variables[variable];
            // An argument is known by its identity, which another name would change.
            if (value && value.op() == scalar::Op::argument)
                initial.push_back(value);
            else
                initial.push_back(
                    (value ? value : Expr::constant_bits(known.dtype, Bits{})).named(known.name));
        }
        initial.push_back(reached);
        if (may_leave) {
            initial.push_back(boolean(false));
            for (size_t i = 0; i < procedure_.results.size(); ++i)
                initial.push_back(before.results[i]
                                      ? before.results[i]
                                      : Expr::constant_bits(procedure_.results[i].dtype, Bits{}));
        }
        const auto inside = [&](const std::vector<Expr>& s) {
            State state = running(before);
            std::fill(state.variables.begin(), state.variables.end(), Expr());
            for (size_t i = 0; i < variables.size(); ++i) state.variables[variables[i]] = s[i];
            for (size_t i = 0; i < state.results.size(); ++i)
                state.results[i] = may_leave ? s[variables.size() + 2 + i] : Expr();
            return state;
        };
        const auto condition = [&](const std::vector<Expr>& s) {
            return both(s[variables.size()], read(loop.values[0], inside(s)));
        };
        const auto step = [&](const std::vector<Expr>& s) {
            State after = run_block(loop.body, inside(s), boolean(true));
            const Expr stays = both(negation(after.has_left), negation(after.has_stopped));
            State next = run_block(loop.otherwise, running(after), stays);
            next.variables = choose(stays, next.variables, after.variables);
            std::vector<Expr> values;
            for (size_t i = 0; i < variables.size(); ++i) {
                const Expr& value = next.variables[variables[i]];
                values.push_back(value ? value : s[i]);
            }
            values.push_back(stays);
            if (!may_leave) return values;
            values.push_back(after.has_left);
            for (size_t i = 0; i < after.results.size(); ++i) values.push_back(after.results[i]);
            return values;
        };
        const std::vector<Expr> end = scalar::loop(initial, condition, step, no_limit);
        for (size_t i = 0; i < variables.size(); ++i) before.variables[variables[i]] = end[i];
        if (may_leave) {
            before.has_left = end[variables.size() + 1];
            for (size_t i = 0; i < before.results.size(); ++i)
                before.results[i] = end[variables.size() + 2 + i];
        }
        return before;
    }

    using Bits = scalar::Bits;
    const Procedure& procedure_;
};

}  // namespace

std::vector<Expr> flatten(const Procedure& procedure) {
    user_check<NotSupported>(procedure.arrays.empty(), procedure.name,
                             ": it has arrays, and is no expression of numbers.");
    return Flattener(procedure).run();
}

}  // namespace composit::ir::procedure
