// Preparations of reverse accumulation: names for what is computed long, and what has an adjoint.
#include "composit/ir/procedure/reverse_parts.h"

#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <map>

namespace composit::ir::procedure {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;
using scalar::Op;

namespace {

size_t floats_of(const Expr& expr) {
    size_t count = 0;
    for (const Expr& operand : expr.operands()) count += is_floating(operand.dtype());
    return count;
}

}  // namespace

bool is_named_call(const Expr& expr) {
    if (!is_floating(expr.dtype()) || floats_of(expr) == 0) return false;
    if (expr.op() == Op::square_root) return true;
    if (expr.op() != Op::call) return false;
    std::vector<DType> dtypes;
    for (const Expr& operand : expr.operands()) dtypes.push_back(operand.dtype());
    const auto& specialisation = scalar::specialise(expr.row(), dtypes);
    return !specialisation.is_one_operation && expr.row()->name != "square" &&
           expr.row()->name != "cube" && expr.row()->name != "fourth";
}

// What a choice may leave out keeps its place: 0 times the slope of what is not taken would be
// no zero where that is infinite.
std::set<const scalar::ExprNode*> chosen_from(const Expr& value) {
    std::vector<Expr> sides;
    for (const Expr& expr : scalar::topological_order({value}))
        if (expr.op() == Op::select) {
            sides.push_back(expr.operand(1));
            sides.push_back(expr.operand(2));
        }
    std::set<const scalar::ExprNode*> found;
    for (const Expr& expr : scalar::topological_order(sides)) found.insert(expr.id());
    return found;
}

Expr with_named_parts(const Statement& statement, const NameForPart& name_for) {
    const Expr& whole = statement.values[0];
    const std::set<const scalar::ExprNode*> chosen = chosen_from(whole);
    std::map<const scalar::ExprNode*, Expr> made;
    for (const Expr& part : scalar::topological_order({whole})) {
        std::vector<Expr> operands;
        bool is_changed = false;
        for (const Expr& operand : part.operands()) {
            operands.push_back(made.at(operand.id()));
            is_changed |= !(operands.back() == operand);
        }
        Expr computed = is_changed ? part.with_operands(std::move(operands)) : part;
        const bool is_assigned = part == whole && statement.kind == Kind::assign;
        const Expr name =
            is_assigned || chosen.contains(part.id()) ? Expr() : name_for(part, computed);
        made[part.id()] = name ? name : computed;
    }
    return made.at(whole.id());
}

namespace {

std::string name_of(const Expr& expr) {
    const std::string name =
        expr.op() == Op::call ? expr.row()->name : std::string(scalar::name(expr.op()));
    return name.substr(0, name.find('.'));
}

// A function of what several variables make: its derivative is computed once, for all of them.
std::map<const scalar::ExprNode*, std::string> shared_operands(const Expr& value) {
    std::map<const scalar::ExprNode*, std::string> found;
    for (const Expr& expr : scalar::topological_order({value})) {
        if (!is_named_call(expr)) continue;
        for (const Expr& operand : expr.operands())
            if (is_floating(operand.dtype()) && floats_read({operand}).size() > 1)
                found[operand.id()] = name_of(expr) + "_of";
    }
    return found;
}

void name_calls(Statement& statement, Block& out, Procedure& procedure) {
    const auto shared = shared_operands(statement.values[0]);
    statement.values[0] = with_named_parts(statement, [&](const Expr& part, const Expr& computed) {
        const auto operand = shared.find(part.id());
        if (!is_named_call(part) && operand == shared.end()) return Expr();
        const std::string wanted = operand != shared.end() ? operand->second : name_of(part);
        const int name = procedure.add_variable(wanted, part.dtype());
        out.push_back(Statement::assign(name, computed, statement.line));
        return procedure.variable(static_cast<size_t>(name));
    });
}

}  // namespace

void name_calls(Block& block, Procedure& procedure) {
    Block out;
    for (Statement& statement : block) {
        name_calls(statement.body, procedure);
        if (statement.kind != Kind::loop) name_calls(statement.otherwise, procedure);
        const bool is_value = statement.kind == Kind::assign || statement.kind == Kind::store ||
                              statement.kind == Kind::add;
        if (is_value && is_floating(statement.values[0].dtype()))
            name_calls(statement, out, procedure);
        out.push_back(std::move(statement));
    }
    block = std::move(out);
}

std::vector<int> floats_read(const std::vector<Expr>& values) {
    std::set<int> found;
    for (const Expr& expr : scalar::topological_order(values))
        if (expr.op() == Op::argument && is_floating(expr.dtype())) found.insert(expr.index());
    return {found.begin(), found.end()};
}

namespace {

// Whether no derivative comes through, as of conditions; a float of another one's bits is refused
// where its derivative is asked for.
bool is_constant_in_pieces(const Expr& expr) {
    if (expr.op() == Op::call) return expr.row()->is_piecewise_constant;
    return expr.dtype() == DType::boolean || (expr.op() == Op::cast && !is_floating(expr.dtype()));
}

void add_derived_from(const Expr& expr, std::set<const scalar::ExprNode*>& seen,
                      std::set<int>& found) {
    if (!seen.insert(expr.id()).second || is_constant_in_pieces(expr)) return;
    if (expr.op() == Op::argument && is_floating(expr.dtype())) found.insert(expr.index());
    for (const Expr& operand : expr.operands()) add_derived_from(operand, seen, found);
}

std::vector<ValueFlow> flows_in(const Block& body) {
    std::vector<ValueFlow> flows;
    for (const Statement* statement : all_statements(body))
        if (std::optional<ValueFlow> flow = flow_of(*statement)) flows.push_back(std::move(*flow));
    return flows;
}

}  // namespace

std::vector<int> derived_from(const std::vector<Expr>& values) {
    std::set<const scalar::ExprNode*> seen;
    std::set<int> found;
    for (const Expr& value : values) add_derived_from(value, seen, found);
    return {found.begin(), found.end()};
}

std::optional<ValueFlow> flow_of(const Statement& statement) {
    const int array = -1 - statement.array;
    switch (statement.kind) {
        case Kind::load:
        case Kind::take: return ValueFlow{statement.variable, {array}};
        case Kind::assign: return ValueFlow{statement.variable, derived_from(statement.values)};
        case Kind::store:
        case Kind::add:
        case Kind::append: return ValueFlow{array, derived_from(statement.values)};
        default: return {};
    }
}

std::set<int> varied_in(const Procedure& procedure, const Block& body) {
    std::set<int> varied;
    for (size_t i = 0; i < procedure.parameters; ++i)
        if (is_floating(procedure.variables[i].dtype)) varied.insert(static_cast<int>(i));
    for (size_t i = 0; i < procedure.arrays.size(); ++i)
        if (is_floating(procedure.arrays[i].dtype) && procedure.arrays[i].role == Role::input)
            varied.insert(-1 - static_cast<int>(i));
    const std::vector<ValueFlow> flows = flows_in(body);
    for (bool grew = true; grew;) {
        grew = false;
        for (const ValueFlow& flow : flows)
            for (const int each : flow.from)
                if (varied.contains(each)) grew |= varied.insert(flow.to).second;
    }
    return varied;
}

std::set<int> active_in(const Procedure& procedure, const Block& body,
                        const std::vector<int>& results) {
    std::set<int> useful(results.begin(), results.end());
    for (size_t i = 0; i < procedure.arrays.size(); ++i)
        if (is_floating(procedure.arrays[i].dtype) && procedure.arrays[i].role == Role::output)
            useful.insert(-1 - static_cast<int>(i));
    const std::vector<ValueFlow> flows = flows_in(body);
    for (bool grew = true; grew;) {
        const size_t before = useful.size();
        for (const ValueFlow& flow : flows)
            if (useful.contains(flow.to)) useful.insert(flow.from.begin(), flow.from.end());
        grew = useful.size() != before;
    }
    std::set<int> active;
    for (const int each : varied_in(procedure, body))
        if (useful.contains(each)) active.insert(each);
    return active;
}

bool is_in_any_order(const Procedure& procedure, const Block& body, int counter,
                     const std::set<int>& outliving) {
    const std::map<int, int> assigned = assignments_in(body);
    std::set<int> carried = exposed_in(procedure, body), allocated, loaded, written;
    carried.insert(outliving.begin(), outliving.end());
    std::erase_if(carried, [&](int variable) { return !assigned.contains(variable); });
    for (const Statement* statement : all_statements(body)) {
        std::map<int, int> reads;
        const std::vector<Expr> values = expressions_of(procedure, *statement);
        for (const Expr& expr : scalar::topological_order(values))
            for (const Expr& operand : expr.operands())
                if (operand.op() == Op::argument) ++reads[operand.index()];
        for (const Expr& value : values)
            if (value.op() == Op::argument) ++reads[value.index()];
        // variable = variable + …
        const bool adds = statement->kind == Kind::assign && statement->values[0].op() == Op::add &&
                          statement->values[0].operand(0).op() == Op::argument &&
                          statement->values[0].operand(0).index() == statement->variable;
        for (const auto& [variable, times] : reads)
            if (carried.contains(variable) &&
                (!adds || variable != statement->variable || times != 1))
                return false;
        if (carried.contains(statement->variable) && !adds) return false;
        if (statement->array < 0) continue;
        if (statement->kind == Kind::allocate)
            allocated.insert(statement->array);
        else
            (statement->kind == Kind::load ? loaded : written).insert(statement->array);
    }
    for (const int array : written)
        if (loaded.contains(array) && !allocated.contains(array) &&
            !has_own_elements(procedure, body, counter, array))
            return false;
    return !assigned.contains(counter);
}

Block::const_iterator assignment_of(const Block& block, int variable) {
    return std::find_if(block.begin(), block.end(), [variable](const Statement& each) {
        return each.kind == Kind::assign && each.variable == variable;
    });
}

std::set<int> sums_in(const Procedure& procedure, const Block& body, const std::set<int>& carried) {
    std::set<int> found;
    if (may_exit(body)) return found;
    std::map<int, int> assigned = assignments_in(body);
    for (const int variable : carried) {
        const auto made = assignment_of(body, variable);
        const Block before(body.begin(), made);
        if (made == body.end() || assigned[variable] != 1 ||
            mentions_in(procedure, before).contains(variable))
            continue;
        const Expr& value = made->values[0];
        const bool adds = value.op() == Op::add || value.op() == Op::subtract;
        if (adds && is_floating(value.dtype()) && is_variable(value.operand(0), variable) &&
            !variables_in({value.operand(1)}).contains(variable))
            found.insert(variable);
    }
    return found;
}

Statement counted_back(const Procedure& procedure, const Count& count, const Expr& begin,
                       Block body, const SourceLine& line) {
    const Expr here = procedure.variable(static_cast<size_t>(count.counter));
    const bool is_up = count.step > 0;
    Expr last = is_up ? one_less(count.end) : one_more(count.end);
    if (count.step != 1 && count.step != -1)
        last = begin + (trips_of(procedure, count, begin) - integer(1)) * integer(count.step);
    // One more than the largest integer is no integer.
    const bool is_below = one_more(begin).op() != Op::add;
    const Expr next = is_up ? here - integer(count.step) : here + integer(-count.step);
    return Statement::loop({Statement::assign(count.counter, last, line)},
                           is_up      ? here >= begin
                           : is_below ? here < one_more(begin)
                                      : here <= begin,
                           std::move(body), {Statement::assign(count.counter, next, line)}, line);
}

}  // namespace composit::ir::procedure
