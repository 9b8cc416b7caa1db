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
    explicit Tidier(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        leave_out_idle_copies(p_.body);
        p_ = without_dead_code(std::move(p_));
        // Extents speak of variables by their numbers.
        std::set<int> extents;
        for (const ArrayVariable& array : p_.arrays)
            for (const int variable : variables_in(array.shape)) extents.insert(variable);
        separate(p_.body, extents);
        p_ = with_parameters_for_copies(std::move(p_));
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

    // A variable that only the next statement reads, once: its value stands there.
    void join(Block& block) {
        for (Statement& statement : block)
            for (Block* inner : {&statement.body, &statement.otherwise}) join(*inner);
        for (size_t i = 0; i + 1 < block.size(); ++i) {
            if (block[i].kind != Kind::assign) continue;
            const int variable = block[i].variable;
            Statement& next = block[i + 1];
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
    std::map<int, int> uses_, assignments_;
};

}  // namespace

Procedure with_parameters_for_copies(Procedure procedure) {
    const std::map<int, int> times = assignments_in(procedure.body);
    std::vector<Expr> by = all_variables(procedure);
    for (const Statement* statement : all_statements(procedure.body)) {
        if (!is_copy(*statement)) continue;
        const int from = statement->values[0].index();
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

Procedure tidied(Procedure procedure) { return Tidier(std::move(procedure)).run(); }

}  // namespace composit::ir::procedure
