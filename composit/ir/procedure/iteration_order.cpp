#include "composit/ir/procedure/iteration_order.h"

#include "composit/ir/procedure/iterations.h"

#include <algorithm>
#include <map>
#include <optional>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

// What a statement, or one within, does with an array.
struct ElementAccess {
    size_t node = 0;
    const Statement* statement = nullptr;
    bool writes() const { return statement->kind != Kind::load; }
};

// Which of two accesses comes first where both reach one element.
enum class ElementRelation : uint8_t { none, same_iteration, first_before, second_before, unknown };

class LoopDependences {
  public:
    LoopDependences(const Procedure& procedure, const Statement& loop, const std::set<int>& own)
        : procedure_(procedure),
          loop_(loop),
          count_(*count_of(loop)),
          own_(own),
          assigned_(assignments_in({loop})) {
        for (const Statement& each : loop.body) nodes_.push_back({each});
        const size_t n = nodes_.size();
        order_.after.assign(n, std::vector<char>(n, 0));
        order_.carried = order_.after;
    }

    IterationOrder run() {
        variables();
        arrays();
        assertions();
        groups();
        return std::move(order_);
    }

  private:
    void both_ways(size_t i, size_t k) {
        order_.after[i][k] = order_.after[k][i] = 1;
        order_.carried[i][k] = order_.carried[k][i] = 1;
    }

    void variables() {
        std::map<int, std::vector<size_t>> mentioning;
        std::vector<std::map<int, int>> assigned;
        for (size_t i = 0; i < nodes_.size(); ++i) {
            assigned.push_back(assignments_in(nodes_[i]));
            for (const auto& [variable, times] : mentions_in(procedure_, nodes_[i]))
                mentioning[variable].push_back(i);
        }
        for (const auto& [variable, nodes] : mentioning)
            for (const size_t i : nodes)
                for (const size_t k : nodes) {
                    if (k < i) continue;
                    if (!assigned[i].contains(variable) && !assigned[k].contains(variable))
                        continue;
                    if (!own_.contains(variable))
                        both_ways(i, k);
                    else if (i != k)
                        order_.after[i][k] = 1;
                }
    }

    void arrays() {
        std::map<int, std::vector<ElementAccess>> accesses;
        for (size_t i = 0; i < nodes_.size(); ++i)
            for (const Statement* each : all_statements(nodes_[i]))
                if (each->array >= 0) accesses[each->array].push_back({i, each});
        for (const auto& [array, all] : accesses) {
            const bool has_own = has_own_elements(procedure_, loop_.body, count_.counter, array);
            for (size_t a = 0; a < all.size(); ++a)
                for (size_t b = a; b < all.size(); ++b) {
                    if (!all[a].writes() && !all[b].writes()) continue;
                    const size_t i = all[a].node, k = all[b].node;
                    switch (has_own ? ElementRelation::same_iteration
                                    : relation_of(*all[a].statement, *all[b].statement)) {
                        case ElementRelation::none: break;
                        case ElementRelation::same_iteration:
                            if (i != k) order_.after[i][k] = 1;
                            break;
                        case ElementRelation::first_before:
                            order_.after[i][k] = order_.carried[i][k] = 1;
                            break;
                        case ElementRelation::second_before:
                            order_.after[k][i] = order_.carried[k][i] = 1;
                            break;
                        case ElementRelation::unknown: both_ways(i, k); break;
                    }
                }
        }
    }

    ElementRelation relation_of(const Statement& a, const Statement& b) const {
        const bool fits = a.index.size() == b.index.size() && !a.index.empty();
        if (!fits) return ElementRelation::unknown;
        std::optional<ElementRelation> found;
        for (size_t axis = 0; axis < a.index.size(); ++axis) {
            const Expr &one = a.index[axis], &other = b.index[axis];
            if (!reads_any({one, other}, assigned_)) {
                if (are_apart({one}, {other})) return ElementRelation::none;
                continue;
            }
            const auto first = offset_from(count_.counter, one);
            const auto second = offset_from(count_.counter, other);
            if (!first || !second || found) continue;
            // Where i + first is k + second, k is i + first - second.
            const int64_t later = (*first - *second) * count_.step;
            found = later == 0  ? ElementRelation::same_iteration
                    : later > 0 ? ElementRelation::first_before
                                : ElementRelation::second_before;
        }
        return found.value_or(ElementRelation::unknown);
    }

    // What stands behind an assertion may read what is there only if it holds.
    void assertions() {
        for (size_t i = 0; i < nodes_.size(); ++i) {
            const auto all = all_statements(nodes_[i]);
            const bool asserts = std::any_of(all.begin(), all.end(), [](const Statement* each) {
                return each->kind == Kind::expect;
            });
            for (size_t k = i + 1; asserts && k < nodes_.size(); ++k) order_.after[i][k] = 1;
        }
    }

    void groups() {
        const size_t n = nodes_.size();
        std::vector<std::vector<char>> reached = order_.after;
        for (size_t via = 0; via < n; ++via)
            for (size_t i = 0; i < n; ++i)
                if (reached[i][via])
                    for (size_t k = 0; k < n; ++k) reached[i][k] |= reached[via][k];
        order_.group.assign(n, -1);
        order_.is_free.assign(n, 1);
        for (size_t i = 0; i < n; ++i) {
            if (reached[i][i]) order_.is_free[i] = 0;
            if (order_.group[i] >= 0) continue;
            for (size_t k = i; k < n; ++k)
                if (k == i || (reached[i][k] && reached[k][i]))
                    order_.group[k] = static_cast<int>(i);
        }
    }

    const Procedure& procedure_;
    const Statement& loop_;
    std::vector<Block> nodes_;
    const Count count_;
    const std::set<int>& own_;
    const std::map<int, int> assigned_;
    IterationOrder order_;
};

}  // namespace

IterationOrder order_in(const Procedure& procedure, const Statement& loop,
                        const std::set<int>& own) {
    return LoopDependences(procedure, loop, own).run();
}

}  // namespace composit::ir::procedure
