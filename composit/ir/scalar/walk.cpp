// Walking expressions without recursion: topological order, substitution, structural hash and
// equality.
#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/scalar/expr.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <unordered_set>

namespace composit::ir::scalar {
namespace {

uint64_t hash_of_row(const Row& row) { return hash_combine(hash_text(row.name), revision_of(row)); }

uint64_t hash_of_loop(const Loop& loop) {
    std::vector<Expr> bodies = loop.steps;
    bodies.push_back(loop.condition);
    return hash_combine(structural_hash(bodies), static_cast<uint64_t>(loop.limit));
}

uint64_t hash_of_node(const Expr& expr,
                      const std::unordered_map<const ExprNode*, uint64_t>& hashes) {
    uint64_t hash =
        hash_combine(static_cast<uint64_t>(expr.op()), static_cast<uint64_t>(expr.dtype()));
    switch (expr.op()) {
        case Op::constant:
            hash = hash_combine(hash_combine(hash, expr.bits()[0]), expr.bits()[1]);
            break;
        case Op::argument: hash = hash_combine(hash, static_cast<uint64_t>(expr.index())); break;
        case Op::call: hash = hash_combine(hash, hash_of_row(*expr.row())); break;
        case Op::lookup: hash = hash_combine(hash, hash_of_table(*expr.table())); break;
        case Op::loop:
            hash = hash_combine(hash_combine(hash, hash_of_loop(*expr.loop())),
                                static_cast<uint64_t>(expr.index()));
            break;
        default: break;
    }
    for (const Expr& operand : expr.operands()) hash = hash_combine(hash, hashes.at(operand.id()));
    return hash;
}

bool same_loop(const Loop& a, const Loop& b) {
    std::vector<Expr> bodies_a = a.steps, bodies_b = b.steps;
    bodies_a.push_back(a.condition);
    bodies_b.push_back(b.condition);
    return a.limit == b.limit && structurally_equal(bodies_a, bodies_b);
}

bool same_node(const Expr& a, const Expr& b) {
    if (a.op() != b.op() || a.dtype() != b.dtype() || a.operands().size() != b.operands().size())
        return false;
    switch (a.op()) {
        case Op::select: return a.is_product_with(a.operand(1)) == b.is_product_with(b.operand(1));
        case Op::constant: return a.bits() == b.bits();
        case Op::argument: return a.index() == b.index();
        case Op::call: return a.row() == b.row();
        case Op::lookup: return a.table() == b.table() || *a.table() == *b.table();
        case Op::loop:
            return a.index() == b.index() &&
                   (a.loop() == b.loop() || same_loop(*a.loop(), *b.loop()));
        default: return true;
    }
}

// A set of nodes. Most expressions are small: their nodes are compared one by one, without memory
// of the set's own.
class Seen {
  public:
    // Whether it was not there before.
    bool insert(const ExprNode* node) {
        if (count_ < few_.size()) {
            const auto end = few_.begin() + static_cast<std::ptrdiff_t>(count_);
            if (std::find(few_.begin(), end, node) != end) return false;
            few_[count_++] = node;
            return true;
        }
        if (many_.empty()) many_.insert(few_.begin(), few_.end());
        return many_.insert(node).second;
    }

  private:
    std::array<const ExprNode*, 16> few_;
    size_t count_ = 0;
    std::unordered_set<const ExprNode*> many_;
};

}  // namespace

uint64_t hash_of_table(const std::vector<Bits>& table) {
    uint64_t hash = table.size();
    for (const Bits& bits : table) hash = hash_combine(hash_combine(hash, bits[0]), bits[1]);
    return hash;
}

std::vector<Expr> topological_order(const std::vector<Expr>& results) {
    struct Visit {
        const Expr* expr;
        size_t next;
    };
    std::vector<Expr> order;
    Seen seen;
    std::vector<Visit> stack;
    for (const Expr& result : results) {
        if (!result || !seen.insert(result.id())) continue;
        stack.push_back({&result, 0});
        while (!stack.empty()) {
            Visit& visit = stack.back();
            const std::vector<Expr>& operands = visit.expr->operands();
            if (visit.next < operands.size()) {
                const Expr& operand = operands[visit.next++];
                if (seen.insert(operand.id())) stack.push_back({&operand, 0});
            } else {
                order.push_back(*visit.expr);
                stack.pop_back();
            }
        }
    }
    return order;
}

std::vector<Expr> substitute(const std::vector<Expr>& results,
                             const std::vector<Expr>& replacements) {
    std::unordered_map<const ExprNode*, Expr> replaced;
    for (const Expr& expr : topological_order(results)) {
        if (expr.op() == Op::argument) {
            const size_t index = static_cast<size_t>(expr.index());
            internal_check(index < replacements.size(), "substitute: argument ", index, " of ",
                           replacements.size());
            internal_check(replacements[index].dtype() == expr.dtype(), "substitute: argument ",
                           index, " has dtype ", expr.dtype(), ", its replacement ",
                           replacements[index].dtype());
            replaced.emplace(expr.id(), replacements[index]);
            continue;
        }
        std::vector<Expr> operands;
        operands.reserve(expr.operands().size());
        bool changed = false;
        for (const Expr& operand : expr.operands()) {
            operands.push_back(replaced.at(operand.id()));
            changed |= !(operands.back() == operand);
        }
        replaced.emplace(expr.id(), changed ? expr.with_operands(std::move(operands)) : expr);
    }
    std::vector<Expr> out;
    out.reserve(results.size());
    for (const Expr& result : results) out.push_back(result ? replaced.at(result.id()) : Expr());
    return out;
}

uint64_t structural_hash(const std::vector<Expr>& results) {
    std::unordered_map<const ExprNode*, uint64_t> hashes;
    for (const Expr& expr : topological_order(results))
        hashes.emplace(expr.id(), hash_of_node(expr, hashes));
    uint64_t hash = results.size();
    for (const Expr& result : results)
        hash = hash_combine(hash, result ? hashes.at(result.id()) : 0);
    return hash;
}

bool structurally_equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    if (a.size() != b.size()) return false;
    // Pairs already known to be equal: each node of `a` is compared with at most the distinct
    // partners it meets.
    std::unordered_map<const ExprNode*, std::unordered_set<const ExprNode*>> visited;
    std::vector<std::pair<Expr, Expr>> pending;
    for (size_t i = 0; i < a.size(); ++i) {
        if (static_cast<bool>(a[i]) != static_cast<bool>(b[i])) return false;
        if (a[i]) pending.emplace_back(a[i], b[i]);
    }
    while (!pending.empty()) {
        const auto [x, y] = std::move(pending.back());
        pending.pop_back();
        if (x == y || !visited[x.id()].insert(y.id()).second) continue;
        if (!same_node(x, y)) return false;
        for (size_t i = 0; i < x.operands().size(); ++i)
            pending.emplace_back(x.operands()[i], y.operands()[i]);
    }
    return true;
}

}  // namespace composit::ir::scalar
