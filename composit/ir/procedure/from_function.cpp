// procedure_of: expressions as statements.
#include "composit/base/error.h"
#include "composit/ir/procedure/procedure.h"

#include <map>

namespace composit::ir::procedure {

Procedure procedure_of(const std::string& name, const scalar::Function& function) {
    Procedure procedure;
    procedure.name = name;
    for (size_t i = 0; i < function.parameters.size(); ++i) {
        const bool has_name = i < function.parameter_names.size();
        procedure.variables.push_back(
            {has_name ? function.parameter_names[i] : text("x", i), function.parameters[i]});
    }
    procedure.parameters = procedure.variables.size();
    const bool is_single = function.results.size() == 1;
    for (size_t i = 0; i < function.results.size(); ++i)
        procedure.results.push_back({is_single ? "y" : text("y", i), function.results[i].dtype()});
    std::map<const scalar::ExprNode*, Expr> values;
    for (const Expr& expr : scalar::topological_order(function.results)) {
        Expr value = expr;
        if (!expr.operands().empty()) {
            std::vector<Expr> operands;
            for (const Expr& operand : expr.operands()) operands.push_back(values[operand.id()]);
            value = expr.with_operands(std::move(operands));
            if (!expr.name().empty()) {
                const int variable = procedure.add_variable(expr.name(), expr.dtype());
                procedure.body.push_back(Statement::assign(variable, value));
                value = procedure.variable(static_cast<size_t>(variable));
            }
        }
        values[expr.id()] = value;
    }
    std::vector<Expr> results;
    for (const Expr& result : function.results) results.push_back(values[result.id()]);
    procedure.body.push_back(Statement::leave(std::move(results)));
    check(procedure);
    return procedure;
}

}  // namespace composit::ir::procedure
