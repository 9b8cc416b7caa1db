// A derivative that a user wrote, restricted to one result or parameter, and turned forward.
#include "composit/ir/procedure/given_derivative.h"

#include "composit/base/error.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/procedure/tangent_rules.h"
#include "composit/ir/scalar/function.h"

#include <map>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

// The places of floating results among those that have gradients; -1 for the others.
int place_of(const std::vector<Variable>& variables, size_t which) {
    int place = -1;
    for (size_t i = 0; i <= which; ++i) place += is_floating(variables[i].dtype);
    return is_floating(variables[which].dtype) ? place : -1;
}

void substitute(Block& block, const std::vector<Expr>& variables) {
    for (Statement& statement : block) {
        if (!statement.values.empty())
            statement.values = scalar::simplify(scalar::substitute(statement.values, variables));
        for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
            substitute(*inner, variables);
    }
}

void keep_result(Block& block, size_t which) {
    for (Statement& statement : block) {
        if (statement.kind == Kind::leave) statement.values = {statement.values[which]};
        for (Block* inner : {&statement.body, &statement.otherwise}) keep_result(*inner, which);
    }
}

// The derivative for one parameter alone.
Procedure of_parameter(const Procedure& procedure, size_t parameter) {
    Procedure out = given_vjp(procedure);
    const int which = place_of(procedure.variables, parameter);
    internal_check(which >= 0, "the derivative of a parameter that is no float");
    keep_result(out.body, static_cast<size_t>(which));
    out.results = {out.results[static_cast<size_t>(which)]};
    return out;
}

// What each result receives, in place of the parameters that say so; `more` of those stay, whose
// values `start` reads.
Procedure receiving(const Procedure& procedure, Procedure out, const std::vector<Expr>& received,
                    size_t more = 0, Block start = {}) {
    const std::map<int, int> assigned = assignments_in(out.body);
    std::vector<Expr> variables;
    for (size_t i = 0; i < out.variables.size(); ++i) variables.push_back(out.variable(i));
    for (size_t k = 0; k < received.size(); ++k) {
        const size_t own = procedure.parameters + k;
        if (assigned.contains(static_cast<int>(own)))
            start.push_back(Statement::assign(static_cast<int>(own), received[k], out.line));
        else
            variables[own] = received[k];
    }
    substitute(out.body, variables);
    out.body.insert(out.body.begin(), start.begin(), start.end());
    out.parameters = procedure.parameters + more;
    return without_dead_code(std::move(out));
}

}  // namespace

Procedure given_vjp(const Procedure& procedure) {
    Procedure out = *procedure.derivative;
    out.name = procedure.name + "_vjp";
    size_t next = 0;
    for (size_t i = 0; i < procedure.parameters && next < out.results.size(); ++i)
        if (is_floating(procedure.variables[i].dtype))
            out.results[next++].name = "d" + procedure.variables[i].name;
    return out;
}

Procedure given_vjp_of(const Procedure& procedure, size_t result, size_t parameter) {
    Procedure out = of_parameter(procedure, parameter);
    out.name += "_" + procedure.variables[parameter].name;
    const size_t first = procedure.parameters;
    if (out.parameters == first + 1) return out;
    // The gradient that is left is the first parameter behind the procedure's own, whose place may
    // be another one's: what is received has a variable of its own.
    const int moved = out.add_variable("received", out.variables[first].dtype);
    const int which = place_of(procedure.results, result);
    std::vector<Expr> received;
    for (size_t k = 0; first + k < out.parameters; ++k)
        received.push_back(static_cast<int>(k) == which ? out.variable(static_cast<size_t>(moved))
                                                        : zero(out.variables[first + k].dtype));
    const Block start = {Statement::assign(moved, out.variable(first), out.line)};
    return receiving(procedure, std::move(out), received, 1, start);
}

Procedure given_slope(const Procedure& procedure, size_t result, size_t parameter) {
    Procedure out = of_parameter(procedure, parameter);
    out.name = procedure.name + "_d" + procedure.variables[parameter].name;
    out.results[0].name = "d" + procedure.results[result].name;
    std::vector<Expr> received;
    const int which = place_of(procedure.results, result);
    for (size_t k = 0; procedure.parameters + k < out.parameters; ++k)
        received.push_back(Expr::constant(out.variables[procedure.parameters + k].dtype,
                                          static_cast<int>(k) == which ? 1 : 0));
    return receiving(procedure, std::move(out), received);
}

Procedure given_jvp(const Procedure& procedure) {
    user_check<NotSupported>(procedure.arrays.empty(), procedure.name,
                             ": its derivative is one that was given, of which the vector-Jacobian "
                             "product is known, not the forward one. vjp or grad is required. [",
                             procedure.file, ":", procedure.line, "]");
    Procedure out;
    out.name = procedure.name + "_jvp";
    out.file = procedure.file;
    out.line = procedure.line;
    const auto own = static_cast<std::ptrdiff_t>(procedure.parameters);
    out.variables.assign(procedure.variables.begin(), procedure.variables.begin() + own);
    std::vector<int> seeds(procedure.parameters, -1);
    for (size_t i = 0; i < procedure.parameters; ++i)
        if (is_floating(procedure.variables[i].dtype))
            seeds[i] =
                out.add_variable("d" + procedure.variables[i].name, procedure.variables[i].dtype);
    out.parameters = out.variables.size();
    std::vector<Expr> values;
    for (size_t r = 0; r < procedure.results.size(); ++r) {
        const Variable& result = procedure.results[r];
        if (!is_floating(result.dtype)) continue;
        out.results.push_back(
            {procedure.results.size() == 1 ? "dy" : "d" + result.name, result.dtype});
        Expr total;
        const std::vector<Expr> slopes = slopes_of(procedure, r);
        for (size_t i = 0; i < slopes.size(); ++i)
            if (slopes[i])
                total = sum(total, times(slopes[i], out.variable(static_cast<size_t>(seeds[i]))));
        values.push_back(total);
    }
    out.body = {Statement::leave(std::move(values), procedure.line)};
    return out;
}

}  // namespace composit::ir::procedure
