#include "composit/ir/procedure/exchanges.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

struct WholeCopy {
    int from = -1, to = -1;
    Block logged;  // what the innermost loop does before it copies an element
};

// A loop, or loops, through all elements of two arrays, in order of their axes, of which one gets
// the other's.
std::optional<WholeCopy> whole_copy(const Procedure& procedure, const Statement& loop) {
    std::vector<Range> ranges;
    const Statement* inner = &loop;
    for (;; inner = inner->body.data()) {
        if (inner->kind != Kind::loop || !count_of(*inner)) return {};
        const auto range = range_of(*inner);
        if (!range || !is_integer_constant(range->low, 0)) return {};
        ranges.push_back(*range);
        if (inner->body.size() != 1) break;
    }
    const Block& body = inner->body;
    if (body.size() < 2) return {};
    const Statement &load = body[body.size() - 2], &store = body.back();
    if (load.kind != Kind::load || store.kind != Kind::store || load.array == store.array ||
        !is_variable(store.values[0], load.variable) ||
        !scalar::structurally_equal(load.index, store.index) || store.index.size() != ranges.size())
        return {};
    const ArrayVariable &from = procedure.arrays[static_cast<size_t>(load.array)],
                        &to = procedure.arrays[static_cast<size_t>(store.array)];
    if (from.dtype != to.dtype || from.shape.size() != to.shape.size() || from.grows || to.grows ||
        !scalar::structurally_equal(from.shape, to.shape))
        return {};
    const bool is_flat = ranges.size() == 1;
    if (!is_flat && ranges.size() != to.shape.size()) return {};
    for (size_t axis = 0; axis < ranges.size(); ++axis) {
        const Expr extent = is_flat ? element_count(to.shape) : to.shape[axis];
        if (!is_variable(store.index[axis], ranges[axis].counter) ||
            !scalar::structurally_equal({ranges[axis].high}, {extent}))
            return {};
    }
    // Of the iteration alone, and of the element that it overwrites.
    const Block logged(body.begin(), body.end() - 2);
    if (!logged.empty()) {
        const bool is_log = logged.size() == 2 && logged[0].kind == Kind::load &&
                            logged[1].kind == Kind::append && logged[0].array == store.array &&
                            logged[0].variable != load.variable &&
                            scalar::structurally_equal(logged[0].index, store.index) &&
                            is_variable(logged[1].values[0], logged[0].variable);
        if (!is_log) return {};
    }
    std::map<int, int> inside = mentions_in(procedure, {loop}),
                       all = mentions_in(procedure, procedure.body);
    for (const auto& [variable, times] : assignments_in({loop}))
        if (inside[variable] != all[variable]) return {};
    return WholeCopy{load.array, store.array, logged};
}

bool has_known_size(const ArrayVariable& array) {
    return std::all_of(array.shape.begin(), array.shape.end(),
                       [](const Expr& extent) { return extent.op() == scalar::Op::constant; });
}

// The places of the three copies, among allocations of the arrays that the last two fill.
struct Copies {
    size_t second, third;
    WholeCopy first_copy, second_copy;
};
std::optional<Copies> copies_at(const Procedure& procedure, const Block& block, size_t place,
                                bool may_be_outputs = false) {
    if (block[place].kind != Kind::loop || place + 2 >= block.size()) return {};
    const auto next = [&](size_t from, int array) {
        while (from < block.size() && block[from].kind == Kind::allocate &&
               block[from].array == array && !block[from].is_zeroed)
            ++from;
        return from;
    };
    const auto first = whole_copy(procedure, block[place]);
    if (!first || !first->logged.empty()) return {};
    const size_t second_place = next(place + 1, first->from);
    if (second_place >= block.size()) return {};
    const auto second = whole_copy(procedure, block[second_place]);
    if (!second || second->to != first->from || second->from == first->to) return {};
    const size_t third_place = next(second_place + 1, second->from);
    if (third_place >= block.size()) return {};
    const auto third = whole_copy(procedure, block[third_place]);
    if (!third || third->to != second->from || third->from != first->to || !third->logged.empty() ||
        has_known_size(procedure.arrays[static_cast<size_t>(first->to)]))
        return {};
    int uses = 0;
    for (const Statement* each : all_statements(procedure.body))
        uses += each->array == first->to && each->kind != Kind::allocate;
    const Role between = procedure.arrays[static_cast<size_t>(first->to)].role,
               other = procedure.arrays[static_cast<size_t>(second->from)].role;
    const bool is_local = between == Role::local && (other == Role::local || may_be_outputs);
    if (uses != 2 || !is_local) return {};
    return Copies{second_place, third_place, *first, *second};
}

void rename_arrays(Block& block, const std::map<int, int>& names) {
    for (Statement& statement : block) {
        if (const auto found = names.find(statement.array); found != names.end())
            statement.array = found->second;
        rename_arrays(statement.body, names);
        rename_arrays(statement.otherwise, names);
    }
}

// Variables of its own for all that the other block assigns.
void give_own_variables(Procedure& procedure, Block& block, const Block& other) {
    std::vector<Expr> by = all_variables(procedure);
    for (const auto& [variable, times] : assignments_in(other)) {
        procedure.variables.push_back(procedure.variables[static_cast<size_t>(variable)]);
        by[static_cast<size_t>(variable)] = procedure.variable(procedure.variables.size() - 1);
    }
    replace_variables(block, by, true);
}

class Exchanges {
  public:
    explicit Exchanges(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        walk(p_.body);
        for (const int output : outputs_) make_local(output);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            walk(block[i].otherwise);
            const auto copies = copies_at(p_, block, i);
            if (!copies) continue;
            const int one = copies->first_copy.from;
            if (p_.arrays[static_cast<size_t>(one)].role == Role::output) outputs_.insert(one);
            if (copies->second_copy.logged.empty()) continue;
            Statement log = block[copies->second];
            innermost(log).body = copies->second_copy.logged;
            Block& copying = innermost(block[copies->second]).body;
            copying.erase(copying.begin(), copying.end() - 2);
            const Statement whole = block[copies->second];
            give_own_counters(log, whole);
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), std::move(log));
            ++i;
        }
    }

    static Statement& innermost(Statement& loop) {
        Statement* inner = &loop;
        while (inner->body.size() == 1 && inner->body[0].kind == Kind::loop)
            inner = inner->body.data();
        return *inner;
    }

    // Counters of its own for what was one loop with another.
    void give_own_counters(Statement& log, const Statement& other) {
        Block one{std::move(log)};
        give_own_variables(p_, one, {other});
        log = std::move(one[0]);
    }

    void make_local(int output) {
        const auto all = all_statements(p_.body);
        const bool leaves_early = std::any_of(all.begin(), all.end(), [&](const Statement* each) {
            return each->kind == Kind::leave && each != &p_.body.back();
        });
        if (leaves_early) return;
        ArrayVariable like = p_.arrays[static_cast<size_t>(output)];
        like.role = Role::local;
        const int local = p_.add_array(like.name, like);
        const bool is_made = std::any_of(p_.body.begin(), p_.body.end(), [&](const Statement& s) {
            return s.kind == Kind::allocate && s.array == output;
        });
        rename_arrays(p_.body, {{output, local}});
        if (!is_made) p_.body.insert(p_.body.begin(), Statement::allocate(local, false, p_.line));
        const SourceLine line = p_.body.back().line;
        const int place = p_.add_variable("k", DType::int64),
                  value = p_.add_variable("value", like.dtype);
        const Expr here = p_.variable(static_cast<size_t>(place));
        const Statement copy =
            counting_up(here, integer(0), element_count(like.shape),
                        {Statement::load(value, local, {here}, line),
                         Statement::write(Kind::store, output, {here},
                                          p_.variable(static_cast<size_t>(value)), line)},
                        line);
        const bool leaves = p_.body.back().kind == Kind::leave;
        p_.body.insert(p_.body.end() - (leaves ? 1 : 0), copy);
    }

    Procedure p_;
    std::set<int> outputs_;
};

}  // namespace

std::optional<Exchange> exchange_at(const Procedure& procedure, const Block& block, size_t place) {
    const auto copies = copies_at(procedure, block, place);
    if (!copies || !copies->second_copy.logged.empty() ||
        procedure.arrays[static_cast<size_t>(copies->first_copy.from)].role != Role::local)
        return {};
    return Exchange{copies->first_copy.from, copies->second_copy.from, copies->first_copy.to,
                    copies->third - place + 1};
}

std::optional<Exchange> reversible_exchange_at(const Procedure& procedure, const Block& block,
                                               size_t place) {
    const auto copies = copies_at(procedure, block, place, true);
    if (!copies || !copies->second_copy.logged.empty() || copies->third != place + 2) return {};
    return Exchange{copies->first_copy.from, copies->second_copy.from, copies->first_copy.to, 3};
}

Block exchange_again(Procedure& procedure, const Block& exchange, const Exchange& of, int one,
                     int other) {
    Block again = exchange;
    give_own_variables(procedure, again, exchange);
    const ArrayVariable like = procedure.arrays[static_cast<size_t>(of.between)];
    const int between = procedure.add_array(like.name, like);
    rename_arrays(again, {{of.one, one}, {of.other, other}, {of.between, between}});
    again.insert(again.begin(), Statement::allocate(between, false, exchange[0].line));
    return again;
}

namespace {

void add_exchanges(const Procedure& procedure, const Block& block, std::vector<Exchange>& found) {
    for (size_t i = 0; i < block.size(); ++i) {
        if (const auto exchange = exchange_at(procedure, block, i)) found.push_back(*exchange);
        add_exchanges(procedure, block[i].body, found);
        add_exchanges(procedure, block[i].otherwise, found);
    }
}

std::vector<Exchange> exchanges_in(const Procedure& procedure) {
    std::vector<Exchange> found;
    add_exchanges(procedure, procedure.body, found);
    return found;
}

}  // namespace

std::set<size_t> arrays_between(const Procedure& procedure) {
    std::set<size_t> found;
    for (const Exchange& each : exchanges_in(procedure))
        found.insert(static_cast<size_t>(each.between));
    return found;
}

std::set<size_t> exchanged_arrays(const Procedure& procedure) {
    std::set<size_t> found;
    for (const Exchange& each : exchanges_in(procedure))
        found.insert({static_cast<size_t>(each.one), static_cast<size_t>(each.other)});
    return found;
}

Procedure with_exchanges(Procedure procedure) { return Exchanges(std::move(procedure)).run(); }

}  // namespace composit::ir::procedure
