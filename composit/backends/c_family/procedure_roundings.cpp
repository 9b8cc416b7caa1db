#include "composit/backends/c_family/procedure_roundings.h"

#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/base/text.h"

namespace composit::c_family {
namespace {

using ir::procedure::Statement;
using Kind = Statement::Kind;

// Whether it says more than before.
bool enter(Roundings& known, int number, const Shape& shape) {
    bool is_new = false;
    if (shape.is_product) is_new |= known.products.insert(number).second;
    if (shape.is_negated) is_new |= known.negated.insert(number).second;
    if (shape.is_constant) is_new |= known.constants.insert(number).second;
    return is_new;
}

Shape shape_in(const Roundings& known, int number) {
    return {known.products.contains(number), known.negated.contains(number),
            known.constants.contains(number)};
}

Shape shape_of(const ir::scalar::Expr& value, const ProcedureRoundings& known) {
    Fusing fusing(known.variables);
    for (const ir::scalar::Expr& each : ir::scalar::topological_order({value}))
        fusing.shape_of(each);
    return fusing.shape_of(value);
}

// Variables that are products, computed by one statement, and would be rounded where they are read,
// at two places or more.
std::set<int> rounded_where_computed(const ir::procedure::Procedure& procedure,
                                     const ProcedureRoundings& known) {
    std::map<int, int> statements, places;
    for (const Statement* each : ir::procedure::all_statements(procedure.body)) {
        // One that is part of a call may stand in a function of its own.
        if (each->variable >= 0)
            statements[each->variable] += each->kind == Kind::assign && !each->line.call ? 1 : 2;
        Fusing fusing(known.variables);
        for (const ir::scalar::Expr& value : ir::scalar::topological_order(each->values)) {
            fusing.shape_of(value);
            for (size_t i = 0; i < value.operands().size(); ++i)
                if (const ir::scalar::Expr& operand = value.operands()[i];
                    operand.op() == ir::scalar::Op::argument && fusing.is_rounded(value, i))
                    ++places[operand.index()];
        }
    }
    std::set<int> found;
    for (const auto& [variable, count] : places)
        if (count > 1 && statements[variable] == 1 &&
            static_cast<size_t>(variable) >= procedure.parameters)
            found.insert(variable);
    return found;
}

void find_shapes(const ir::procedure::Procedure& procedure, ProcedureRoundings& known) {
    known.variables.integers = intervals_of(procedure);
    const std::vector<const Statement*> all = ir::procedure::all_statements(procedure.body);
    std::set<int> loaded;
    for (const Statement* each : all)
        if (each->kind == Kind::load || each->kind == Kind::take) loaded.insert(each->variable);
    for (size_t i = procedure.parameters; i < procedure.variables.size(); ++i)
        if (const int variable = static_cast<int>(i); !loaded.contains(variable))
            known.variables.computed.insert(variable);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (const Statement* each : all) {
            switch (each->kind) {
                case Kind::load:
                case Kind::take:
                    has_changed |=
                        enter(known.variables, each->variable, shape_in(known.arrays, each->array));
                    break;
                case Kind::assign: {
                    Shape shape = shape_of(each->values[0], known);
                    if (known.variables.rounded.contains(each->variable)) shape.is_product = false;
                    has_changed |= enter(known.variables, each->variable, shape);
                    break;
                }
                case Kind::store:
                case Kind::append:
                    has_changed |=
                        enter(known.arrays, each->array, shape_of(each->values[0], known));
                    break;
                case Kind::allocate:
                    has_changed |=
                        enter(known.arrays, each->array, {false, false, each->is_zeroed});
                    break;
                case Kind::add:  // to 0, maybe
                    has_changed |= enter(known.arrays, each->array, {false, true, false});
                    break;
                default: break;
            }
        }
    }
}

}  // namespace

ProcedureRoundings roundings_of(const ir::procedure::Procedure& procedure, bool at_once) {
    ProcedureRoundings known;
    find_shapes(procedure, known);
    if (!at_once) return known;
    ProcedureRoundings made;
    made.variables.rounded = rounded_where_computed(procedure, known);
    find_shapes(procedure, made);
    return made;
}

bool subtracts(const Statement& statement) {
    return statement.kind == Kind::add && statement.values[0].op() == ir::scalar::Op::negate;
}

std::string addition(const Statement& statement, const std::string& place, const std::string& value,
                     const ProcedureRoundings& known, bool in_order, bool is_c) {
    const Shape own = shape_in(known.arrays, statement.array);
    const Shape added = shape_of(statement.values[0], known);
    const std::string term = added.is_product && own.is_negated ? "rounded(" + value + ")" : value;
    const bool is_rounded = own.is_product && added.is_negated;
    const bool is_less = subtracts(statement);
    const std::string sign = is_less ? "-" : "+";
    if (!is_rounded && !in_order) return place + " " + sign + "= " + term + ";";
    if (!is_rounded) return added_in_order(place, sign, term);
    if (!is_less && !is_c)
        return text("add_to_rounded", in_order ? "_in_order(" : "(", place, ", ", term, ");");
    const ir::scalar::Expr& whole = statement.values[0];
    const ir::scalar::Op op = (is_less ? ir::scalar::Expr(whole.operand(0)) : whole).op();
    const bool binds = op == ir::scalar::Op::multiply || op == ir::scalar::Op::divide ||
                       op == ir::scalar::Op::call;
    const std::string first = is_rounded ? "rounded(" + place + ")" : place;
    const std::string sum = text(first, " ", sign, " ", binds ? term : factor(term));
    return text(place, " = ", in_order ? "in_order(" + sum + ")" : sum, ";");
}

}  // namespace composit::c_family
