#include "composit/ir/procedure/undo.h"

#include "composit/ir/procedure/structure.h"
#include "composit/ir/procedure/tangent_rules.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

Expr read(const Procedure& procedure, int variable) {
    return procedure.variable(static_cast<size_t>(variable));
}

Statement fill_with_zeros(Procedure& procedure, int array, const SourceLine& line) {
    const ArrayVariable known = procedure.arrays[static_cast<size_t>(array)];
    const int at = procedure.add_variable("k", DType::int64);
    const Expr here = read(procedure, at);
    return counting_up(here, integer(0), element_count(known.shape),
                       {Statement::write(Kind::store, array, {here}, zero(known.dtype), line)},
                       line);
}

// `made`: those that have been made wherever the block begins; afterwards, wherever it ends.
Block not_remaking(Procedure& procedure, const Block& block, const std::set<int>& arrays,
                   std::set<int>& made) {
    Block out;
    for (const Statement& statement : block) {
        if (statement.kind == Kind::allocate && made.contains(statement.array)) {
            if (statement.is_zeroed)
                out.push_back(fill_with_zeros(procedure, statement.array, statement.line));
            continue;
        }
        if (statement.kind == Kind::allocate && arrays.contains(statement.array))
            made.insert(statement.array);
        Statement copy = statement;
        std::set<int> inside = made, other = made;
        copy.body = not_remaking(procedure, statement.body, arrays, inside);
        if (statement.kind == Kind::branch) {
            copy.otherwise = not_remaking(procedure, statement.otherwise, arrays, other);
            std::erase_if(inside, [&](int array) { return !other.contains(array); });
            made = inside;
        }
        out.push_back(std::move(copy));
    }
    return out;
}

}  // namespace

std::set<int> remade_in(const Procedure& procedure) {
    std::set<int> once, again;
    for (const Statement* each : all_statements(procedure.body)) {
        const bool is_made = each->kind == Kind::allocate &&
                             !procedure.arrays[static_cast<size_t>(each->array)].grows;
        if (is_made && !once.insert(each->array).second) again.insert(each->array);
    }
    return again;
}

Block without_remaking(Procedure& procedure, const Block& block, const std::set<int>& arrays,
                       std::set<int> made) {
    return not_remaking(procedure, block, arrays, made);
}

Expr flat_place(const Procedure& procedure, const Statement& write) {
    const std::vector<Expr>& shape = procedure.arrays[static_cast<size_t>(write.array)].shape;
    Expr place = write.index[0];
    for (size_t axis = 1; axis < write.index.size(); ++axis)
        place = place * shape[axis] + write.index[axis];
    return place;
}

Undos begin_undos(Procedure& procedure, const Statement& loop, const std::set<int>& arrays,
                  Block& out) {
    std::set<int> changed, made;
    for (const Statement* statement : all_statements(loop.body)) {
        if (is_write(*statement) && arrays.contains(statement->array))
            changed.insert(statement->array);
        if (statement->kind == Kind::allocate) made.insert(statement->array);
    }
    Undos undos;
    for (const int array : changed) {
        if (made.contains(array)) continue;  // it is another one in each iteration
        const ArrayVariable known = procedure.arrays[static_cast<size_t>(array)];
        ArrayVariable log{.name = "", .dtype = known.dtype, .shape = {integer(0)}};
        log.grows = true;
        Undo& undo = undos[array];
        undo.elements = procedure.add_array(known.name + "_old", log);
        log.dtype = DType::int64;
        undo.places = procedure.add_array(known.name + "_place", log);
        undo.count = procedure.add_variable(known.name + "_count", DType::int64);
        for (const int each : {undo.elements, undo.places})
            out.push_back(Statement::allocate(each, false, loop.line));
        out.push_back(Statement::assign(undo.count, integer(0), loop.line));
    }
    return undos;
}

int old_element(Procedure& procedure, const Statement& write, Block& out) {
    const ArrayVariable& known = procedure.arrays[static_cast<size_t>(write.array)];
    const int old = procedure.add_variable(known.name + "_before", known.dtype);
    out.push_back(Statement::load(old, write.array, write.index, write.line));
    return old;
}

void note_old_element(Procedure& procedure, const Statement& write, const Undo& undo, Block& out) {
    const int old = old_element(procedure, write, out);
    out.push_back(
        Statement::write(Kind::append, undo.elements, {}, read(procedure, old), write.line));
    out.push_back(
        Statement::write(Kind::append, undo.places, {}, flat_place(procedure, write), write.line));
    out.push_back(
        Statement::assign(undo.count, read(procedure, undo.count) + integer(1), write.line));
}

void take_back(Procedure& procedure, const Undos& undos, const Expr& place, const SourceLine& line,
               Block& out) {
    for (const auto& [array, undo] : undos) {
        const DType dtype = procedure.arrays[static_cast<size_t>(array)].dtype;
        const int last = procedure.add_variable("last", DType::int64),
                  at = procedure.add_variable("at", DType::int64),
                  where = procedure.add_variable("place", DType::int64),
                  old = procedure.add_variable("old", dtype);
        out.push_back(Statement::assign(last, read(procedure, undo.count) - integer(1), line));
        out.push_back(Statement::load(undo.count, undo.tape, {place}, line));
        const Expr here = read(procedure, at);
        Block body = {Statement::load(old, undo.elements, {here}, line),
                      Statement::load(where, undo.places, {here}, line),
                      Statement::write(Kind::store, array, {read(procedure, where)},
                                       read(procedure, old), line)};
        out.push_back(Statement::loop({Statement::assign(at, read(procedure, last), line)},
                                      here >= read(procedure, undo.count), std::move(body),
                                      {Statement::assign(at, here - integer(1), line)}, line));
    }
}

namespace {

bool is_of_same_element(const Statement& a, const Statement& b) {
    return a.array == b.array && a.index.size() == b.index.size() &&
           scalar::structurally_equal(a.index, b.index);
}

// Whether a statement mentions an array's element, or may do so.
bool may_mention(const Statement& statement, const Statement& element) {
    const bool is_of_one = statement.kind == Kind::load || is_write(statement);
    if (is_of_one && statement.array == element.array && are_apart(statement.index, element.index))
        return false;
    return mentions_array(statement, element.array);
}

bool assigns_any(const Statement& statement, const std::set<int>& variables) {
    const std::map<int, int> assigned = assignments_in({statement});
    return std::any_of(assigned.begin(), assigned.end(),
                       [&](const auto& each) { return variables.contains(each.first); });
}

// Whether the next statement that mentions the array stores to the same element.
bool is_overwritten(const Block& block, size_t store) {
    const std::set<int> index = variables_in(block[store].index);
    for (size_t i = store + 1; i < block.size(); ++i) {
        const Statement& next = block[i];
        if (next.kind == Kind::store && is_of_same_element(block[store], next)) return true;
        const bool leaves = next.kind != Kind::assign && next.kind != Kind::load && !is_write(next);
        if (leaves || may_mention(next, block[store]) || assigns_any(next, index)) return false;
    }
    return false;
}

// Whether what is stored was read from there, and nothing was written to the array since.
bool is_there(const Block& block, size_t store) {
    const Expr& value = block[store].values[0];
    if (value.op() != scalar::Op::argument) return false;
    std::set<int> used = variables_in(block[store].index);
    used.insert(value.index());
    for (size_t i = store; i-- > 0;) {
        const Statement& before = block[i];
        if (before.kind == Kind::load && before.variable == value.index())
            return is_of_same_element(block[store], before);
        const bool is_read = before.kind == Kind::load || before.kind == Kind::expect;
        if (assigns_any(before, used) || (!is_read && may_mention(before, block[store])))
            return false;
    }
    return false;
}

}  // namespace

void drop_idle_stores(Block& block) {
    for (Statement& statement : block)
        for (Block* inner : {&statement.body, &statement.otherwise}) drop_idle_stores(*inner);
    const auto drop = [&](const auto& is_idle) {
        for (size_t i = block.size(); i-- > 0;)
            if (is_idle(i)) block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
    };
    drop([&](size_t i) { return is_write(block[i]) && is_overwritten(block, i); });
    // Without what is overwritten, more is what the element holds.
    drop([&](size_t i) { return block[i].kind == Kind::store && is_there(block, i); });
}

}  // namespace composit::ir::procedure
