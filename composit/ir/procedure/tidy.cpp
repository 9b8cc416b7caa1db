// tidied: what a transformation wrote, as a person would have written it.
#include "composit/ir/procedure/arrays_in_place.h"
#include "composit/ir/procedure/conditions_again.h"
#include "composit/ir/procedure/idle_stores.h"
#include "composit/ir/procedure/parts_once.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_copy(const Statement& statement) {
    return statement.kind == Kind::assign && statement.values[0].op() == Op::argument;
}

// The variables that have a new value at the block's end, whichever way it was reached.
std::set<int> always_assigned_in(const Block& block) {
    std::set<int> assigned;
    if (may_exit(block)) return assigned;
    for (const Statement& statement : block) {
        if (is_assignment(statement)) assigned.insert(statement.variable);
        if (statement.kind != Kind::branch) continue;
        const std::set<int> other = always_assigned_in(statement.otherwise);
        for (const int variable : always_assigned_in(statement.body))
            if (other.contains(variable)) assigned.insert(variable);
    }
    return assigned;
}

class Tidier {
  public:
    Tidier(Procedure procedure, const std::set<std::string>& names)
        : p_(std::move(procedure)), names_(names) {}

    Procedure run() {
        leave_out_idle_copies(p_.body);
        p_ = without_idle_stores(without_dead_code(std::move(p_)));
        p_ = with_inputs_read_again(without_dead_code(std::move(p_)));
        p_ = with_values_once(with_own_variables(std::move(p_)), names_);
        p_ = with_sums_gathered(with_parameters_for_copies(std::move(p_)), names_);
        p_ = with_loops_together(without_known_assertions(std::move(p_)), names_);
        p_ = with_sums_gathered(std::move(p_), names_);
        uses_ = mentions_in(p_, p_.body);
        assignments_ = assignments_in(p_.body);
        replace_copies(p_.body);
        leave_out_names(p_.body);
        p_ = with_short_branches(without_dead_code(std::move(p_)));
        uses_ = mentions_in(p_, p_.body);
        assignments_ = assignments_in(p_.body);
        join(p_.body);
        name_before(p_.body);
        add_behind_exchange(p_.body);
        store_at_once(p_.body);
        default_first(p_.body);
        p_ = without_dead_code(without_idle_stores(std::move(p_)));
        fill_first_sides(p_.body);
        p_ = with_arrays_in_place(with_sums_gathered(std::move(p_), names_));
        return with_conditions_again(with_parts_once(std::move(p_)), names_);
    }

  private:
    // Whether the function calls it so.
    bool is_name(int variable) const {
        return names_.contains(p_.variables[static_cast<size_t>(variable)].name);
    }

    bool assigns(const Block& block, size_t begin, size_t end, int variable) const {
        for (size_t i = begin; i < end; ++i) {
            const Block one{block[i]};
            if (assignments_in(one).contains(variable)) return true;
        }
        return false;
    }

    // s = v; …; v = s, where nothing between changes either.
    void leave_out_idle_copies(Block& block) {
        for (Statement& statement : block)
            for (Block* inner : {&statement.body, &statement.otherwise})
                leave_out_idle_copies(*inner);
        for (size_t i = 0; i < block.size(); ++i) {
            if (!is_copy(block[i])) continue;
            const int saved = block[i].variable, from = block[i].values[0].index();
            for (size_t k = i + 1; k < block.size(); ++k) {
                if (is_copy(block[k]) && block[k].variable == from &&
                    block[k].values[0].index() == saved) {
                    block.erase(block.begin() + static_cast<std::ptrdiff_t>(k));
                    --k;
                    continue;
                }
                if (assigns(block, k, k + 1, from) || assigns(block, k, k + 1, saved)) break;
            }
        }
    }

    // s = v; … s …, where the block's rest alone reads s and changes neither: v stands for s,
    // unless the function has that name.
    void replace_copies(Block& block) {
        for (Statement& statement : block)
            for (Block* inner : {&statement.body, &statement.otherwise}) replace_copies(*inner);
        for (size_t i = 0; i + 1 < block.size(); ++i) {
            if (!is_copy(block[i])) continue;
            const int copy = block[i].variable, from = block[i].values[0].index();
            if (static_cast<size_t>(copy) < p_.parameters || assignments_[copy] != 1 ||
                is_name(copy) || assigns(block, i + 1, block.size(), from))
                continue;
            Block rest(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, block.end());
            if (mentions_in(p_, rest)[copy] != uses_[copy] - 1) continue;
            std::vector<Expr> by = all_variables(p_);
            by[static_cast<size_t>(copy)] = p_.variable(static_cast<size_t>(from));
            replace_variables(rest, by, false);
            std::move(rest.begin(), rest.end(), block.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            uses_[from] += uses_[copy] - 1;
            uses_[copy] = 1;
        }
    }

    // v = …; then s = v, before which nothing mentions s: s = … at once, where both sides of a
    // branch assign v, which this alone reads, or s alone is a name of the function.
    void leave_out_names(Block& block) {
        for (Statement& statement : block)
            for (Block* inner : {&statement.body, &statement.otherwise}) leave_out_names(*inner);
        for (size_t i = 1; i < block.size(); ++i) {
            if (!is_copy(block[i])) continue;
            const int copy = block[i].variable, from = block[i].values[0].index();
            const auto here = block.begin() + static_cast<std::ptrdiff_t>(i);
            const Block rest(here + 1, block.end());
            if (static_cast<size_t>(from) < p_.parameters ||
                static_cast<size_t>(copy) < p_.parameters || assignments_[copy] != 1 ||
                mentions_in(p_, rest)[copy] != uses_[copy] - 1 ||
                (!is_of_sides(block, i, from) && !is_given_away(block, i, from) &&
                 (is_name(from) || !is_name(copy) || !is_made_once(block, i, from))))
                continue;
            std::vector<Expr> by = all_variables(p_);
            by[static_cast<size_t>(from)] = p_.variable(static_cast<size_t>(copy));
            block.erase(here);
            replace_variables(block, by, true);
            assignments_[copy] = assignments_[from];
            uses_[copy] += uses_[from] - 2;
            --i;
        }
    }

    // Whether statements before a place assign the variable, several, and that place alone reads
    // it.
    bool is_of_sides(const Block& block, size_t place, int variable) {
        const Block before(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(place));
        return assignments_[variable] > 1 && uses_[variable] - assignments_[variable] == 1 &&
               mentions_in(p_, before)[variable] == uses_[variable] - 1;
    }

    // Whether nothing behind a place mentions the variable, which is none of the function's.
    bool is_given_away(const Block& block, size_t place, int variable) {
        const Block before(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(place));
        return !is_name(variable) && mentions_in(p_, before)[variable] == uses_[variable] - 1;
    }

    // Whether one statement before a place assigns the variable, and what follows alone mentions
    // it.
    bool is_made_once(const Block& block, size_t place, int variable) {
        const auto here = block.begin() + static_cast<std::ptrdiff_t>(place);
        const auto made = std::find_if(block.begin(), here, [variable](const Statement& each) {
            return is_assignment(each) && each.variable == variable;
        });
        return made != here && assignments_[variable] == 1 &&
               mentions_in(p_, Block(made, block.end()))[variable] == uses_[variable];
    }

    // if (…) v = …; else v = 0 to v = 0; if (…) v = …, where the branch always changes v, and
    // neither the condition nor what computes the other value reads it.
    void default_first(Block& block) const {
        for (size_t i = 0; i < block.size(); ++i) {
            for (Block* inner : {&block[i].body, &block[i].otherwise}) default_first(*inner);
            if (block[i].kind != Kind::branch || block[i].otherwise.empty()) continue;
            const std::set<int> read = exposed_in(p_, block[i].body),
                                condition = variables_in(block[i].values);
            const std::set<int> assigned = always_assigned_in(block[i].body);
            const Block defaults = block[i].otherwise;
            const bool fits =
                std::all_of(defaults.begin(), defaults.end(), [&](const Statement& each) {
                    return each.kind == Kind::assign && each.values[0].op() == Op::constant &&
                           static_cast<size_t>(each.variable) >= p_.parameters &&
                           assigned.contains(each.variable) && !read.contains(each.variable) &&
                           !condition.contains(each.variable);
                });
            if (!fits) continue;
            block[i].otherwise.clear();
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), defaults.begin(),
                         defaults.end());
            i += defaults.size();
        }
    }

    // if (c) ; else … to if (!c) …
    static void fill_first_sides(Block& block) {
        for (Statement& statement : block) {
            for (Block* inner : {&statement.body, &statement.otherwise}) fill_first_sides(*inner);
            if (statement.kind != Kind::branch || !statement.body.empty()) continue;
            std::swap(statement.body, statement.otherwise);
            statement.values = scalar::simplify({~statement.values[0]});
        }
    }

    // A variable that one statement reads, once, before which nothing changes what its value reads:
    // the value stands there. An integer's may be where a loop begins.
    void join(Block& block) {
        for (Statement& statement : block)
            for (Block* inner : {&statement.body, &statement.otherwise}) join(*inner);
        for (size_t i = 0; i + 1 < block.size(); ++i) {
            if (block[i].kind != Kind::assign) continue;
            const int variable = block[i].variable;
            size_t place = i + 1;
            while (place + 1 < block.size() && leaves_alone(block[place], block[i])) ++place;
            const bool begins = block[place].kind == Kind::loop && block[place].first.size() == 1;
            Statement& next = begins ? block[place].first[0] : block[place];
            const bool is_plain = next.kind == Kind::assign || is_write(next) ||
                                  next.kind == Kind::leave ||
                                  (next.kind == Kind::branch && !is_name(variable));
            if (!is_plain || static_cast<size_t>(variable) < p_.parameters ||
                uses_[variable] != 2 || assignments_[variable] != 1 || next.values.empty() ||
                !variables_in(next.values).contains(variable) || count_of(next, variable) != 1)
                continue;
            std::vector<Expr> by = all_variables(p_);
            by[static_cast<size_t>(variable)] = block[i].values[0];
            // What is nothing but the value is of the call that made it.
            if (is_copy(next)) next.line.call = block[i].line.call;
            next.values = scalar::substitute(next.values, by);
            block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
            i -= i > 0 ? 2 : 1;
        }
    }

    // v = x[i]; v = v + a to before = x[i]; v = before + a, where nothing between mentions v.
    void name_before(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            name_before(block[i].body);
            if (block[i].kind == Kind::branch) name_before(block[i].otherwise);
            const int variable = block[i].variable;
            if (block[i].kind != Kind::load || static_cast<size_t>(variable) < p_.parameters)
                continue;
            size_t k = i + 1;
            while (k < block.size() && !mentions_in(p_, {block[k]}).contains(variable)) ++k;
            if (k == block.size() || block[k].kind != Kind::assign ||
                block[k].variable != variable || !variables_in(block[k].values).contains(variable))
                continue;
            std::vector<Expr> by = all_variables(p_);
            p_.variables.push_back(p_.variables[static_cast<size_t>(variable)]);
            by[static_cast<size_t>(variable)] = p_.variable(p_.variables.size() - 1);
            block[i].variable = by[static_cast<size_t>(variable)].index();
            block[k].values = scalar::substitute(block[k].values, by);
        }
    }

    // x[i] += a; v = x[i]; x[i] = 0 to v = x[i]; x[i] = 0; v = v + a, of a variable of its own.
    void add_behind_exchange(Block& block) {
        for (Statement& statement : block)
            for (Block* inner : {&statement.body, &statement.otherwise})
                add_behind_exchange(*inner);
        for (size_t i = 0; i + 2 < block.size(); ++i) {
            Statement &add = block[i], &load = block[i + 1];
            const Statement& store = block[i + 2];
            if (add.kind != Kind::add || load.kind != Kind::load || store.kind != Kind::store ||
                load.array != add.array || store.array != add.array ||
                add.index.size() != load.index.size() || add.index.size() != store.index.size() ||
                !scalar::structurally_equal(add.index, load.index) ||
                !scalar::structurally_equal(add.index, store.index) ||
                variables_in(add.values).contains(load.variable) ||
                variables_in(add.index).contains(load.variable) ||
                store.values[0].op() != Op::constant)
                continue;
            const int before = p_.add_variable("before", add.values[0].dtype());
            const Expr sum = p_.variable(static_cast<size_t>(before)) + add.values[0];
            add = Statement::assign(load.variable, sum, load.line);
            load.variable = before;
            const auto here = block.begin() + static_cast<std::ptrdiff_t>(i);
            std::rotate(here, here + 1, here + 3);
        }
    }

    // v = …; assignments; x[i] = v to v = …; x[i] = v; the assignments.
    static void store_at_once(Block& block) {
        for (Statement& statement : block)
            for (Block* inner : {&statement.body, &statement.otherwise}) store_at_once(*inner);
        for (size_t i = 0; i < block.size(); ++i) {
            const Statement& store = block[i];
            if (store.kind != Kind::store || store.values[0].op() != Op::argument) continue;
            std::set<int> read = variables_in(store.index);
            size_t place = i;
            while (place > 0 && block[place - 1].kind == Kind::assign &&
                   block[place - 1].variable != store.values[0].index() &&
                   !read.contains(block[place - 1].variable))
                --place;
            const bool is_made_there = place > 0 && block[place - 1].kind == Kind::assign &&
                                       block[place - 1].variable == store.values[0].index();
            const auto at = [&](size_t k) {
                return block.begin() + static_cast<std::ptrdiff_t>(k);
            };
            if (is_made_there) std::rotate(at(place), at(i), at(i) + 1);
        }
    }

    // Whether a plain statement neither reads what the other assigns nor changes what that reads.
    // Names of the function stay where they are assigned.
    bool leaves_alone(const Statement& statement, const Statement& other) const {
        const bool assigns = statement.kind == Kind::load || statement.kind == Kind::assign;
        if (statement.kind == Kind::loop) {
            const Block one{statement};
            const std::set<int> read = variables_in(other.values);
            const std::map<int, int> mentioned = mentions_in(p_, one);
            return !is_name(other.variable) && !mentioned.contains(other.variable) &&
                   std::none_of(read.begin(), read.end(), [&](int variable) {
                       return assignments_in(one).contains(variable);
                   });
        }
        return (is_write(statement) || (assigns && !is_name(other.variable))) &&
               !variables_in(statement.values).contains(other.variable) &&
               !variables_in(statement.index).contains(other.variable) &&
               !variables_in(other.values).contains(statement.variable);
    }

    // In how many places a statement's values read a variable.
    static int count_of(const Statement& statement, int variable) {
        int count = 0;
        for (const Expr& expr : scalar::topological_order(statement.values))
            for (const Expr& operand : expr.operands()) count += is_variable(operand, variable);
        for (const Expr& value : statement.values) count += is_variable(value, variable);
        return count;
    }

    Procedure p_;
    const std::set<std::string>& names_;
    std::map<int, int> uses_, assignments_;
};

}  // namespace

Procedure with_parameters_for_copies(Procedure procedure) {
    const std::map<int, int> times = assignments_in(procedure.body);
    std::vector<Expr> by = all_variables(procedure);
    for (const Statement* statement : all_statements(procedure.body)) {
        if (!is_copy(*statement)) continue;
        const int from = statement->values[0].index();
        // A parameter has a value before it is assigned.
        if (static_cast<size_t>(statement->variable) < procedure.parameters) continue;
        if (static_cast<size_t>(from) < procedure.parameters && !times.contains(from) &&
            times.at(statement->variable) == 1)
            by[static_cast<size_t>(statement->variable)] =
                procedure.variable(static_cast<size_t>(from));
    }
    replace_variables(procedure.body, by, false);
    // Printers allocate arrays whose extents are known at the start once.
    for (ArrayVariable& array : procedure.arrays)
        if (!array.shape.empty()) array.shape = scalar::substitute(array.shape, by);
    return procedure;
}

Procedure tidied(Procedure procedure, const std::set<std::string>& names) {
    return Tidier(std::move(procedure), names).run();
}

}  // namespace composit::ir::procedure
