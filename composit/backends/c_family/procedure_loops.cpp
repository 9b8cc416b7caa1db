// Finding short loops whose iterations are the lanes of vectors.
#include "composit/backends/c_family/procedure_loops.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::c_family {
namespace {

using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

bool reads(const Expr& value, int variable) {
    return ir::procedure::variables_in({value}).contains(variable);
}

// Whether the value is the variable and something that does not depend on it.
bool moves_with(int variable, const Expr& value) {
    if (value.op() == Op::argument) return value.index() == variable;
    if (value.op() != Op::add && value.op() != Op::subtract) return false;
    const Expr &a = value.operand(0), &b = value.operand(1);
    if (!reads(b, variable)) return moves_with(variable, a);
    return value.op() == Op::add && !reads(a, variable) && moves_with(variable, b);
}

enum class Place : uint8_t { fixed, next, elsewhere };

// How the element of one iteration lies to that of the iteration before.
Place place_of(const Statement& statement, int counter) {
    for (size_t axis = 0; axis < statement.index.size(); ++axis) {
        const Expr& index = statement.index[axis];
        if (!reads(index, counter)) continue;
        const bool is_last = axis + 1 == statement.index.size();
        return is_last && moves_with(counter, index) ? Place::next : Place::elsewhere;
    }
    return Place::fixed;
}

bool is_known(const Expr& value) { return value.op() == Op::constant; }

constexpr int64_t shortest_vector = 4, longest_unrolled = 16;

}  // namespace

bool is_short_vector(const Procedure& procedure, const Statement& loop) {
    const auto count = ir::procedure::count_of(loop);
    if (!count || count->step != 1 || !is_known(count->begin) || !is_known(count->end))
        return false;
    const auto times = static_cast<int64_t>(count->end.value() - count->begin.value());
    if (times % shortest_vector != 0 || times < shortest_vector || times > longest_unrolled)
        return false;
    const std::map<int, int> assigned = ir::procedure::assignments_in(loop.body);
    for (const int variable : ir::procedure::exposed_in(procedure, loop.body))
        if (assigned.contains(variable)) return false;  // by the iteration before
    bool writes = false;
    for (const Statement& statement : loop.body) {
        if (statement.kind == Kind::assign) continue;
        const bool is_load = statement.kind == Kind::load;
        if (!is_load && statement.kind != Kind::store && statement.kind != Kind::add) return false;
        const std::set<int> index = ir::procedure::variables_in(statement.index);
        for (const auto& [variable, _] : assigned)
            if (index.contains(variable)) return false;  // an element that is looked up
        const Place place = place_of(statement, count->counter);
        if (place == Place::elsewhere || (!is_load && place != Place::next)) return false;
        writes |= !is_load;
    }
    return writes;
}

bool writes_local(const Procedure& procedure, const Statement& loop) {
    const auto all = ir::procedure::all_statements(loop.body);
    return std::any_of(all.begin(), all.end(), [&](const Statement* statement) {
        return ir::procedure::is_write(*statement) &&
               procedure.arrays[static_cast<size_t>(statement->array)].role ==
                   ir::procedure::ArrayVariable::Role::local;
    });
}

bool is_next(const Statement& statement, int counter) {
    return place_of(statement, counter) == Place::next;
}

}  // namespace composit::c_family
