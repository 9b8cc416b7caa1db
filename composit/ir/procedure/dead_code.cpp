// without_dead_code: what no result, output or assertion needs is left out.
#include "composit/ir/procedure/procedure.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

// Variables, and arrays as -1 - number.
using Live = std::set<int>;

// Whether a block does anything but move control within the loop around it.
bool has_effect(const Block& block, bool keeps_assertions) {
    return std::any_of(block.begin(), block.end(), [=](const Statement& statement) {
        switch (statement.kind) {
            case Kind::stop:
            case Kind::go_on: return false;
            case Kind::expect: return keeps_assertions;
            case Kind::branch:
            case Kind::loop:
                return has_effect(statement.body, keeps_assertions) ||
                       has_effect(statement.otherwise, keeps_assertions);
            default: return true;
        }
    });
}

// The block without what only leaves the loop around it, and without assertions, which alone do
// not make a loop worth running.
Block without_jumps(const Block& block, bool keeps_assertions, bool is_inner = false) {
    Block out;
    for (const Statement& statement : block) {
        const bool is_jump = statement.kind == Kind::stop || statement.kind == Kind::go_on;
        if (is_jump && !is_inner) continue;
        if (statement.kind == Kind::expect && !keeps_assertions) continue;
        Statement copy = statement;
        if (!is_jump) {
            const bool is_loop = statement.kind == Kind::loop;
            copy.body = without_jumps(statement.body, keeps_assertions, is_inner || is_loop);
            if (!is_loop)
                copy.otherwise = without_jumps(statement.otherwise, keeps_assertions, is_inner);
        }
        out.push_back(std::move(copy));
    }
    return out;
}

// A value is live only where something live reads it, so that what reads only itself is dead. Loops
// are walked until nothing more becomes live.
class Walker {
  public:
    Walker(const Procedure& procedure, bool keeps_assertions)
        : procedure_(procedure), keeps_assertions_(keeps_assertions) {}

    // Leaves the live statements.
    void keep_live(Block& block) {
        const Block whole = block;
        for (size_t known = taken_.size();; known = taken_.size()) {
            Live live;
            walk(block, live, {}, {});
            if (taken_.size() == known) return;
            block = whole;
        }
    }

  private:
    void read(const Statement& statement, Live& live) const {
        for (const Expr& expr : scalar::topological_order(expressions_of(procedure_, statement)))
            if (expr.op() == scalar::Op::argument) live.insert(expr.index());
    }

    bool is_live(int array, const Live& live) const {
        const Role role = procedure_.arrays[static_cast<size_t>(array)].role;
        return role == Role::output || live.contains(-1 - array);
    }

    void walk(Block& block, Live& live, const Live& at_stop, const Live& at_go_on) const {
        Block kept;
        for (size_t i = block.size(); i-- > 0;)
            if (keep(block[i], live, at_stop, at_go_on)) kept.push_back(std::move(block[i]));
        std::reverse(kept.begin(), kept.end());
        block = std::move(kept);
    }

    bool keep(Statement& statement, Live& live, const Live& at_stop, const Live& at_go_on) const {
        switch (statement.kind) {
            case Kind::assign:
            case Kind::load:
                if (live.erase(statement.variable) == 0) return false;
                read(statement, live);
                if (statement.kind == Kind::load) live.insert(-1 - statement.array);
                return true;
            // What was appended last is taken first: all of an array's are, or none.
            case Kind::take:
                if (live.erase(statement.variable) != 0) taken_.insert(statement.array);
                if (!taken_.contains(statement.array)) return false;
                live.insert(-1 - statement.array);
                return true;
            case Kind::store:
            case Kind::add:
            case Kind::append:
                if (!is_live(statement.array, live)) return false;
                read(statement, live);
                return true;
            case Kind::allocate:
                if (!is_live(statement.array, live)) return false;
                live.erase(-1 - statement.array);
                read(statement, live);
                return true;
            case Kind::leave:
                live.clear();
                read(statement, live);
                return true;
            case Kind::expect: read(statement, live); return true;
            case Kind::stop: live = at_stop; return true;
            case Kind::go_on: live = at_go_on; return true;
            case Kind::branch: {
                Live other = live;
                walk(statement.body, live, at_stop, at_go_on);
                walk(statement.otherwise, other, at_stop, at_go_on);
                live.insert(other.begin(), other.end());
                if (statement.body.empty() && statement.otherwise.empty()) return false;
                read(statement, live);
                return true;
            }
            case Kind::loop: return keep_loop(statement, live);
        }
        return true;
    }

    bool keep_loop(Statement& loop, Live& live) const {
        const Live behind = live;
        // What is live where the condition is evaluated: first without what decides how often the
        // loop runs, which matters only if it does something.
        Statement trial = loop;
        trial.body = without_jumps(loop.body, keeps_assertions_);
        Live at_condition = settled(trial, behind, behind);
        pass(trial, at_condition, behind);
        Block own = trial.body;
        own.insert(own.end(), trial.otherwise.begin(), trial.otherwise.end());
        if (!has_effect(own, keeps_assertions_)) return false;
        Live start = std::move(at_condition);
        read(loop, start);
        at_condition = settled(loop, start, behind);
        pass(loop, at_condition, behind);
        live = at_condition;
        walk(loop.first, live, {}, {});
        return true;
    }

    Live settled(const Statement& loop, Live at_condition, const Live& behind) const {
        for (;;) {
            Statement trial = loop;
            Live before = pass(trial, at_condition, behind);
            before.insert(at_condition.begin(), at_condition.end());
            if (before == at_condition) return before;
            at_condition = std::move(before);
        }
    }

    // What is live before an iteration, for what is live at the condition behind it.
    Live pass(Statement& loop, const Live& at_condition, const Live& behind) const {
        Live at_next = at_condition;
        walk(loop.otherwise, at_next, {}, {});
        Live live = at_next;
        walk(loop.body, live, behind, at_next);
        return live;
    }

    const Procedure& procedure_;
    const bool keeps_assertions_;
    mutable std::set<int> taken_;  // arrays of which something that is taken is live
};

void renumber(Block& block, const std::vector<Expr>& variables, const std::map<int, int>& arrays) {
    for (Statement& statement : block) {
        if (!statement.values.empty())
            statement.values = scalar::substitute(statement.values, variables);
        if (!statement.index.empty())
            statement.index = scalar::substitute(statement.index, variables);
        if (statement.variable >= 0)
            statement.variable = variables[static_cast<size_t>(statement.variable)].index();
        if (statement.array >= 0) statement.array = arrays.at(statement.array);
        renumber(statement.first, variables, arrays);
        renumber(statement.body, variables, arrays);
        renumber(statement.otherwise, variables, arrays);
    }
}

void leave_out_unmentioned(Procedure& procedure) {
    std::set<int> variables, arrays;
    const auto mention = [&](const std::vector<Expr>& values) {
        for (const Expr& expr : scalar::topological_order(values))
            if (expr.op() == scalar::Op::argument) variables.insert(expr.index());
    };
    for (const Statement* statement : all_statements(procedure.body)) {
        mention(expressions_of(procedure, *statement));
        if (statement->variable >= 0) variables.insert(statement->variable);
        if (statement->array >= 0) arrays.insert(statement->array);
    }
    for (size_t i = 0; i < procedure.parameters; ++i) variables.insert(static_cast<int>(i));
    for (size_t i = 0; i < procedure.arrays.size(); ++i)
        if (procedure.arrays[i].role != Role::local) arrays.insert(static_cast<int>(i));
    Procedure out = procedure;
    out.variables.clear();
    out.arrays.clear();
    std::vector<Expr> moved;
    for (size_t i = 0; i < procedure.variables.size(); ++i) {
        const bool is_kept = variables.contains(static_cast<int>(i));
        const size_t place = is_kept ? out.variables.size() : 0;
        if (is_kept) out.variables.push_back(procedure.variables[i]);
        moved.push_back(Expr::argument(static_cast<int>(place), procedure.variables[i].dtype,
                                       procedure.variables[i].name));
    }
    std::map<int, int> numbers;
    for (const int array : arrays) {
        numbers[array] = static_cast<int>(out.arrays.size());
        ArrayVariable copy = procedure.arrays[static_cast<size_t>(array)];
        if (!copy.shape.empty()) copy.shape = scalar::substitute(copy.shape, moved);
        out.arrays.push_back(std::move(copy));
    }
    for (int& each : out.head)
        each = each >= 0 ? moved[static_cast<size_t>(each)].index() : -1 - numbers.at(-1 - each);
    renumber(out.body, moved, numbers);
    procedure = std::move(out);
}

}  // namespace

Procedure without_dead_code(Procedure procedure, bool keeps_assertions) {
    const Procedure whole = procedure;
    Walker(whole, keeps_assertions).keep_live(procedure.body);
    leave_out_unmentioned(procedure);
    return procedure;
}

}  // namespace composit::ir::procedure
