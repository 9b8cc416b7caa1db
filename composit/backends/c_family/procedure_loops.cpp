// Finding short loops whose iterations are the lanes of vectors.
#include "composit/backends/c_family/procedure_loops.h"

#include "composit/backends/c_family/procedure_extents.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace composit::c_family {
namespace {

using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

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

// Whether the index moves with the counter of a loop that assigns these variables, and with none of
// those.
bool goes_with(int counter, const Expr& index, const std::map<int, int>& assigned) {
    const std::set<int> read = ir::procedure::variables_in({index});
    return moves_with(counter, index) && std::none_of(read.begin(), read.end(), [&](int variable) {
               return variable != counter && assigned.contains(variable);
           });
}

// The counter of a loop that counts, some of whose iterations may take it further.
std::optional<int> counter_ahead_of(const Statement& loop) {
    if (const auto count = ir::procedure::count_of(loop)) return count->counter;
    if (ir::procedure::has_own(loop.body, Kind::stop) || loop.first.size() != 1 ||
        loop.otherwise.size() != 1 || loop.first[0].kind != Kind::assign)
        return {};
    const int counter = loop.first[0].variable;
    const auto distance_of = [&](const Statement& each) -> int64_t {
        if (each.kind != Kind::assign || each.variable != counter) return 0;
        return ir::procedure::offset_from(counter, each.values[0]).value_or(0);
    };
    const int64_t step = distance_of(loop.otherwise[0]);
    if (step == 0) return {};
    for (const Statement* each : ir::procedure::all_statements(loop.body))
        if (ir::procedure::is_assignment(*each) && each->variable == counter &&
            (step > 0 ? distance_of(*each) <= 0 : distance_of(*each) >= 0))
            return {};
    return counter;
}

// Whether each iteration reads or writes another element, so that the array ends the loop; of a
// loop within one with the counter `outer`, which assigns `around`: each iteration of both.
bool goes_through_an_array(const Statement& loop, std::optional<int> outer = {},
                           const std::map<int, int>& around = {}) {
    const auto own = counter_ahead_of(loop);
    if (!own) return false;
    const std::map<int, int> assigned = ir::procedure::assignments_in(loop.body);
    const auto has_axis = [](const Statement& statement, int counter,
                             const std::map<int, int>& changing) {
        return std::any_of(statement.index.begin(), statement.index.end(),
                           [&](const Expr& index) { return goes_with(counter, index, changing); });
    };
    return std::any_of(loop.body.begin(), loop.body.end(), [&](const Statement& statement) {
        return statement.array >= 0 && has_axis(statement, *own, assigned) &&
               (!outer || has_axis(statement, *outer, around));
    });
}

// The same of a loop and all loops within it, which have none within them: of rows, say.
bool goes_through_arrays(const Statement& loop, const std::vector<const Statement*>& within) {
    const auto count = ir::procedure::count_of(loop);
    if (!count) return false;
    const std::map<int, int> assigned = ir::procedure::assignments_in(loop.body);
    return std::all_of(within.begin(), within.end(), [&](const Statement* each) {
        if (each->kind != Kind::loop) return true;
        std::map<int, int> around = assigned;
        // x[j + lane], of a few lanes: j goes through the array all the same.
        const auto lanes = ir::procedure::count_of(*each);
        if (lanes && is_known(lanes->begin) && is_known(lanes->end)) around.erase(lanes->counter);
        return !ir::procedure::has_own(each->body, Kind::loop) &&
               goes_through_an_array(*each, count->counter, around);
    });
}

}  // namespace

bool reads(const Expr& value, int variable) {
    return ir::procedure::variables_in({value}).contains(variable);
}

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

std::optional<Nest> nest_of(const Procedure& procedure, const Statement& loop) {
    if (loop.kind != Kind::loop || loop.body.size() != 1 || loop.body[0].kind != Kind::loop)
        return {};
    const Statement& inner = loop.body[0];
    const auto outside = ir::procedure::range_of(loop), inside = ir::procedure::range_of(inner);
    if (!outside || !inside || loop.values[0].op() != inner.values[0].op() ||
        !ir::procedure::is_integer_constant(outside->low, 0) ||
        !ir::procedure::is_integer_constant(inside->low, 0) ||
        (is_known(outside->high) && is_known(inside->high)) ||
        ir::procedure::has_own(inner.body, Kind::stop))
        return {};
    const int i = outside->counter, j = inside->counter;
    std::map<int, int> within = ir::procedure::mentions_in(procedure, {loop});
    std::map<int, int> all = ir::procedure::mentions_in(procedure, procedure.body);
    if (within[i] != all[i] || within[j] != all[j]) return {};
    const std::map<int, int> assigned = ir::procedure::assignments_in({loop});
    for (const int variable : ir::procedure::variables_in({outside->high, inside->high}))
        if (assigned.contains(variable) || variable == i) return {};
    const auto leads = [&](const std::vector<Expr>& values) {
        return std::any_of(values.begin(), values.end(),
                           [&](const Expr& value) { return reads(value, i) || reads(value, j); });
    };
    const auto all_inner = ir::procedure::all_statements(inner.body);
    const bool is_innermost =
        std::none_of(all_inner.begin(), all_inner.end(),
                     [](const Statement* statement) { return statement->kind == Kind::loop; });
    // Else the ends might be two negative numbers, whose product is none.
    bool is_through_axes = false;
    for (const Statement* statement : all_inner) {
        // Iterations of the inner loop that have nothing to do with one another are vectors; those
        // of the one loop might.
        if (is_innermost && ir::procedure::is_write(*statement) &&
            !ir::procedure::has_own_elements(procedure, inner.body, i, statement->array))
            return {};
        for (const Block* head : {&statement->first, &statement->otherwise})
            for (const Statement& each : *head)
                if (leads(each.values)) return {};
        if (leads(statement->values)) return {};
        if (statement->kind == Kind::allocate || statement->kind == Kind::append ||
            statement->kind == Kind::take)
            return {};
        std::vector<Expr> rest = statement->index;
        if (!leads(rest)) continue;
        const std::vector<Expr>& shape =
            procedure.arrays[static_cast<size_t>(statement->array)].shape;
        size_t axis = 0;
        while (axis < rest.size() && !reads(rest[axis], i)) ++axis;
        if (rest.size() != shape.size() || axis + 1 >= rest.size() ||
            !ir::procedure::offset_from(i, rest[axis]) || rest[axis + 1].op() != Op::argument ||
            rest[axis + 1].index() != j ||
            !ir::scalar::structurally_equal({shape[axis + 1]}, {inside->high}))
            return {};
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis),
                   rest.begin() + static_cast<std::ptrdiff_t>(axis) + 2);
        if (leads(rest)) return {};
        is_through_axes = true;
    }
    if (!is_through_axes) return {};
    return Nest{i, j, outside->high, inside->high, loop.values[0].op() == Op::less};
}

std::string head_of(const Nest& nest, const std::string& counter, const std::string& outer_end,
                    const std::string& inner_end) {
    const std::string count = factor(outer_end) + " * " + factor(inner_end);
    const std::string rest = nest.counts_up
                                 ? text(" = 0; ", counter, " < ", count, "; ++", counter)
                                 : text(" = ", count, " - 1; ", counter, " >= 0; --", counter);
    return text("for (int64_t ", counter, rest, ") {");
}

bool writes_local(const Procedure& procedure, const Statement& loop) {
    const auto all = ir::procedure::all_statements(loop.body);
    return std::any_of(all.begin(), all.end(), [&](const Statement* statement) {
        return ir::procedure::is_write(*statement) &&
               procedure.arrays[static_cast<size_t>(statement->array)].role ==
                   ir::procedure::ArrayVariable::Role::local;
    });
}

namespace {

// Whether an axis that no iteration moves along tells two elements apart.
bool lies_apart(const Statement& one, const Statement& other, const std::map<int, int>& assigned) {
    if (one.index.size() != other.index.size()) return false;
    for (size_t axis = 0; axis < one.index.size(); ++axis) {
        const std::vector<Expr> a{one.index[axis]}, b{other.index[axis]};
        if (!ir::procedure::reads_any(a, assigned) && !ir::procedure::reads_any(b, assigned) &&
            ir::procedure::are_apart(a, b))
            return true;
    }
    return false;
}

}  // namespace

bool reads_beside_own(const Procedure& procedure, const Statement& loop) {
    const auto counter = ir::procedure::stepped_by(loop);
    if (!counter) return false;
    const std::map<int, int> assigned = ir::procedure::assignments_in({loop});
    bool has_any = false;
    for (const Statement& store : loop.body) {
        const bool is_write = ir::procedure::is_write(store);
        if (!is_write && !ir::procedure::is_value(store)) return false;
        if (!is_write) continue;
        // Of the array, but for rows that lie apart from the one that is written.
        Block same = loop.body;
        std::erase_if(same, [&](const Statement& each) {
            const bool is_apart = each.array == store.array && lies_apart(each, store, assigned);
            has_any |= is_apart && each.kind == Kind::load;
            return is_apart;
        });
        if (!ir::procedure::has_own_elements(procedure, same, *counter, store.array)) return false;
        for (const Statement& load : same)
            has_any |= load.kind == Kind::load && load.array == store.array &&
                       !ir::scalar::structurally_equal(load.index, store.index);
    }
    return has_any;
}

bool keeps_values(const Procedure& procedure, const Statement& loop) {
    const auto counter = ir::procedure::stepped_by(loop);
    if (!counter) return false;
    const std::map<int, int> assigned = ir::procedure::assignments_in(loop.body);
    const auto is_kept = [&](const Statement& write) {
        const auto mentions = [&](const Statement& each) { return each.array == write.array; };
        return has_fixed_size(procedure.arrays[static_cast<size_t>(write.array)]) &&
               write.index.size() == 1 && goes_with(*counter, write.index[0], assigned) &&
               std::count_if(loop.body.begin(), loop.body.end(), mentions) == 1;
    };
    bool has_any = false;
    for (const Statement& each : loop.body) {
        const bool is_write = ir::procedure::is_write(each);
        if (!is_write && !ir::procedure::is_value(each)) return false;
        if (!is_write) continue;
        if (is_kept(each))
            has_any = true;
        else if (!ir::procedure::has_own_elements(procedure, loop.body, *counter, each.array))
            return false;
    }
    return has_any;
}

bool writes_exchanged(const Procedure& procedure, const Statement& loop,
                      const std::set<size_t>& exchanged) {
    const auto counter = ir::procedure::stepped_by(loop);
    if (!counter || exchanged.empty()) return false;
    bool writes_any = false, reads_others = false;
    for (const Statement& each : loop.body) {
        const bool is_write = ir::procedure::is_write(each);
        if (!is_write && !ir::procedure::is_value(each)) return false;
        if (is_write &&
            !ir::procedure::has_own_elements(procedure, loop.body, *counter, each.array))
            return false;
        if (!is_write) continue;
        writes_any |= exchanged.contains(static_cast<size_t>(each.array));
        reads_others |=
            std::any_of(loop.body.begin(), loop.body.end(), [&](const Statement& other) {
                return other.kind == Kind::load && other.array != each.array;
            });
    }
    return writes_any && reads_others;
}

bool is_next(const Statement& statement, int counter) {
    return place_of(statement, counter) == Place::next;
}

namespace {

// A loop of a few iterations, of which each is short: questions would keep it from vectors.
bool is_short(const Statement& loop) {
    constexpr double few_iterations = 16;
    if (loop.kind != Statement::Kind::loop) return false;
    const auto count = ir::procedure::count_by_one(loop);
    if (!count || count->begin.op() != ir::scalar::Op::constant ||
        count->end.op() != ir::scalar::Op::constant)
        return false;
    const double iterations = std::abs(count->end.value() - count->begin.value());
    return iterations <= few_iterations &&
           std::all_of(loop.body.begin(), loop.body.end(), [](const Statement& each) {
               return each.kind == Statement::Kind::load || each.kind == Statement::Kind::assign;
           });
}

}  // namespace

int iterations_between_questions(const Statement& loop) {
    if (loop.kind != Statement::Kind::loop || is_short(loop)) return 0;
    const auto all = ir::procedure::all_statements(loop.body);
    const bool has_loop = std::any_of(all.begin(), all.end(), [](const Statement* statement) {
        return statement->kind == Statement::Kind::loop && !is_short(*statement);
    });
    if (has_loop) return goes_through_arrays(loop, all) ? 0 : 64;
    return goes_through_an_array(loop) ? 0 : 1 << 16;
}

bool any_loop_asks(const Procedure& procedure) {
    const auto all = ir::procedure::all_statements(procedure.body);
    return std::any_of(all.begin(), all.end(), [](const Statement* statement) {
        return iterations_between_questions(*statement) > 0;
    });
}

std::string question_of(const Statement& loop, const std::string& turns) {
    const int between = iterations_between_questions(loop);
    if (between == 0 || turns.empty()) return "";
    return text("if (++", turns, " % ", between, " == 0) ::composit_stop_if_asked();");
}

}  // namespace composit::c_family
