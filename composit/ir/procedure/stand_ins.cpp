#include "composit/ir/procedure/stand_ins.h"

#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <map>
#include <set>
#include <utility>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;
using scalar::Row;
using scalar::RowRef;

const RowRef& held_row() {
    static const RowRef row = std::make_shared<const Row>(Row{
        .name = "held",
        .arity = 1,
        .types = scalar::types::floating,
        .doc = "a value without a derivative",
        .value = [](const std::vector<Expr>& x) { return x[0]; },
        .is_piecewise_constant = true,
    });
    return row;
}

const RowRef& stand_in_row() {
    static const RowRef row = std::make_shared<const Row>(Row{
        .name = "stand_in",
        .arity = 2,
        .types = scalar::types::floating,
        .doc = "the first value with the derivative of the second",
        .value = [](const std::vector<Expr>& x) { return x[0]; },
        .slopes =
            [](const std::vector<Expr>&, const Expr& y) {
                return std::vector<Expr>{Expr(), Expr::constant(y.dtype(), 1)};
            },
        .pullback = [](const std::vector<Expr>&, const Expr&, const Expr& g,
                       int operand) { return operand == 1 ? g : Expr(); },
    });
    return row;
}

bool is_call_of(const Expr& x, const RowRef& row) { return x.op() == Op::call && x.row() == row; }

// Where a variable is nothing but another one's stand-in, that one takes its place and name.
void merge_stand_ins(Procedure& procedure) {
    std::map<int, int> raw_of;
    std::set<int> others;
    for (const Statement* each : all_statements(procedure.body)) {
        if (!is_assignment(*each)) continue;
        const bool stands_in =
            each->kind == Kind::assign && is_call_of(each->values[0], stand_in_row());
        if (!stands_in) {
            others.insert(each->variable);
            continue;
        }
        const Expr& raw = each->values[0].operand(0);
        const auto known = raw_of.find(each->variable);
        if (raw.op() != Op::argument || (known != raw_of.end() && known->second != raw.index()))
            others.insert(each->variable);
        else
            raw_of[each->variable] = raw.index();
    }
    std::vector<Expr> by = all_variables(procedure);
    for (const auto& [variable, raw] : raw_of) {
        if (others.contains(variable)) continue;
        std::swap(procedure.variables[static_cast<size_t>(raw)].name,
                  procedure.variables[static_cast<size_t>(variable)].name);
        by[static_cast<size_t>(variable)] = procedure.variable(static_cast<size_t>(raw));
    }
    replace_variables(procedure.body, by, true);
}

std::vector<Expr> values_alone(const std::vector<Expr>& values) {
    std::map<const scalar::ExprNode*, Expr> made;
    for (const Expr& expr : scalar::topological_order(values)) {
        std::vector<Expr> operands;
        for (const Expr& operand : expr.operands()) operands.push_back(made.at(operand.id()));
        const bool is_its_value = is_call_of(expr, held_row()) || is_call_of(expr, stand_in_row());
        if (is_its_value)
            made[expr.id()] = operands[0];
        else
            made[expr.id()] = operands.empty() ? expr : expr.with_operands(std::move(operands));
    }
    std::vector<Expr> out;
    for (const Expr& value : values) out.push_back(made.at(value.id()));
    return out;
}

void leave_values_alone(Block& block) {
    Block out;
    for (Statement& statement : block) {
        for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
            leave_values_alone(*inner);
        statement.values = values_alone(statement.values);
        const bool is_idle =
            statement.kind == Kind::assign && is_variable(statement.values[0], statement.variable);
        if (!is_idle) out.push_back(std::move(statement));
    }
    block = std::move(out);
}

}  // namespace

Expr held(const Expr& x) { return Expr::call(held_row(), {x}); }
bool is_held(const Expr& x) { return is_call_of(x, held_row()); }
Expr stand_in(const Expr& value, const Expr& other) {
    return Expr::call(stand_in_row(), {value, other});
}

void with_values_alone(Procedure& procedure) {
    merge_stand_ins(procedure);
    leave_values_alone(procedure.body);
}

}  // namespace composit::ir::procedure
