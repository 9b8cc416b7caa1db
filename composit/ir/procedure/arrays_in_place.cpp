#include "composit/ir/procedure/arrays_in_place.h"

#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;
using scalar::Op;

// In for (k …) { …; v = from[k]; …; to[k] = v; … }, of all elements of both in order, where nothing
// else in the loop mentions `to`, or `from` but to read element k: the two statements.
struct CopiedArray {
    int to = -1, from = -1;
    size_t load = 0, store = 0;
};

bool is_of_counter(const Statement& statement, int counter) {
    return statement.index.size() == 1 && is_variable(statement.index[0], counter);
}

bool are_alike(const ArrayVariable& one, const ArrayVariable& other) {
    return one.dtype == other.dtype && !one.grows && !other.grows && !one.shape.empty() &&
           one.shape.size() == other.shape.size() &&
           scalar::structurally_equal(one.shape, other.shape);
}

std::vector<CopiedArray> copies_in(const Procedure& procedure, const Statement& loop) {
    std::vector<CopiedArray> found;
    const auto range = loop.kind == Kind::loop ? range_of(loop) : std::nullopt;
    if (!range || !is_integer_constant(range->low, 0)) return found;
    const Block& body = loop.body;
    const bool is_plain = std::all_of(body.begin(), body.end(), [](const Statement& each) {
        return each.kind == Kind::load || each.kind == Kind::assign || is_write(each);
    });
    if (!is_plain) return found;
    const std::map<int, int> assigned = assignments_in(body);
    const auto known = [&](int array) { return procedure.arrays[static_cast<size_t>(array)]; };
    for (size_t i = 0; i < body.size(); ++i) {
        const Statement& store = body[i];
        if (store.kind != Kind::store || store.values[0].op() != Op::argument ||
            !is_of_counter(store, range->counter))
            continue;
        const int value = store.values[0].index();
        const auto load =
            std::find_if(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(i),
                         [&](const Statement& each) { return each.variable == value; });
        const auto place = static_cast<size_t>(load - body.begin());
        if (place == i || load->kind != Kind::load || assigned.at(value) != 1 ||
            !is_of_counter(*load, range->counter) || load->array == store.array)
            continue;
        const bool is_alone = std::all_of(body.begin(), body.end(), [&](const Statement& each) {
            const bool reads = each.kind == Kind::load && is_of_counter(each, range->counter);
            return &each == &store ||
                   (each.array != store.array && (each.array != load->array || reads));
        });
        const ArrayVariable from = known(load->array), to = known(store.array);
        if (is_alone && are_alike(from, to) &&
            scalar::structurally_equal({range->high}, {element_count(to.shape)}))
            found.push_back({store.array, load->array, place, i});
    }
    return found;
}

// A loop that does nothing but copy an array.
std::optional<CopiedArray> copy_of(const Procedure& procedure, const Statement& loop) {
    if (loop.body.size() != 2) return {};
    const auto copies = copies_in(procedure, loop);
    if (copies.empty() || mentions_in(procedure, procedure.body)[loop.body[0].variable] != 2)
        return {};
    return copies[0];
}

std::map<int, std::vector<const Statement*>> mentions_of_arrays(const Block& block) {
    std::map<int, std::vector<const Statement*>> found;
    for (const Statement* each : all_statements(block))
        if (each->array >= 0) found[each->array].push_back(each);
    return found;
}

void replace_array(Block& block, int array, int by) {
    for (Statement& statement : block) {
        if (statement.array == array) statement.array = by;
        replace_array(statement.body, array, by);
        replace_array(statement.otherwise, array, by);
    }
}

void leave_out_allocations(Block& block, int array) {
    std::erase_if(block, [array](const Statement& each) {
        return each.kind == Kind::allocate && each.array == array;
    });
}

// Of the statements of the procedure itself, the one that allocates the array; nothing where others
// do.
std::optional<size_t> allocation_of(const Procedure& procedure, int array) {
    std::optional<size_t> found;
    for (size_t i = 0; i < procedure.body.size(); ++i) {
        const Block one{procedure.body[i]};
        for (const Statement* each : all_statements(one)) {
            if (each->kind != Kind::allocate || each->array != array) continue;
            if (found || procedure.body[i].kind != Kind::allocate) return {};
            found = i;
        }
    }
    return found;
}

// A local array that is copied from an input before all else, and not written again.
bool read_input_instead(Procedure& procedure) {
    for (size_t i = 0; i < procedure.body.size(); ++i) {
        const auto copied = copy_of(procedure, procedure.body[i]);
        if (!copied) continue;
        const auto role = [&](int array) {
            return procedure.arrays[static_cast<size_t>(array)].role;
        };
        const auto allocation = allocation_of(procedure, copied->to);
        if (role(copied->to) != Role::local || role(copied->from) != Role::input || !allocation)
            continue;
        const auto all = mentions_of_arrays(procedure.body)[copied->to];
        size_t others = 0;
        for (const Statement* each : all) others += each->kind != Kind::load;
        const Block before(procedure.body.begin(),
                           procedure.body.begin() + static_cast<std::ptrdiff_t>(i));
        const bool is_read_before = mentions_of_arrays(before)[copied->to].size() > 1;
        if (others != 2 || is_read_before) continue;  // where it is made, and the copy
        procedure.body.erase(procedure.body.begin() + static_cast<std::ptrdiff_t>(i));
        leave_out_allocations(procedure.body, copied->to);
        replace_array(procedure.body, copied->to, copied->from);
        return true;
    }
    return false;
}

// The loop at a place of the body no longer copies.
void leave_out_copy(Procedure& procedure, size_t place, const CopiedArray& copied) {
    Block& body = procedure.body[place].body;
    const int value = body[copied.load].variable;
    const bool is_read = mentions_in(procedure, procedure.body)[value] != 2;
    const auto at = [&](size_t k) { return body.begin() + static_cast<std::ptrdiff_t>(k); };
    body.erase(at(copied.store));
    if (!is_read) body.erase(at(copied.load));
    if (body.empty())
        procedure.body.erase(procedure.body.begin() + static_cast<std::ptrdiff_t>(place));
}

// An output that nothing mentions before a local array is copied to it, behind which nothing
// mentions either.
bool write_output_instead(Procedure& procedure) {
    // An output cannot give its memory for another's.
    const std::set<size_t> exchanged = exchanged_arrays(procedure);
    for (size_t i = 0; i < procedure.body.size(); ++i) {
        for (const CopiedArray& copied : copies_in(procedure, procedure.body[i])) {
            const ArrayVariable& from = procedure.arrays[static_cast<size_t>(copied.from)];
            const ArrayVariable& to = procedure.arrays[static_cast<size_t>(copied.to)];
            const auto allocation = allocation_of(procedure, copied.from);
            if (from.role != Role::local || to.role != Role::output || !allocation ||
                exchanged.contains(static_cast<size_t>(copied.from)))
                continue;
            const Block behind(procedure.body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                               procedure.body.end());
            auto later = mentions_of_arrays(behind);
            const auto all = mentions_of_arrays(procedure.body)[copied.to];
            const auto made = std::count_if(all.begin(), all.end(), [](const Statement* each) {
                return each->kind == Kind::allocate;
            });
            const Block ahead(procedure.body.begin(),
                              procedure.body.begin() + static_cast<std::ptrdiff_t>(i));
            const auto whole = all_statements(ahead);
            const bool leaves = std::any_of(whole.begin(), whole.end(), [](const Statement* each) {
                return each->kind == Kind::leave;
            });
            if (leaves || later.contains(copied.from) || later.contains(copied.to) ||
                static_cast<size_t>(made) + 1 != all.size())
                continue;
            leave_out_copy(procedure, i, copied);
            leave_out_allocations(procedure.body, copied.to);
            replace_array(procedure.body, copied.from, copied.to);
            return true;
        }
    }
    return false;
}

// for (a …) for (b …) { v = from[a, b]; to[a, b] = v; }, over all elements of both, as one loop.
void copy_at_once(const Procedure& procedure, Statement& loop) {
    std::vector<int> counters;
    std::vector<Expr> extents;
    const Statement* inner = &loop;
    for (;; inner = inner->body.data()) {
        const auto range = inner->kind == Kind::loop ? range_of(*inner) : std::nullopt;
        if (!range || !is_integer_constant(range->low, 0) || inner->body.empty()) return;
        counters.push_back(range->counter);
        extents.push_back(range->high);
        if (inner->body.size() != 1) break;
    }
    if (counters.size() < 2 || inner->body.size() != 2) return;
    const Statement &load = inner->body[0], &store = inner->body[1];
    if (load.kind != Kind::load || store.kind != Kind::store || load.array == store.array ||
        !is_variable(store.values[0], load.variable))
        return;
    const ArrayVariable &from = procedure.arrays[static_cast<size_t>(load.array)],
                        &to = procedure.arrays[static_cast<size_t>(store.array)];
    if (!are_alike(from, to) || to.shape.size() != counters.size() ||
        !scalar::structurally_equal(to.shape, extents))
        return;
    std::vector<Expr> index;
    for (const int counter : counters)
        index.push_back(procedure.variable(static_cast<size_t>(counter)));
    for (const Statement* each : {&load, &store})
        if (each->index.size() != index.size() || !scalar::structurally_equal(each->index, index))
            return;
    const Block one{loop};
    std::map<int, int> within = mentions_in(procedure, one);
    std::map<int, int> everywhere = mentions_in(procedure, procedure.body);
    for (const auto& [variable, times] : assignments_in(one))
        if (within[variable] != everywhere[variable]) return;
    const Expr here = index.back();
    const SourceLine line = loop.line;
    Block body = inner->body;
    for (Statement& each : body) each.index = {here};
    loop = counting_up(here, integer(0), element_count(to.shape), std::move(body), line);
}

class ReadAgain {
  public:
    explicit ReadAgain(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        assignments_ = assignments_in(p_.body);
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (Statement& statement : block) {
            walk(statement.body);
            if (statement.kind == Kind::branch) walk(statement.otherwise);
        }
        for (size_t i = 0; i < block.size(); ++i) {
            if (block[i].kind != Kind::branch) continue;
            const Block sides[2] = {block[i].body, block[i].otherwise};
            for (const Block& side : sides)
                for (const Statement& load : side)
                    if (load.kind == Kind::load) read_again(load, block, i);
        }
    }

    void read_again(const Statement& load, Block& block, size_t place) {
        const auto number = static_cast<size_t>(load.variable);
        if (p_.arrays[static_cast<size_t>(load.array)].role != Role::input ||
            number < p_.parameters || assignments_[load.variable] != 1)
            return;
        const int everywhere = mentions_in(p_, p_.body)[load.variable];
        int known = mentions_in(p_, {block[place]})[load.variable];
        if (known == everywhere) return;
        const std::set<int> read = variables_in(load.index);
        std::vector<size_t> branches;
        for (size_t k = place; k < block.size(); ++k) {
            const Block one{block[k]};
            const std::map<int, int> assigned = assignments_in(one);
            if (std::any_of(read.begin(), read.end(),
                            [&](int variable) { return assigned.contains(variable); }))
                break;
            const int own = k == place ? 0 : mentions_in(p_, one)[load.variable];
            if (own == 0) continue;
            const bool asks = variables_in(block[k].values).contains(load.variable);
            if (block[k].kind != Kind::branch || asks) return;
            known += own;
            branches.push_back(k);
        }
        if (known != everywhere) return;
        for (const size_t k : branches)
            for (Block* side : {&block[k].body, &block[k].otherwise})
                if (mentions_in(p_, *side).contains(load.variable)) load_in(*side, load);
    }

    void load_in(Block& side, Statement load) {
        const Variable own = p_.variables[static_cast<size_t>(load.variable)];
        std::vector<Expr> by = all_variables(p_);
        p_.variables.push_back(own);
        const size_t number = p_.variables.size() - 1;
        by[static_cast<size_t>(load.variable)] = p_.variable(number);
        replace_variables(side, by, false);
        load.variable = static_cast<int>(number);
        assignments_[load.variable] = 1;
        side.insert(side.begin(), std::move(load));
    }

    Procedure p_;
    std::map<int, int> assignments_;
};

}  // namespace

Procedure with_arrays_in_place(Procedure procedure) {
    for (Statement& statement : procedure.body) copy_at_once(procedure, statement);
    while (read_input_instead(procedure) || write_output_instead(procedure)) continue;
    return procedure;
}

Procedure with_inputs_read_again(Procedure procedure) {
    return ReadAgain(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
