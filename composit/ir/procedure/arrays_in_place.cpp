#include "composit/ir/procedure/arrays_in_place.h"

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

// for (k …) to[k] = from[k], of all elements of both in order.
struct CopiedArray {
    int to = -1, from = -1;
};

std::optional<CopiedArray> copy_of(const Procedure& procedure, const Statement& loop) {
    const auto range = loop.kind == Kind::loop ? range_of(loop) : std::nullopt;
    if (!range || loop.body.size() != 2 || !is_integer_constant(range->low, 0)) return {};
    const Statement &load = loop.body[0], &store = loop.body[1];
    if (load.kind != Kind::load || store.kind != Kind::store || load.array == store.array ||
        !is_variable(store.values[0], load.variable) || load.index.size() != 1 ||
        store.index.size() != 1 || !is_variable(load.index[0], range->counter) ||
        !is_variable(store.index[0], range->counter))
        return {};
    const auto known = [&](int array) { return procedure.arrays[static_cast<size_t>(array)]; };
    const ArrayVariable from = known(load.array), to = known(store.array);
    const bool are_alike = from.dtype == to.dtype && !from.grows && !to.grows &&
                           from.shape.size() == to.shape.size() && !from.shape.empty() &&
                           scalar::structurally_equal(from.shape, to.shape) &&
                           scalar::structurally_equal({range->high}, {element_count(to.shape)});
    if (!are_alike || mentions_in(procedure, procedure.body)[load.variable] != 2) return {};
    return CopiedArray{store.array, load.array};
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

// An output that nothing mentions before a local array is copied to it, behind which nothing
// mentions either.
bool write_output_instead(Procedure& procedure) {
    for (size_t i = 0; i < procedure.body.size(); ++i) {
        const auto copied = copy_of(procedure, procedure.body[i]);
        if (!copied) continue;
        const ArrayVariable& from = procedure.arrays[static_cast<size_t>(copied->from)];
        const ArrayVariable& to = procedure.arrays[static_cast<size_t>(copied->to)];
        const auto allocation = allocation_of(procedure, copied->from);
        if (from.role != Role::local || to.role != Role::output || !allocation) continue;
        const Block behind(procedure.body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                           procedure.body.end());
        auto later = mentions_of_arrays(behind);
        const auto all = mentions_of_arrays(procedure.body)[copied->to];
        const auto made = std::count_if(all.begin(), all.end(), [](const Statement* each) {
            return each->kind == Kind::allocate;
        });
        const Block ahead(procedure.body.begin(),
                          procedure.body.begin() + static_cast<std::ptrdiff_t>(i));
        const auto whole = all_statements(ahead);
        const bool leaves = std::any_of(whole.begin(), whole.end(), [](const Statement* each) {
            return each->kind == Kind::leave;
        });
        if (leaves || later.contains(copied->from) || later.contains(copied->to) ||
            static_cast<size_t>(made) + 1 != all.size())
            continue;
        procedure.body.erase(procedure.body.begin() + static_cast<std::ptrdiff_t>(i));
        leave_out_allocations(procedure.body, copied->to);
        replace_array(procedure.body, copied->from, copied->to);
        return true;
    }
    return false;
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
    while (read_input_instead(procedure) || write_output_instead(procedure)) continue;
    return procedure;
}

Procedure with_inputs_read_again(Procedure procedure) {
    return ReadAgain(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
