// Finding the additions of a loop's iteration that come one behind the other.
#include "composit/backends/c_family/procedure_sums.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cstdint>
#include <map>
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

// Loops of more iterations stay loops.
constexpr int64_t longest_unrolled = 16;

// How often a loop runs that compilers unroll; 0: it stays a loop.
int64_t unrolled_trips(const Statement& loop) {
    const auto count = ir::procedure::count_of(loop);
    if (!count || count->begin.op() != Op::constant || count->end.op() != Op::constant) return 0;
    const auto distance = static_cast<int64_t>(count->end.value() - count->begin.value());
    const int64_t sign = count->step > 0 ? 1 : -1;
    const int64_t trips = (distance + count->step - sign) / count->step;
    return std::clamp<int64_t>(trips, 1, longest_unrolled + 1) % (longest_unrolled + 1);
}

// The variables that a value is a sum of, and how many additions lie in between.
class Terms {
  public:
    explicit Terms(const Expr& value) { walk(value, 0); }
    const std::map<int, int64_t>& variables() const { return variables_; }

  private:
    void walk(const Expr& value, int64_t additions) {
        if (value.op() == Op::argument) {
            int64_t& known = variables_[value.index()];
            known = std::max(known, additions);
            return;
        }
        if (!seen_.insert(value.id()).second) return;
        const Op op = value.op();
        const bool is_sum = op == Op::add || op == Op::subtract;
        // A function of the user's, which may be a sum.
        const bool is_own =
            op == Op::call && value.row()->name.find(".kernel") != std::string::npos;
        if (!is_sum && !is_own && op != Op::negate && op != Op::select) return;
        for (size_t i = op == Op::select ? 1 : 0; i < value.operands().size(); ++i)
            walk(value.operand(i), additions + (is_sum || is_own ? 1 : 0));
    }

    std::map<int, int64_t> variables_;
    std::unordered_set<const void*> seen_;
};

// The additions of a loop, as links between what is added to: variable k is node k, array k node
// -1 - k.
class Iteration {
  public:
    Iteration(const Procedure& procedure, const Statement& loop)
        : procedure_(procedure), assigned_(ir::procedure::assignments_in(loop.body)) {
        for (const auto& [variable, times] : ir::procedure::assignments_in(loop.otherwise))
            assigned_[variable] += times;
        collect(loop.body);
        for (const int variable : ir::procedure::exposed_in(procedure, loop.body))
            carried_.insert(variable);
    }

    // Adds those statements to `found` that lie on a way around with more than one addition.
    void find(std::set<const Statement*>& found) const {
        if (!is_innermost_) return;
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

    void collect(const Block& block) {
        for (const Statement& statement : block) collect(statement);
    }

    void collect(const Statement& statement) {
        switch (statement.kind) {
            case Kind::assign:
                if (is_floating(statement.variable))
                    link(statement.values[0], statement.variable, statement, repeats({}));
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
            case Kind::loop: {
                const int64_t trips = unrolled_trips(statement);
                is_innermost_ &= trips > 0;
                if (trips == 0) return;
                unrolled_.push_back({ir::procedure::count_of(statement)->counter, trips});
                collect(statement.body);
                unrolled_.pop_back();
                return;
            }
            default: return;
        }
    }

    void link(const Expr& value, int to, const Statement& statement, int64_t times) {
        const Terms terms(value);
        for (const auto& [variable, additions] : terms.variables())
            if (assigned_.contains(variable) && is_floating(variable))
                links_.push_back({variable, to, additions * times, &statement});
    }

    bool is_floating(int variable) const {
        return ir::is_floating(procedure_.variables[static_cast<size_t>(variable)].dtype);
    }

    // Whether it is the same element in all iterations, but for those of unrolled loops.
    bool is_one_element(const Statement& statement) const {
        if (!ir::is_floating(procedure_.arrays[static_cast<size_t>(statement.array)].dtype))
            return false;
        const std::set<int> index = ir::procedure::variables_in(statement.index);
        return std::ranges::none_of(index, [&](int variable) {
            return assigned_.contains(variable) &&
                   std::ranges::none_of(unrolled_,
                                        [&](const auto& loop) { return loop.first == variable; });
        });
    }

    // How often the unrolled loops around do the same: 1 or, for more often, 2.
    int64_t repeats(const std::vector<Expr>& index) const {
        const std::set<int> read = ir::procedure::variables_in(index);
        const bool is_repeated = std::ranges::any_of(unrolled_, [&](const auto& loop) {
            return loop.second > 1 && !read.contains(loop.first);
        });
        return is_repeated ? 2 : 1;
    }

    bool reaches(int from, int to, std::set<int>& seen) const {
        if (from == to) return true;
        if (!seen.insert(from).second) return false;
        return std::ranges::any_of(
            links_, [&](const Link& one) { return one.from == from && reaches(one.to, to, seen); });
    }
    bool is_around(int a, int b) const {
        std::set<int> there, back;
        return reaches(a, b, there) && reaches(b, a, back);
    }

    const Procedure& procedure_;
    std::map<int, int> assigned_;
    std::set<int> carried_;
    std::vector<Link> links_;
    std::vector<std::pair<int, int64_t>> unrolled_;  // counters and trips
    bool is_innermost_ = true;                       // but for unrolled loops
};

}  // namespace

std::set<const Statement*> sums_in_order(const Procedure& procedure) {
    std::set<const Statement*> found;
    if (procedure.arrays.empty()) return found;
    for (const Statement* each : ir::procedure::all_statements(procedure.body))
        if (each->kind == Kind::loop) Iteration(procedure, *each).find(found);
    return found;
}

}  // namespace composit::c_family
