// Finding the additions of a loop's iteration that come one behind the other.
#include "composit/backends/c_family/procedure_sums.h"

#include "composit/backends/c_family/procedure_loops.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace composit::c_family {
namespace {

using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

// Whether the value is another one for each value of a variable: it is the variable, or that times
// a number, and what nothing of `assigned` is in.
bool tells_apart(const Expr& value, int variable, const std::map<int, int>& assigned) {
    if (value.op() == Op::argument) return value.index() == variable;
    if (value.operands().size() != 2) return false;
    const Expr &a = value.operand(0), &b = value.operand(1);
    const Expr &own = reads(a, variable) ? a : b, &other = reads(a, variable) ? b : a;
    if (!tells_apart(own, variable, assigned)) return false;
    if (value.op() == Op::multiply) return other.op() == Op::constant && other.value() != 0;
    if (value.op() != Op::add && value.op() != Op::subtract) return false;
    return std::ranges::none_of(ir::procedure::variables_in({other}), [&](int read) {
        return read == variable || assigned.contains(read);
    });
}

// The variables that a value is a sum of, and how many additions lie in between. `ones`: variables
// that stand for numbers, by which nothing may be multiplied in fact.
class Terms {
  public:
    Terms(const Expr& value, const std::set<int>& ones) : ones_(ones) { walk(value, 0); }
    const std::map<int, int64_t>& variables() const { return variables_; }

  private:
    void walk(const Expr& value, int64_t additions) {
        if (value.op() == Op::argument) {
            int64_t& known = variables_[value.index()];
            known = std::max(known, additions);
            return;
        }
        if (!seen_.insert(value.id()).second) return;
        switch (value.op()) {
            case Op::add:
            case Op::subtract: return walk_all(value, 0, additions + 1);
            case Op::negate: return walk_all(value, 0, additions);
            case Op::select: return walk_all(value, 1, additions);
            case Op::multiply:
            case Op::divide:
                if (is_one(value.operand(0)) || is_one(value.operand(1)))
                    walk_all(value, 0, additions);
                return;
            case Op::call:  // of the user's, of any number of additions
                if (value.row()->name.find(".kernel") != std::string::npos)
                    walk_all(value, 0, additions + 2);
                return;
            default: return;
        }
    }
    void walk_all(const Expr& value, size_t first, int64_t additions) {
        for (size_t i = first; i < value.operands().size(); ++i) walk(value.operand(i), additions);
    }
    bool is_one(const Expr& value) const {
        if (value.op() == Op::constant) return std::abs(value.value()) == 1;
        return value.op() == Op::argument && ones_.contains(value.index());
    }

    const std::set<int>& ones_;
    std::map<int, int64_t> variables_;
    std::unordered_set<const void*> seen_;
};

// The additions of a loop's iteration, those of loops within included, as links between what is
// added to: variable k is node k, array k node -1 - k.
class Iteration {
  public:
    Iteration(const Procedure& procedure, const Statement& loop, const std::set<int>& ones)
        : procedure_(procedure),
          ones_(ones),
          assigned_(ir::procedure::assignments_in(loop.body)),
          carried_(ir::procedure::exposed_in(procedure, loop.body)) {
        for (const auto& [variable, times] : ir::procedure::assignments_in(loop.otherwise)) {
            assigned_[variable] += times;
            moving_.insert(variable);
        }
        find_moving(loop.body);
        collect(loop.body);
    }

    // Adds those statements to `found` that lie on a way around with more than one addition.
    void find(std::set<const Statement*>& found) const {
        std::map<int, std::set<int>> reached;
        for (const Link& link : links_)
            for (const int node : {link.from, link.to})
                if (!reached.contains(node)) reach(node, reached[node]);
        const auto is_around = [&](int a, int b) {
            return reached[a].contains(b) && reached[b].contains(a);
        };
        for (const Link& link : links_) {
            if (link.additions == 0 || !is_around(link.from, link.to)) continue;
            int64_t additions = 0;
            bool is_carried = false;
            for (const Link& other : links_) {
                if (!is_around(link.from, other.from) || !is_around(link.from, other.to)) continue;
                additions += other.additions;
                is_carried |= other.from < 0 || carried_.contains(other.from);
            }
            if (additions > 1 && is_carried) found.insert(link.statement);
        }
    }

  private:
    struct Link {
        int from, to;
        int64_t additions;
        const Statement* statement;
    };

    // The variables that are another value in each iteration, for all that compilers know: each
    // statement that assigns them reads one.
    void find_moving(const Block& body) {
        const std::vector<const Statement*> all = ir::procedure::all_statements(body);
        for (bool has_changed = true; has_changed;) {
            has_changed = false;
            std::map<int, bool> moves;
            for (const Statement* each : all) {
                if (!ir::procedure::is_assignment(*each)) continue;
                const bool own = is_moving(ir::procedure::expressions_of(procedure_, *each));
                const auto [known, is_first] = moves.emplace(each->variable, own);
                known->second &= own;
            }
            for (const auto& [variable, own] : moves)
                if (own) has_changed |= moving_.insert(variable).second;
        }
    }
    bool is_moving(const std::vector<Expr>& values) const {
        return std::ranges::any_of(ir::procedure::variables_in(values),
                                   [&](int variable) { return moving_.contains(variable); });
    }

    void collect(const Block& block) {
        for (const Statement& statement : block) collect(statement);
    }

    void collect(const Statement& statement) {
        switch (statement.kind) {
            case Kind::assign:
                if (is_floating(statement.variable))
                    link(statement.values[0], statement.variable, statement,
                         loops_.empty() ? 1 : 2);
                return;
            case Kind::load:
                if (is_one_element(statement))
                    links_.push_back({-1 - statement.array, statement.variable, 0, &statement});
                return;
            case Kind::store:
            case Kind::add: {
                if (!is_one_element(statement)) return;
                const int64_t times = repeats(statement.index);
                const int node = -1 - statement.array;
                if (statement.kind == Kind::add) links_.push_back({node, node, times, &statement});
                return link(statement.values[0], node, statement, times);
            }
            case Kind::branch: collect(statement.body); return collect(statement.otherwise);
            case Kind::loop:
                loops_.push_back(&statement);
                collect(statement.body);
                loops_.pop_back();
                return;
            default: return;
        }
    }

    void link(const Expr& value, int to, const Statement& statement, int64_t times) {
        const Terms terms(value, ones_);
        for (const auto& [variable, additions] : terms.variables())
            if (assigned_.contains(variable) && is_floating(variable))
                links_.push_back({variable, to, additions * times, &statement});
    }

    bool is_floating(int variable) const {
        return ir::is_floating(procedure_.variables[static_cast<size_t>(variable)].dtype);
    }

    // Whether it may be the same element in all iterations.
    bool is_one_element(const Statement& statement) const {
        const bool is_float =
            ir::is_floating(procedure_.arrays[static_cast<size_t>(statement.array)].dtype);
        return is_float && !is_moving(statement.index);
    }

    // How often an iteration may add to the same element: 1 or, for more often, 2. Loops within
    // may be unrolled, whatever their bounds look like.
    int64_t repeats(const std::vector<Expr>& index) const {
        const bool is_repeated = std::ranges::any_of(loops_, [&](const Statement* loop) {
            const auto count = ir::procedure::count_of(*loop);
            if (!count) return true;
            const std::map<int, int> assigned = ir::procedure::assignments_in(loop->body);
            return std::ranges::none_of(index, [&](const Expr& axis) {
                return tells_apart(axis, count->counter, assigned);
            });
        });
        return is_repeated ? 2 : 1;
    }

    void reach(int from, std::set<int>& seen) const {
        if (!seen.insert(from).second) return;
        for (const Link& one : links_)
            if (one.from == from) reach(one.to, seen);
    }

    const Procedure& procedure_;
    const std::set<int>& ones_;
    std::map<int, int> assigned_;
    std::set<int> carried_, moving_;
    std::vector<Link> links_;
    std::vector<const Statement*> loops_;  // around the statement that is looked at
};

// Variables that are only ever a number.
std::set<int> numbers_in(const Procedure& procedure, const std::vector<const Statement*>& all) {
    std::set<int> numbers, others;
    for (const Statement* each : all) {
        if (!ir::procedure::is_assignment(*each)) continue;
        const bool is_number = each->kind == Kind::assign && each->values[0].op() == Op::constant;
        (is_number ? numbers : others).insert(each->variable);
    }
    std::erase_if(numbers, [&](int one) {
        return others.contains(one) || one < static_cast<int>(procedure.parameters);
    });
    return numbers;
}

}  // namespace

std::set<const Statement*> sums_in_order(const Procedure& procedure) {
    std::set<const Statement*> found;
    if (procedure.arrays.empty()) return found;
    const std::vector<const Statement*> all = ir::procedure::all_statements(procedure.body);
    const std::set<int> ones = numbers_in(procedure, all);
    for (const Statement* each : all)
        if (each->kind == Kind::loop) Iteration(procedure, *each, ones).find(found);
    return found;
}

}  // namespace composit::c_family
