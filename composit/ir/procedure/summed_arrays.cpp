#include "composit/ir/procedure/summed_arrays.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

// What a statement, with all within it, does with an array.
enum class Use : uint8_t { none, fills, adds, reads, other };

// for k in all places: array[k] = …, which reads nothing of it.
bool fills(const Procedure& procedure, const Statement& loop, int array) {
    const auto range = range_of(loop);
    if (!range || !count_of(loop) || loop.body.size() != 1) return false;
    const Statement& store = loop.body[0];
    const std::vector<Expr>& shape = procedure.arrays[static_cast<size_t>(array)].shape;
    return store.kind == Kind::store && store.array == array && store.index.size() == 1 &&
           is_variable(store.index[0], range->counter) && is_integer_constant(range->low, 0) &&
           scalar::structurally_equal({range->high}, {element_count(shape)});
}

Use use_of(const Procedure& procedure, const Statement& statement, int array) {
    Use use = Use::none;
    const Block one{statement};
    for (const Statement* each : all_statements(one)) {
        if (each->array != array) continue;
        const Use own = each->kind == Kind::add    ? Use::adds
                        : each->kind == Kind::load ? Use::reads
                                                   : Use::other;
        use = use == Use::none || use == own ? own : Use::other;
    }
    const bool is_filled = use == Use::other && fills(procedure, statement, array);
    return is_filled ? Use::fills : use;
}

int mentions_of(const Block& block, int array) {
    const auto all = all_statements(block);
    return static_cast<int>(std::count_if(
        all.begin(), all.end(), [array](const Statement* each) { return each->array == array; }));
}

// Whether the block's own statements fill the array, add to it and read it, in this order.
bool is_summed_in(const Procedure& procedure, const Block& block, int array) {
    Use before = Use::none;
    for (const Statement& statement : block) {
        const Use use = use_of(procedure, statement, array);
        if (use == Use::none) continue;
        const bool goes_on = use == before && use != Use::fills;
        const bool is_next = (before == Use::none && use == Use::fills) ||
                             (before == Use::fills && use == Use::adds) ||
                             (before == Use::adds && use == Use::reads);
        if (!goes_on && !is_next) return false;
        before = use;
    }
    return before == Use::reads;
}

}  // namespace

std::set<int> summed_arrays(const Procedure& procedure, const Statement& loop) {
    std::set<int> found;
    const Block whole{loop};
    std::vector<const Statement*> loops;
    for (const Statement* each : all_statements(whole))
        if (each->kind == Kind::loop) loops.push_back(each);
    for (const int array : procedure.arrays_of(ArrayVariable::Role::local)) {
        const int mentions = mentions_of(whole, array);
        if (mentions > 0 && std::any_of(loops.begin(), loops.end(), [&](const Statement* inner) {
                return mentions_of(inner->body, array) == mentions &&
                       is_summed_in(procedure, inner->body, array);
            }))
            found.insert(array);
    }
    return found;
}

}  // namespace composit::ir::procedure
