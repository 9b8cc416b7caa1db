// with_short_branches: branches that say nothing twice.
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_constant_assignment(const Statement& statement) {
    return statement.kind == Kind::assign && statement.values[0].op() == Op::constant;
}

bool is_same_constant(const Expr& a, const Expr& b) {
    return a.dtype() == b.dtype() && a.bits() == b.bits();
}

class Shortener {
  public:
    explicit Shortener(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        join(p_.body);
        hoist(p_.body);
        std::map<int, Expr> known;
        leave_out_known(p_.body, known);
        return std::move(p_);
    }

  private:
    // if (c) a; if (c) b to if (c) { a; b }, where a changes nothing that c reads.
    static void join(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            Statement& branch = block[i];
            while (branch.kind == Kind::branch && i + 1 < block.size() &&
                   is_of_same(branch, block[i + 1])) {
                Statement& next = block[i + 1];
                for (const auto& [to, from] : {std::pair(&branch.body, &next.body),
                                               std::pair(&branch.otherwise, &next.otherwise)})
                    to->insert(to->end(), from->begin(), from->end());
                block.erase(block.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            }
            join(block[i].body);
            join(block[i].otherwise);
        }
    }

    static bool is_of_same(const Statement& branch, const Statement& next) {
        if (next.kind != Kind::branch || may_exit(branch.body) || may_exit(branch.otherwise) ||
            !scalar::structurally_equal(branch.values, next.values))
            return false;
        const std::set<int> read = variables_in(branch.values);
        for (const Block* side : {&branch.body, &branch.otherwise})
            for (const auto& [variable, times] : assignments_in(*side))
                if (read.contains(variable)) return false;
        return true;
    }

    // if (c) { v = 0; … } else v = … to v = 0; if (c) … else v = …
    void hoist(Block& block) const {
        for (size_t i = 0; i < block.size(); ++i) {
            hoist(block[i].body);
            hoist(block[i].otherwise);
            if (block[i].kind != Kind::branch) continue;
            Block ahead = common_first(block[i]);
            const Block constants = common_ahead(block[i]);
            ahead.insert(ahead.end(), constants.begin(), constants.end());
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), ahead.begin(),
                         ahead.end());
            i += ahead.size();
        }
    }

    // The statements that both sides begin with, which change nothing that the condition reads;
    // they are taken out of them.
    static Block common_first(Statement& branch) {
        Block ahead;
        const std::set<int> condition = variables_in(branch.values);
        Block &one = branch.body, &other = branch.otherwise;
        while (!one.empty() && !other.empty() && is_same_plain(one[0], other[0]) &&
               !condition.contains(one[0].variable)) {
            ahead.push_back(one[0]);
            one.erase(one.begin());
            other.erase(other.begin());
        }
        return ahead;
    }

    static bool is_same_plain(const Statement& one, const Statement& other) {
        const bool is_plain = one.kind == Kind::assign || one.kind == Kind::load || is_write(one);
        return is_plain && one.kind == other.kind && one.variable == other.variable &&
               one.array == other.array && one.values.size() == other.values.size() &&
               one.index.size() == other.index.size() &&
               scalar::structurally_equal(one.values, other.values) &&
               scalar::structurally_equal(one.index, other.index);
    }

    // The constants that may be assigned before a branch; they are taken out of it.
    Block common_ahead(Statement& branch) const {
        Block ahead;
        const std::set<int> condition = variables_in(branch.values);
        for (Block* side : {&branch.body, &branch.otherwise}) {
            Block& other = side == &branch.body ? branch.otherwise : branch.body;
            for (size_t k = 0; k < side->size(); ++k) {
                const Statement made = (*side)[k];
                if (!is_constant_assignment(made) || condition.contains(made.variable) ||
                    static_cast<size_t>(made.variable) < p_.parameters ||
                    first_constant(*side, made.variable) != static_cast<std::ptrdiff_t>(k))
                    continue;
                const std::ptrdiff_t twin = first_constant(other, made.variable);
                const auto at = [](Block& of, std::ptrdiff_t place) { return of.begin() + place; };
                if (twin >= 0 && is_same_constant(at(other, twin)->values[0], made.values[0]))
                    other.erase(at(other, twin));
                else if (!gives_anew(other, made.variable))
                    continue;
                side->erase(at(*side, static_cast<std::ptrdiff_t>(k--)));
                ahead.push_back(made);
            }
        }
        return ahead;
    }

    // Where a block assigns a constant to a variable that it has not mentioned before; -1: nowhere.
    std::ptrdiff_t first_constant(const Block& block, int variable) const {
        for (size_t k = 0; k < block.size(); ++k) {
            if (is_constant_assignment(block[k]) && block[k].variable == variable)
                return static_cast<std::ptrdiff_t>(k);
            const Block one{block[k]};
            if (may_exit(one) || mentions_in(p_, one).contains(variable)) break;
        }
        return -1;
    }

    // Whether a block gives a variable a value before it reads it, on all paths.
    bool gives_anew(const Block& block, int variable) const {
        if (may_exit(block)) return false;
        for (const Statement& statement : block) {
            const Block one{statement};
            if (!mentions_in(p_, one).contains(variable)) continue;
            if (is_assignment(statement) && statement.variable == variable)
                return !variables_in(expressions_of(p_, statement)).contains(variable);
            return statement.kind == Kind::branch &&
                   !variables_in(statement.values).contains(variable) &&
                   gives_anew(statement.body, variable) &&
                   gives_anew(statement.otherwise, variable);
        }
        return false;
    }

    // v = 0, where v is 0 already. `known`: the constants that variables are.
    void leave_out_known(Block& block, std::map<int, Expr>& known) const {
        for (size_t i = 0; i < block.size();) {
            Statement& statement = block[i];
            switch (statement.kind) {
                case Kind::assign: {
                    const auto found = known.find(statement.variable);
                    if (!is_constant_assignment(statement)) {
                        known.erase(statement.variable);
                    } else if (found != known.end() &&
                               is_same_constant(found->second, statement.values[0])) {
                        block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
                        continue;
                    } else {
                        known.insert_or_assign(statement.variable, statement.values[0]);
                    }
                    break;
                }
                case Kind::load:
                case Kind::take: known.erase(statement.variable); break;
                case Kind::branch: {
                    std::map<int, Expr> other = known;
                    leave_out_known(statement.body, known);
                    leave_out_known(statement.otherwise, other);
                    if (!statement.body.empty() && always_leaves(statement.body)) {
                        known = std::move(other);
                    } else if (statement.otherwise.empty() || !always_leaves(statement.otherwise)) {
                        std::erase_if(known, [&](const auto& each) {
                            const auto found = other.find(each.first);
                            return found == other.end() ||
                                   !is_same_constant(found->second, each.second);
                        });
                    }
                    break;
                }
                case Kind::loop: {
                    for (const auto& [variable, times] : assignments_in({statement}))
                        known.erase(variable);
                    std::map<int, Expr> within = known;
                    leave_out_known(statement.body, within);
                    break;
                }
                default: break;
            }
            ++i;
        }
    }

    Procedure p_;
};

}  // namespace

Procedure with_short_branches(Procedure procedure) { return Shortener(std::move(procedure)).run(); }

}  // namespace composit::ir::procedure
