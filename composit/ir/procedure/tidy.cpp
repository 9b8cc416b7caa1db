// tidied: what a transformation wrote, as a person would have written it.
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

std::vector<Expr> all_variables(const Procedure& procedure) {
    std::vector<Expr> all;
    for (size_t i = 0; i < procedure.variables.size(); ++i) all.push_back(procedure.variable(i));
    return all;
}

class Tidier {
  public:
    Tidier(Procedure procedure, const std::set<std::string>& names)
        : p_(std::move(procedure)), names_(names) {}

    Procedure run() {
        leave_out_idle_copies(p_.body);
        p_ = without_dead_code(std::move(p_));
        // Extents speak of variables by their numbers.
        std::set<int> extents;
        for (const ArrayVariable& array : p_.arrays)
            for (const int variable : variables_in(array.shape)) extents.insert(variable);
        separate(p_.body, extents);
        p_ = with_parameters_for_copies(std::move(p_));
        leave_out_repeated_assertions(p_.body, {});
        uses_ = mentions_in(p_, p_.body);
        assignments_ = assignments_in(p_.body);
        replace_copies(p_.body);
        p_ = without_dead_code(std::move(p_));
        uses_ = mentions_in(p_, p_.body);
        assignments_ = assignments_in(p_.body);
        join(p_.body);
        return without_dead_code(std::move(p_));
    }

  private:
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

    // Variables whose values a loop neither takes from before nor leaves behind become its own.
    void separate(Block& block, const std::set<int>& behind) {
        std::set<int> later = behind;
        for (size_t i = block.size(); i-- > 0;) {
            Statement& statement = block[i];
            if (statement.kind == Kind::loop) {
                const std::map<int, int> inside = assignments_in({statement});
                const std::set<int> before = exposed_in(p_, {statement});
                std::vector<Expr> by = all_variables(p_);
                bool is_changed = false;
                for (const auto& [variable, times] : inside) {
                    const auto place = static_cast<size_t>(variable);
                    if (before.contains(variable) || later.contains(variable) ||
                        place < p_.parameters)
                        continue;
                    p_.variables.push_back(p_.variables[place]);
                    by[place] = p_.variable(p_.variables.size() - 1);
                    is_changed = true;
                }
                if (is_changed) {
                    Block one{std::move(statement)};
                    replace_variables(one, by, true);
                    statement = std::move(one[0]);
                }
                std::set<int> inner = later;
                for (const Block& part : {statement.body, statement.otherwise})
                    for (const int variable : exposed_in(p_, part)) inner.insert(variable);
                for (const int variable : variables_in(statement.values)) inner.insert(variable);
                separate(statement.body, inner);
            } else {
                separate(statement.body, later);
                separate(statement.otherwise, later);
            }
            for (const int variable : exposed_in(p_, {statement})) later.insert(variable);
        }
    }

    // What holds is asserted once, until a variable in it changes.
    static void leave_out_repeated_assertions(Block& block, std::vector<Expr> known) {
        const auto forget = [&known](const Block& changed) {
            const std::map<int, int> assigned = assignments_in(changed);
            std::erase_if(known, [&](const Expr& condition) {
                const std::set<int> read = variables_in({condition});
                return std::any_of(read.begin(), read.end(),
                                   [&](int each) { return assigned.contains(each); });
            });
        };
        for (size_t i = 0; i < block.size(); ++i) {
            Statement& statement = block[i];
            if (statement.kind == Kind::expect) {
                const bool is_known =
                    std::any_of(known.begin(), known.end(), [&](const Expr& each) {
                        return scalar::structurally_equal({each}, {statement.values[0]});
                    });
                if (is_known)
                    block.erase(block.begin() + static_cast<std::ptrdiff_t>(i--));
                else
                    known.push_back(statement.values[0]);
                continue;
            }
            const bool is_branch = statement.kind == Kind::branch;
            if (!is_branch) forget({statement});
            if (is_branch || statement.kind == Kind::loop) {
                leave_out_repeated_assertions(statement.body, known);
                if (is_branch) leave_out_repeated_assertions(statement.otherwise, known);
            }
            if (is_branch) forget({statement});
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
                names_.contains(p_.variables[static_cast<size_t>(copy)].name) ||
                assigns(block, i + 1, block.size(), from))
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

    // A variable that one statement reads, once, before which elements alone are written: its value
    // stands there.
    void join(Block& block) {
        for (Statement& statement : block)
            for (Block* inner : {&statement.body, &statement.otherwise}) join(*inner);
        for (size_t i = 0; i + 1 < block.size(); ++i) {
            if (block[i].kind != Kind::assign) continue;
            const int variable = block[i].variable;
            size_t place = i + 1;
            while (place + 1 < block.size() && writes_only(block[place], variable)) ++place;
            Statement& next = block[place];
            const bool is_plain = next.kind == Kind::assign || next.kind == Kind::store ||
                                  next.kind == Kind::add || next.kind == Kind::leave;
            if (!is_plain || static_cast<size_t>(variable) < p_.parameters ||
                uses_[variable] != 2 || assignments_[variable] != 1 || next.values.empty() ||
                !variables_in(next.values).contains(variable) || count_of(next, variable) != 1)
                continue;
            std::vector<Expr> by = all_variables(p_);
            by[static_cast<size_t>(variable)] = block[i].values[0];
            next.values = scalar::substitute(next.values, by);
            block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
            i -= i > 0 ? 2 : 1;
        }
    }

    // Whether a statement changes no variable, and does not read this one.
    static bool writes_only(const Statement& statement, int variable) {
        return (statement.kind == Kind::store || statement.kind == Kind::add) &&
               !variables_in(statement.values).contains(variable) &&
               !variables_in(statement.index).contains(variable);
    }

    // In how many places a statement's values read a variable.
    static int count_of(const Statement& statement, int variable) {
        int count = 0;
        for (const Expr& expr : scalar::topological_order(statement.values))
            for (const Expr& operand : expr.operands())
                count += operand.op() == Op::argument && operand.index() == variable;
        for (const Expr& value : statement.values)
            count += value.op() == Op::argument && value.index() == variable;
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
