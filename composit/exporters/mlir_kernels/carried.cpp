// Liveness of a procedure without exits, backwards over its statements.
#include "composit/exporters/mlir_kernels/carried.h"

#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <utility>

namespace composit::mlir {

using ir::procedure::ArrayVariable;
using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using Kind = Statement::Kind;

std::set<int> Places::written(const Block& block) const {
    std::set<int> all;
    for (size_t i = 0; i < block.size();) {
        if (const auto exchange = ir::procedure::exchange_at(procedure_, block, i)) {
            all.insert({memory_of(exchange->one), memory_of(exchange->other)});
            i += exchange->statements;
            continue;
        }
        const Statement& each = block[i++];
        if (ir::procedure::is_assignment(each)) all.insert(each.variable);
        for (const Block* inner : {&each.first, &each.body, &each.otherwise})
            all.merge(written(*inner));
        if (each.array < 0) continue;
        const auto& array = procedure_.arrays[static_cast<size_t>(each.array)];
        if (array.role != ArrayVariable::Role::local) continue;
        const bool allocates = each.kind == Kind::allocate, appends = each.kind == Kind::append;
        if (appends || (allocates && !array.grows)) all.insert(memory_of(each.array));
        if (array.grows && (allocates || appends || each.kind == Kind::take))
            all.insert(count_of(each.array));
    }
    return all;
}

void Places::add_reads(const Statement& statement, std::set<int>& live) const {
    std::vector<Expr> read = statement.values;
    read.insert(read.end(), statement.index.begin(), statement.index.end());
    if (statement.array >= 0) {
        const auto& array = procedure_.arrays[static_cast<size_t>(statement.array)];
        if (statement.kind == Kind::allocate || array.grows)
            read.insert(read.end(), array.shape.begin(), array.shape.end());
    }
    live.merge(ir::procedure::variables_in(read));
}

std::set<int> Places::live_in_loop(const Statement& loop, const std::set<int>& live_behind) const {
    std::set<int> live = live_behind;
    add_reads(loop, live);
    for (;;) {
        std::set<int> next = live_before(loop.body, live_before(loop.otherwise, live));
        next.insert(live.begin(), live.end());
        if (next.size() == live.size()) return live;
        live = std::move(next);
    }
}

std::set<int> Places::live_before(const Statement& statement, std::set<int> live) const {
    if (statement.kind == Kind::loop)
        return live_before(statement.first, live_in_loop(statement, live));
    if (statement.kind == Kind::branch) {
        std::set<int> both = live_before(statement.body, live);
        both.merge(live_before(statement.otherwise, std::move(live)));
        live = std::move(both);
    }
    if (ir::procedure::is_assignment(statement)) live.erase(statement.variable);
    add_reads(statement, live);
    return live;
}

std::set<int> Places::live_before(const Block& block, std::set<int> live) const {
    for (size_t i = block.size(); i-- > 0;) live = live_before(block[i], std::move(live));
    return live;
}

std::vector<std::set<int>> Places::live_behind_each(const Block& block, std::set<int> live) const {
    std::vector<std::set<int>> all(block.size());
    for (size_t i = block.size(); i-- > 0;) {
        all[i] = live;
        live = live_before(block[i], std::move(live));
    }
    return all;
}

namespace {

// The arrays that each block mentions, however deep.
void mention(const Block& block, std::map<const Block*, std::set<int>>& mentioned) {
    std::set<int> all;
    for (const Statement& each : block) {
        if (each.array >= 0) all.insert(each.array);
        for (const Block* inner : {&each.body, &each.otherwise}) {
            mention(*inner, mentioned);
            const std::set<int>& own = mentioned.at(inner);
            all.insert(own.begin(), own.end());
        }
    }
    mentioned[&block] = std::move(all);
}

}  // namespace

std::map<int, const Block*> homes_of_arrays(const Procedure& procedure) {
    std::map<const Block*, std::set<int>> mentioned;
    mention(procedure.body, mentioned);
    std::map<int, const Block*> homes;
    const std::set<size_t> between = ir::procedure::arrays_between(procedure);
    for (const int array : procedure.arrays_of(ArrayVariable::Role::local)) {
        const Block* home = &procedure.body;
        if (!mentioned.at(home).contains(array) || between.contains(static_cast<size_t>(array)))
            continue;
        for (const Block* block = home; block;) {
            const Statement* first = nullptr;
            std::vector<const Block*> inner;
            bool is_own = false;  // whether a statement of the block itself mentions it
            for (const Statement& each : *block) {
                bool is_mentioned = each.array == array;
                is_own |= is_mentioned;
                for (const Block* side : {&each.body, &each.otherwise})
                    if (mentioned.at(side).contains(array)) {
                        inner.push_back(side);
                        is_mentioned = true;
                    }
                if (is_mentioned && !first) first = &each;
            }
            if (first->kind == Kind::allocate && first->array == array) home = block;
            block = !is_own && inner.size() == 1 ? inner[0] : nullptr;
        }
        homes[array] = home;
    }
    return homes;
}

}  // namespace composit::mlir
