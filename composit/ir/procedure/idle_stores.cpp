#include "composit/ir/procedure/idle_stores.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <optional>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

bool is_at(const Statement& statement, const Statement& load) {
    return statement.array == load.array && statement.index.size() == load.index.size() &&
           scalar::structurally_equal(statement.index, load.index);
}

// The places of the write and of the store that undoes it, behind the load of the old value.
std::optional<std::pair<size_t, size_t>> undone(const Block& block, size_t place) {
    const Statement& load = block[place];
    std::set<int> fixed = variables_in(load.index);
    if (fixed.contains(load.variable)) return {};
    fixed.insert(load.variable);
    std::optional<size_t> write;
    for (size_t i = place + 1; i < block.size(); ++i) {
        const Statement& each = block[i];
        if (mentions_array(each, load.array)) {
            if (!is_write(each) || !is_at(each, load)) return {};
            if (write) {
                const bool is_undone =
                    each.kind == Kind::store && is_variable(each.values[0], load.variable);
                return is_undone ? std::optional(std::pair(*write, i)) : std::nullopt;
            }
            write = i;
        }
        const Block one{each};
        const std::map<int, int> assigned = assignments_in(one);
        const bool changes = std::any_of(fixed.begin(), fixed.end(),
                                         [&](int variable) { return assigned.contains(variable); });
        if (changes || may_exit(one)) return {};
    }
    return {};
}

void leave_out(Block& block) {
    for (Statement& statement : block) {
        leave_out(statement.body);
        if (statement.kind == Kind::branch) leave_out(statement.otherwise);
    }
    for (size_t i = 0; i < block.size(); ++i) {
        if (block[i].kind != Kind::load) continue;
        const auto found = undone(block, i);
        if (!found) continue;
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(found->second));
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(found->first));
    }
}

}  // namespace

Procedure without_idle_stores(Procedure procedure) {
    leave_out(procedure.body);
    return procedure;
}

}  // namespace composit::ir::procedure
