// A derivative that a user wrote, restricted to one result or parameter, and turned forward.
#include "composit/ir/procedure/given_derivative.h"

#include "composit/base/error.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/procedure/tangent_rules.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
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

void keep_results(Block& block, const std::vector<size_t>& which) {
    for (Statement& statement : block) {
        if (statement.kind == Kind::leave) {
            std::vector<Expr> kept;
            for (const size_t each : which) kept.push_back(statement.values[each]);
            statement.values = std::move(kept);
        }
        for (Block* inner : {&statement.body, &statement.otherwise}) keep_results(*inner, which);
    }
}

// A derivative that was given for the derivative of a procedure, for what is left of that one: it
// has the procedure's own parameters and, if `kept` is one of those that it receives, that one;
// `received` are the values of all of them. It has one result, of which this one receives a
// gradient.
std::shared_ptr<const Procedure> of_what_is_left(const Procedure& procedure,
                                                 const Procedure& derivative, size_t result,
                                                 const std::vector<Expr>& received, int kept) {
    if (!derivative.derivative) return {};
    Procedure out = *derivative.derivative;
    user_check<NotSupported>(!out.derivative, out.name,
                             ": the third derivative that was given is not known for one result or "
                             "argument alone. vjp of it is required. [",
                             out.file, ":", out.line, "]");
    const size_t own = procedure.parameters, old = out.parameters;
    // The other parameters become variables, with new places, for whom those that stay make room.
    std::vector<Expr> by;
    for (size_t i = 0; i < out.variables.size(); ++i) by.push_back(out.variable(i));
    std::vector<int> moved;
    for (size_t i = own; i < old; ++i) {
        const Variable variable = out.variables[i];
        moved.push_back(out.add_variable(variable.name, variable.dtype));
        by[i] = out.variable(static_cast<size_t>(moved.back()));
    }
    replace_variables(out.body, by, true);
    out.parameters = own + (kept >= 0) + 1;
    Block start;
    size_t next = own;
    for (size_t i = own; i < old; ++i) {
        const size_t place = i - own;
        const bool is_received = place < received.size();
        const bool stays =
            is_received ? static_cast<int>(place) == kept : place - received.size() == result;
        Expr value = is_received ? received[place] : zero(out.variables[i].dtype);
        if (stays) {
            out.variables[next] = out.variables[static_cast<size_t>(moved[place])];
            value = out.variable(next++);
        }
        start.push_back(Statement::assign(moved[place], value, out.line));
    }
    out.body.insert(out.body.begin(), start.begin(), start.end());
    std::vector<size_t> results;
    size_t at = 0;
    for (size_t i = 0; i < derivative.parameters; ++i) {
        if (!is_floating(derivative.variables[i].dtype)) continue;
        if (i < own || static_cast<int>(i - own) == kept) results.push_back(at);
        ++at;
    }
    keep_results(out.body, results);
    std::vector<Variable> left;
    for (const size_t each : results) left.push_back(out.results[each]);
    out.results = std::move(left);
    return std::make_shared<const Procedure>(without_dead_code(std::move(out)));
}

// The derivative for one parameter alone.
Procedure of_parameter(const Procedure& procedure, size_t parameter) {
    Procedure out = given_vjp(procedure);
    const int which = place_of(procedure.variables, parameter);
    internal_check(which >= 0, "the derivative of a parameter that is no float");
    keep_results(out.body, {static_cast<size_t>(which)});
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

Procedure with_derivative(Procedure procedure, const Procedure& derivative) {
    using Role = ArrayVariable::Role;
    std::vector<const ArrayVariable*> known, given, results;  // known: what `given` stands for
    for (const Role role : {Role::input, Role::output})
        for (const ArrayVariable& array : procedure.arrays)
            if (array.role == role && (role == Role::input || is_floating(array.dtype)))
                known.push_back(&array);
    for (const ArrayVariable& array : derivative.arrays) {
        if (array.role == Role::input) given.push_back(&array);
        if (array.role == Role::output) results.push_back(&array);
    }
    // The derivative's extents, in the procedure's words; others stand for nothing there.
    Procedure words = procedure;
    std::vector<Expr> extents;
    for (const Variable& variable : derivative.variables)
        extents.push_back(
            words.variable(static_cast<size_t>(words.add_variable(variable.name, variable.dtype))));
    for (size_t i = 0; i < std::min(known.size(), given.size()); ++i)
        for (size_t axis = 0; axis < given[i]->shape.size() && axis < known[i]->shape.size();
             ++axis) {
            const Expr& own = given[i]->shape[axis];
            if (own.op() == scalar::Op::argument)
                extents[static_cast<size_t>(own.index())] = known[i]->shape[axis];
        }
    size_t result = 0;
    for (size_t i = 0; i < std::min(known.size(), given.size()) && result < results.size(); ++i) {
        if (known[i]->role != Role::input || !is_floating(known[i]->dtype)) continue;
        user_check<TypeError>(
            scalar::structurally_equal(known[i]->shape,
                                       scalar::substitute(results[result++]->shape, extents)),
            derivative.name, ": as the derivative of ", procedure.name, " it returns an array for ",
            given[i]->name,
            " that has not its extents. Those of the argument are required, by their names. [",
            derivative.file, ":", derivative.line, "]");
    }
    procedure.derivative = std::make_shared<const Procedure>(derivative);
    return procedure;
}

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
    const size_t first = procedure.parameters,
                 gradient = static_cast<size_t>(place_of(procedure.variables, parameter));
    const int which = place_of(procedure.results, result);
    std::vector<Expr> zeros;
    for (size_t k = 0; first + k < out.parameters; ++k)
        zeros.push_back(zero(out.variables[first + k].dtype));
    const auto again = of_what_is_left(procedure, *procedure.derivative, gradient, zeros, which);
    if (out.parameters > first + 1) {
        // The gradient that is left is the first parameter behind the procedure's own, whose place
        // may be another one's: what is received has a variable of its own.
        const int moved = out.add_variable("received", out.variables[first].dtype);
        std::vector<Expr> received = zeros;
        received[static_cast<size_t>(which)] = out.variable(static_cast<size_t>(moved));
        const Block start = {Statement::assign(moved, out.variable(first), out.line)};
        out = receiving(procedure, std::move(out), received, 1, start);
    }
    out.derivative = again;
    return out;
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
    const auto gradient = static_cast<size_t>(place_of(procedure.variables, parameter));
    const auto again = of_what_is_left(procedure, *procedure.derivative, gradient, received, -1);
    out = receiving(procedure, std::move(out), received);
    out.derivative = again;
    return out;
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
