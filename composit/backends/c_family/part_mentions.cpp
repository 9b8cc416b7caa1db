// Counting what statements mention.
#include "composit/backends/c_family/part_mentions.h"

#include "composit/backends/c_family/procedure_variables.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::c_family {

using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using Kind = Statement::Kind;

Mentions mentions_of(const Procedure& procedure, const Block& block) {
    Mentions made;
    for (const Statement* each : ir::procedure::all_statements(block)) {
        for (const int variable : read_by(ir::procedure::expressions_of(procedure, *each)))
            ++made.variables[variable];
        if (each->variable >= 0) {
            ++made.variables[each->variable];
            made.assigned.insert(each->variable);
        }
        if (each->array >= 0) {
            ++made.arrays[each->array];
            if (each->kind == Kind::load) made.read.insert(each->array);
            if (each->kind != Kind::load) made.written.insert(each->array);
        }
        made.weight += each->kind != Kind::allocate;
        made.has_exit |= each->kind == Kind::leave;
    }
    made.has_exit |=
        ir::procedure::has_own(block, Kind::stop) || ir::procedure::has_own(block, Kind::go_on);
    return made;
}

bool always_assigns(const Block& block, int variable) {
    return std::any_of(block.begin(), block.end(), [&](const Statement& each) {
        if (ir::procedure::is_assignment(each) && each.variable == variable) return true;
        return each.kind == Statement::Kind::branch && always_assigns(each.body, variable) &&
               always_assigns(each.otherwise, variable);
    });
}

std::map<int, ir::scalar::Expr> rows_in(const Block& block, const std::set<int>& assigned) {
    std::map<int, ir::scalar::Expr> rows;
    std::set<int> others;
    for (const Statement* each : ir::procedure::all_statements(block)) {
        if (each->array < 0) continue;
        const bool has_axes = each->index.size() > 1;
        const std::set<int> read =
            has_axes ? ir::procedure::variables_in({each->index[0]}) : std::set<int>();
        const bool is_fixed = has_axes && std::none_of(read.begin(), read.end(), [&](int one) {
                                  return assigned.contains(one);
                              });
        const auto known = rows.find(each->array);
        const bool is_other = known != rows.end() && has_axes &&
                              !ir::scalar::structurally_equal({known->second}, {each->index[0]});
        if (!is_fixed || is_other)
            others.insert(each->array);
        else
            rows.emplace(each->array, each->index[0]);
    }
    std::erase_if(rows, [&](const auto& each) { return others.contains(each.first); });
    return rows;
}

void leave_out_rows(Block& block, const std::map<int, ir::scalar::Expr>& rows) {
    for (Statement& each : block) {
        if (rows.contains(each.array)) each.index.erase(each.index.begin());
        for (Block* inner : {&each.first, &each.body, &each.otherwise})
            leave_out_rows(*inner, rows);
    }
}

}  // namespace composit::c_family
