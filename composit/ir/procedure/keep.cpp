// Finding what inner loops may keep for the time of one iteration of the outermost loop.
#include "composit/ir/procedure/keep.h"

#include "composit/ir/procedure/can_be_logged.h"
#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::ir::procedure {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;
using scalar::Op;

namespace {

using Loops = std::vector<const Statement*>;

struct Mention {
    const Statement* statement;
    Loops loops;
};

// All statements in the order of the text, with the loops around them.
std::vector<Mention> mentions_of(const Block& block, const Loops& loops = {}) {
    std::vector<Mention> all;
    for (const Statement& statement : block) {
        all.push_back({&statement, loops});
        Loops inner = loops;
        if (statement.kind == Kind::loop) inner.push_back(&statement);
        for (const Block* part : {&statement.body, &statement.otherwise}) {
            const auto within = mentions_of(*part, inner);
            all.insert(all.end(), within.begin(), within.end());
        }
    }
    return all;
}

// Whether the values are the same wherever they are computed: of variables that are assigned once,
// outside of the loop.
bool is_fixed(const std::vector<Expr>& values, const std::map<int, int>& assignments,
              const Statement& loop) {
    const std::map<int, int> inside = assignments_in({loop});
    for (const Expr& expr : scalar::topological_order(values)) {
        if (expr.op() != Op::argument) continue;
        const auto times = assignments.find(expr.index());
        if (inside.contains(expr.index()) || (times != assignments.end() && times->second > 1))
            return false;
    }
    return true;
}

// The extents and the place of what the iterations of loops within an outermost one keep.
struct Place {
    std::vector<Expr> extents, index;
    int counter = -1;  // of the outermost of these loops
};

// Whether an iteration may end the procedure. Reverse accumulation makes that an end of the loop,
// which then counts no iterations.
bool may_return(const Statement& loop) {
    const auto all = all_statements(loop.body);
    return std::any_of(all.begin(), all.end(),
                       [](const Statement* statement) { return statement->kind == Kind::leave; });
}

std::optional<Place> place_in(const Procedure& procedure, const Loops& loops,
                              const std::map<int, int>& assignments) {
    if (loops.size() < 2) return {};
    Place place;
    for (size_t i = 1; i < loops.size(); ++i) {
        const auto count = count_of(*loops[i]);
        if (!count || may_return(*loops[i]) ||
            !is_fixed({count->begin, count->end}, assignments, *loops[0]))
            return {};
        place.extents.push_back(trips_of(procedure, *count, count->begin));
        place.index.push_back(trip_of(procedure, *count, count->begin));
        if (i == 1) place.counter = count->counter;
    }
    return place;
}

size_t common_depth(const Loops& a, const Loops& b) {
    size_t depth = 0;
    while (depth < std::min(a.size(), b.size()) && a[depth] == b[depth]) ++depth;
    return depth;
}

// Whether a local array is allocated in one place, and there filled before any of it is read: what
// is read is what stays.
bool is_filled_then_read(const std::vector<Mention>& all, size_t rank) {
    const Statement& first = *all[0].statement;
    const size_t depth = all[0].loops.size();
    if (first.kind != Kind::allocate) return false;
    size_t written = 0, read = all.size();
    for (size_t i = 1; i < all.size(); ++i) {
        const Statement& statement = *all[i].statement;
        if (common_depth(all[i].loops, all[0].loops) != depth || statement.index.size() != rank)
            return false;
        if (statement.kind == Kind::load)
            read = std::min(read, i);
        else if (statement.kind == Kind::store || statement.kind == Kind::add)
            written = i;
        else
            return false;
    }
    if (written > read) return false;
    for (size_t i = 1; i <= written; ++i)
        for (size_t k = read; k < all.size(); ++k)
            if (common_depth(all[i].loops, all[k].loops) != depth) return false;
    return true;
}

// Where such an array is mentioned; nothing for others.
std::vector<Mention> mentions_of_filled(const Procedure& procedure, int array) {
    const ArrayVariable& known = procedure.arrays[static_cast<size_t>(array)];
    if (known.role != Role::local || known.grows || known.shape.empty()) return {};
    std::vector<Mention> own = mentions_of(procedure.body);
    std::erase_if(own, [&](const Mention& each) { return each.statement->array != array; });
    if (own.empty() || !is_filled_then_read(own, known.shape.size())) return {};
    return own;
}

void allocate_in(Block& body, const Statement* loop, Statement allocation) {
    for (Statement& statement : body)
        if (&statement == loop) {
            statement.body.insert(statement.body.begin(), std::move(allocation));
            return;
        }
}

// Puts `place` before the indices of an array, and takes its allocation away.
void move_to(Block& block, int array, const std::vector<Expr>& place) {
    std::erase_if(block, [array](const Statement& statement) {
        return statement.kind == Kind::allocate && statement.array == array;
    });
    for (Statement& statement : block) {
        if (statement.array == array)
            statement.index.insert(statement.index.begin(), place.begin(), place.end());
        move_to(statement.body, array, place);
        move_to(statement.otherwise, array, place);
    }
}

bool has_writes(const Block& block) {
    const auto all = all_statements(block);
    return std::any_of(all.begin(), all.end(),
                       [](const Statement* statement) { return is_write(*statement); });
}

// Whether everything that a loop assigns belongs to one of its iterations.
bool has_own_variables(const Procedure& procedure, const Statement& loop,
                       std::map<int, int>& mentions) {
    std::map<int, int> within = mentions_in(procedure, loop.body);
    const std::set<int> exposed = exposed_in(procedure, loop.body);
    for (const auto& [variable, times] : assignments_in(loop.body))
        if (within[variable] != mentions[variable] || exposed.contains(variable)) return false;
    return true;
}

// Whether a loop within the outermost one need not run again, but for what it would keep: it
// leaves nothing but elements, and those are there already, or nothing reads them.
bool is_there_already(const Procedure& procedure, const Block& body, const Statement& outermost,
                      const Statement& loop, const ArrayUse& use) {
    std::map<int, int> mentions = mentions_in(procedure, body);
    if (!has_own_variables(procedure, loop, mentions)) return false;
    std::set<int> loaded;
    for (const Statement* statement : all_statements(body))
        if (statement->kind == Kind::load) loaded.insert(statement->array);
    for (const Statement* statement : all_statements(loop.body)) {
        if (statement->kind == Kind::allocate || statement->kind == Kind::append) return false;
        if (statement->kind == Kind::loop && !has_own_variables(procedure, *statement, mentions))
            return false;
        if (is_write(*statement) && loaded.contains(statement->array) &&
            !use.is_recurrence(outermost, statement->array))
            return false;
    }
    return true;
}

bool is_of(const Block& body, const Statement* loop) {
    return std::any_of(body.begin(), body.end(),
                       [loop](const Statement& statement) { return &statement == loop; });
}

// Whether the statement fills the array, and does nothing else, and each element takes a loop.
bool fills_by_loops(const Procedure& procedure, const Statement& filling, int array,
                    std::map<int, int>& mentions) {
    if (filling.kind != Kind::loop || !has_own_variables(procedure, filling, mentions))
        return false;
    bool sums = false;
    for (const Statement* statement : all_statements(filling.body)) {
        const bool is_plain = statement->kind == Kind::load || statement->kind == Kind::assign;
        if (statement->kind == Kind::loop) {
            sums |= !has_writes(statement->body);
        } else if (!is_plain && (statement->kind != Kind::store || statement->array != array)) {
            return false;
        }
        if (statement->kind == Kind::load && statement->array == array) return false;
    }
    return sums;
}

// Whether the extents, but for small numbers, are some of an array that the loop's iterations hand
// on.
bool is_as_large(const Procedure& procedure, const std::vector<Expr>& shape, const Statement& loop,
                 const ArrayUse& use) {
    double constants = 1;
    std::vector<Expr> extents;
    for (const Expr& extent : shape) {
        if (extent.op() == Op::constant)
            constants *= extent.value();
        else
            extents.push_back(extent);
    }
    if (constants > 16) return false;
    for (size_t i = 0; i < procedure.arrays.size(); ++i) {
        if (!use.is_recurrence(loop, static_cast<int>(i))) continue;
        std::vector<Expr> own = procedure.arrays[i].shape;
        const bool holds = std::all_of(extents.begin(), extents.end(), [&](const Expr& extent) {
            const auto found = std::find_if(own.begin(), own.end(), [&](const Expr& other) {
                return scalar::structurally_equal({extent}, {other});
            });
            if (found == own.end()) return false;
            own.erase(found);
            return true;
        });
        if (holds) return true;
    }
    return false;
}

}  // namespace

void keep_products(Procedure& procedure, const std::set<int>& changing, Kept& kept) {
    const std::map<int, int> assignments = assignments_in(procedure.body);
    for (size_t i = 0; i < procedure.arrays.size(); ++i) {
        ArrayVariable& known = procedure.arrays[i];
        const int array = static_cast<int>(i);
        const std::vector<Mention> own = mentions_of_filled(procedure, array);
        if (changing.contains(array) || own.size() < 3 || own[0].loops.size() != 1 ||
            own[1].loops.size() < 2 || own[2].statement->kind != Kind::load)
            continue;
        const Statement &outermost = *own[0].loops[0], &filling = *own[1].loops[1];
        const auto count = count_of(outermost);
        std::map<int, int> mentions = mentions_in(procedure, procedure.body);
        if (!count || may_return(outermost) || !is_of(procedure.body, &outermost) ||
            !is_of(outermost.body, &filling) ||
            !is_fixed({count->begin, count->end}, assignments, outermost) ||
            !is_fixed(known.shape, assignments, outermost) ||
            !fills_by_loops(procedure, filling, array, mentions) ||
            !is_as_large(procedure, known.shape, outermost, ArrayUse(procedure)) ||
            can_be_logged(procedure, procedure.body, outermost, changing))
            continue;
        const Expr trips = trips_of(procedure, *count, count->begin),
                   place = trip_of(procedure, *count, count->begin);
        Statement allocation = *own[0].statement;
        const auto loop = std::find_if(procedure.body.begin(), procedure.body.end(),
                                       [&](const Statement& each) { return &each == &outermost; });
        move_to(loop->body, array, {place});
        known.shape.insert(known.shape.begin(), trips);
        kept.loops[array] = count->counter;
        kept.lives[array] = {count->counter, 1};
        procedure.body.insert(loop, std::move(allocation));
    }
}

void keep_arrays(Procedure& procedure, const std::set<int>& changing, Kept& kept) {
    const std::map<int, int> assignments = assignments_in(procedure.body);
    for (size_t i = 0; i < procedure.arrays.size(); ++i) {
        ArrayVariable& known = procedure.arrays[i];
        const int array = static_cast<int>(i);
        const std::vector<Mention> own = mentions_of_filled(procedure, array);
        if (own.empty() || changing.contains(array)) continue;
        const Loops& loops = own[0].loops;
        const auto place = place_in(procedure, loops, assignments);
        if (!place || !is_of(procedure.body, loops[0]) ||
            !is_fixed(known.shape, assignments, *loops[0]) ||
            can_be_logged(procedure, procedure.body, *loops[0], changing))
            continue;
        known.shape.insert(known.shape.begin(), place->extents.begin(), place->extents.end());
        kept.loops[array] = place->counter;
        kept.lives[array] = {count_of(*loops.back())->counter, std::ssize(place->index)};
        const Statement allocation = *own[0].statement, *outermost = loops[0];
        move_to(procedure.body, array, place->index);
        allocate_in(procedure.body, outermost, allocation);
    }
}

void keep_values(Procedure& procedure, Block& body, const ArrayUse& use,
                 const std::set<int>& changing, Kept& kept) {
    const std::map<int, int> assignments = assignments_in(body);
    std::vector<std::pair<const Statement*, Statement>> allocations;
    for (const Mention& mention : mentions_of(body)) {
        const Statement& statement = *mention.statement;
        if (statement.kind != Kind::assign || assignments.at(statement.variable) != 1 ||
            static_cast<size_t>(statement.variable) < procedure.parameters)
            continue;
        const auto all = scalar::topological_order(statement.values);
        if (std::none_of(all.begin(), all.end(), is_named_call)) continue;
        const auto place = place_in(procedure, mention.loops, assignments);
        if (!place || !is_of(body, mention.loops[0]) ||
            is_there_already(procedure, body, *mention.loops[0], *mention.loops[1], use) ||
            can_be_logged(procedure, body, *mention.loops[0], changing))
            continue;
        const Variable own = procedure.variables[static_cast<size_t>(statement.variable)];
        const int array = procedure.add_array(
            own.name + "_kept", {.name = "", .dtype = own.dtype, .shape = place->extents});
        kept.loops[array] = place->counter;
        kept.values[statement.variable] = {array, place->index};
        allocations.emplace_back(mention.loops[0],
                                 Statement::allocate(array, false, statement.line));
    }
    for (auto& [loop, allocation] : allocations) allocate_in(body, loop, std::move(allocation));
}

}  // namespace composit::ir::procedure
