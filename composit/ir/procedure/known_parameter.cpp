// with_last_parameter: a constant in place of a parameter, and what becomes simpler by it.
#include "composit/ir/procedure/known_parameter.h"

#include "composit/base/error.h"
#include "composit/ir/procedure/callable.h"
#include "composit/ir/procedure/reverse_again.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

void simplify(Block& block) {
    for (Statement& statement : block) {
        for (auto* values : {&statement.values, &statement.index})
            if (!values->empty()) *values = scalar::simplify(*values);
        for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
            simplify(*inner);
    }
}

void drop_last_result(Block& block) {
    for (Statement& statement : block) {
        if (statement.kind == Kind::leave) statement.values.pop_back();
        for (Block* inner : {&statement.body, &statement.otherwise}) drop_last_result(*inner);
    }
}

void replace_in_shapes(Procedure& procedure, const std::vector<Expr>& by) {
    for (ArrayVariable& array : procedure.arrays)
        if (!array.shape.empty()) array.shape = scalar::substitute(array.shape, by);
}

// The same procedure, whose parameter is behind the others; in the head, too.
Procedure with_parameter_last(Procedure procedure, size_t parameter) {
    const size_t last = procedure.parameters - 1;
    std::vector<int> moved;
    for (size_t i = 0; i < procedure.variables.size(); ++i)
        moved.push_back(static_cast<int>(i == parameter               ? last
                                         : i > parameter && i <= last ? i - 1
                                                                      : i));
    const auto first = procedure.variables.begin();
    std::rotate(first + static_cast<std::ptrdiff_t>(parameter),
                first + static_cast<std::ptrdiff_t>(parameter) + 1,
                first + static_cast<std::ptrdiff_t>(procedure.parameters));
    std::vector<Expr> by;
    for (const int number : moved) by.push_back(procedure.variable(static_cast<size_t>(number)));
    replace_variables(procedure.body, by, true);
    replace_in_shapes(procedure, by);
    for (int& each : procedure.head)
        if (each >= 0) each = moved[static_cast<size_t>(each)];
    std::stable_partition(procedure.head.begin(), procedure.head.end(),
                          [&](int each) { return each != static_cast<int>(last); });
    return procedure;
}

// The procedure's derivative takes the parameter, too, and returns last what it receives.
Procedure restricted(const Procedure& derivative, const Procedure& procedure, double value,
                     const std::string& name) {
    const size_t operand = Callable(procedure).operands().size() - 1;
    const int parameter = Callable(derivative).operands()[operand];
    internal_check(parameter >= 0, "a gradient that is an array");
    Procedure out = derivative;
    out.derivative = out.reverse_of = {};  // of the results that it had
    drop_last_result(out.body);
    out.results.pop_back();
    return with_last_parameter(with_parameter_last(std::move(out), static_cast<size_t>(parameter)),
                               value, name);
}

}  // namespace

Procedure with_last_parameter(const Procedure& procedure, double value, const std::string& name) {
    Procedure out = procedure;
    const size_t last = out.parameters - 1;
    const DType dtype = out.variables[last].dtype;
    internal_check(
        is_floating(dtype) && (out.head.empty() || out.head.back() == static_cast<int>(last)),
        "the last parameter is no float, or not the last of the text");
    const Expr constant = Expr::constant(dtype, value);
    if (assignments_in(out.body).contains(static_cast<int>(last))) {
        out.body.insert(out.body.begin(),
                        Statement::assign(static_cast<int>(last), constant, out.line));
    } else {
        std::vector<Expr> by = all_variables(out);
        by[last] = constant;
        replace_variables(out.body, by, false);
        replace_in_shapes(out, by);
    }
    simplify(out.body);
    --out.parameters;  // it is one of the other variables now
    if (!out.head.empty()) out.head.pop_back();
    out.name = name;
    out.of_each_row = out.reverse_of = out.derivative = out.for_derivatives = {};
    if (procedure.derivative || keeps_tapes(procedure)) {
        const Procedure& derivative =
            procedure.derivative ? *procedure.derivative : reverse(procedure);
        out.derivative = std::make_shared<const Procedure>(
            restricted(derivative, procedure, value, name + "_vjp"));
    }
    return without_dead_code(std::move(out));
}

}  // namespace composit::ir::procedure
