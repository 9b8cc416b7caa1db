// Recognising extrema of values, and the functions that stand for them.
#include "composit/backends/c_family/procedure_extremes.h"

#include "composit/backends/c_family/procedure_loops.h"
#include "composit/backends/c_family/procedure_writer.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace composit::c_family {

using ir::procedure::Block;
using ir::procedure::is_variable;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using ir::scalar::structurally_equal;
using Kind = Statement::Kind;

namespace {

// A loop from 0 up by one.
std::optional<ir::procedure::Count> count_from_zero(const Statement& loop) {
    if (loop.kind != Kind::loop) return {};
    const auto count = ir::procedure::count_of(loop);
    const bool is_it =
        count && count->step == 1 && ir::procedure::is_integer_constant(count->begin, 0);
    return is_it ? count : std::nullopt;
}

bool is_call_of(const Expr& value, const char* row) {
    return value.op() == Op::call && value.row() == ir::scalar::table_row(row);
}

// The values of another loop in terms of the variables of the first one, which loads the same.
class SameValues {
  public:
    SameValues(const Procedure& procedure, const Statement& first, const ValuesExtreme& extreme)
        : procedure_(procedure), first_(first), extreme_(extreme) {}

    // Whether "value < m ? …" is what the value says, of a loop with these statements before it.
    bool is_choice(const Expr& value, const Statement& loop, int counter) const {
        if (value.op() != Op::select) return false;
        const Expr& holds = value.operand(0);
        if (holds.op() != (extreme_.is_largest ? Op::less : Op::greater) ||
            !is_variable(holds.operand(1), extreme_.extremum))
            return false;
        std::vector<Expr> by = ir::procedure::all_variables(procedure_);
        const auto as_first = [&](const Expr& x) { return ir::scalar::substitute({x}, by)[0]; };
        by[static_cast<size_t>(counter)] =
            procedure_.variable(static_cast<size_t>(extreme_.counter));
        for (const Statement& each : loop.body) {
            if (each.kind != Kind::load) continue;
            std::vector<Expr> index;
            for (const Expr& axis : each.index) index.push_back(as_first(axis));
            for (const Statement& own : first_.body)
                if (own.kind == Kind::load && own.array == each.array &&
                    structurally_equal(own.index, index))
                    by[static_cast<size_t>(each.variable)] =
                        procedure_.variable(static_cast<size_t>(own.variable));
        }
        return structurally_equal({as_first(holds.operand(0))}, {extreme_.value});
    }

  private:
    const Procedure& procedure_;
    const Statement& first_;
    const ValuesExtreme& extreme_;
};

bool is_number(const Expr& x, double value) {
    return x.op() == Op::constant && x.value() == value && !std::signbit(x.value());
}

// equal = equal + (value < m ? 0 : 1), which returns the choice; else nothing.
Expr counted_by(const Statement& statement, int equal) {
    if (statement.kind != Kind::assign || statement.variable != equal) return {};
    const Expr& sum = statement.values[0];
    if (sum.op() != Op::add || !is_variable(sum.operand(0), equal)) return {};
    const Expr& choice = sum.operand(1);
    const bool is_it = choice.op() == Op::select && is_number(choice.operand(1), 0) &&
                       is_number(choice.operand(2), 1);
    return is_it ? choice : Expr();
}

// The places of what writes in a loop's body, and of what that needs of the body; not `without`.
std::set<size_t> needed_by_writes(const Procedure& procedure, const Block& body, size_t without) {
    std::set<size_t> needed;
    std::set<int> read;
    for (size_t i = body.size(); i-- > 0;) {
        const Statement& each = body[i];
        if (i == without || (!ir::procedure::is_write(each) && !read.contains(each.variable)))
            continue;
        needed.insert(i);
        read.merge(ir::procedure::variables_in(ir::procedure::expressions_of(procedure, each)));
    }
    return needed;
}

// Whether statements give one of the variables a value or write to one of the arrays.
bool changes(const Statement& statement, const std::set<int>& variables,
             const std::set<int>& arrays) {
    const Block one{statement};
    for (const auto& [variable, times] : ir::procedure::assignments_in(one))
        if (variables.contains(variable)) return true;
    const auto all = ir::procedure::all_statements(one);
    return std::any_of(all.begin(), all.end(), [&](const Statement* each) {
        return each->array >= 0 && each->kind != Kind::load && arrays.contains(each->array);
    });
}

}  // namespace

std::optional<ValuesExtreme> values_extreme_at(const Procedure& procedure, const Block& block,
                                               size_t index) {
    if (index + 1 >= block.size() || block[index].kind != Kind::assign) return {};
    const Statement &start = block[index], &loop = block[index + 1];
    const Expr& first = start.values[0];
    const auto count = count_from_zero(loop);
    if (!count || loop.body.empty() || first.op() != Op::constant || !is_floating(first.dtype()) ||
        !std::isinf(first.value()))
        return {};
    const Statement& last = loop.body.back();
    const bool is_largest = first.value() < 0;
    if (last.kind != Kind::assign || last.variable != start.variable ||
        !is_call_of(last.values[0], is_largest ? "maximum" : "minimum") ||
        !is_variable(last.values[0].operand(0), start.variable))
        return {};
    ValuesExtreme made{
        start.variable, count->counter, count->end, last.values[0].operand(1), is_largest, {}, {}};
    // One element has functions of its own, where it has any.
    const bool is_computed = made.value.op() != Op::argument && made.value.op() != Op::constant;
    const Block own{loop};
    std::map<int, int> within = ir::procedure::mentions_in(procedure, own);
    std::map<int, int> all = ir::procedure::mentions_in(procedure, procedure.body);
    bool reads_counter = reads(made.value, made.counter);
    for (size_t i = 0; i + 1 < loop.body.size(); ++i) {
        const Statement& each = loop.body[i];
        if (each.kind != Kind::load || within[each.variable] != all[each.variable]) return {};
        for (const Expr& axis : each.index) reads_counter |= reads(axis, made.counter);
        made.arrays.insert(each.array);
        made.variables.merge(ir::procedure::variables_in(each.index));
    }
    made.variables.merge(ir::procedure::variables_in({made.value, made.count}));
    for (const auto& [variable, times] : ir::procedure::assignments_in(own))
        made.variables.erase(variable);
    if (!is_computed || !reads_counter || within[made.extremum] != 2 ||
        within[made.counter] != all[made.counter])
        return {};
    return made;
}

std::optional<ExtremeSlopes> extreme_slopes_at(const Procedure& procedure, const Block& block,
                                               size_t index, const ValuesExtreme& extreme) {
    const SameValues same(procedure, block[index + 1], extreme);
    ExtremeSlopes made{{index, index + 1}, 0, {}, -1, -1, {}};
    int equal = -1, part = -1;
    const auto is_over_same = [&](const Statement& loop) {
        const auto count = count_from_zero(loop);
        return count && structurally_equal({count->end}, {extreme.count}) ? count->counter : -1;
    };
    size_t i = index + 2;
    const auto begins_count = [&](const Statement& each) {
        return each.kind == Kind::assign && is_floating(each.values[0].dtype()) &&
               is_number(each.values[0], 0);
    };
    // The number of equal ones.
    for (; i + 1 < block.size(); ++i) {
        const int counter = is_over_same(block[i + 1]);
        const Block& body = block[i + 1].body;
        if (!begins_count(block[i]) || counter < 0 || body.empty()) continue;
        const Expr choice = counted_by(body.back(), block[i].variable);
        const bool only_loads =
            std::all_of(body.begin(), body.end() - 1,
                        [](const Statement& each) { return each.kind == Kind::load; });
        if (!choice || !only_loads || !same.is_choice(choice, block[i + 1], counter)) continue;
        equal = block[i].variable;
        made.said.insert({i, i + 1});
        break;
    }
    if (equal < 0) return {};
    // Each one's part of the gradient.
    for (i += 2; i < block.size() && part < 0; ++i) {
        if (block[i].kind != Kind::assign || block[i].values[0].op() != Op::divide ||
            !is_variable(block[i].values[0].operand(1), equal))
            continue;
        part = block[i].variable;
        made.gradient = block[i].values[0].operand(0);
        made.said.insert(i);
    }
    if (part < 0) return {};
    // What receives it.
    for (; i < block.size() && made.slope < 0; ++i) {
        made.counter = is_over_same(block[i]);
        const Block& body = block[i].body;
        for (size_t k = 0; made.counter >= 0 && k < body.size(); ++k) {
            if (body[k].kind != Kind::assign ||
                !same.is_choice(body[k].values[0], block[i], made.counter))
                continue;
            const Expr& choice = body[k].values[0];
            if (!is_number(choice.operand(1), 0) || !is_variable(choice.operand(2), part))
                return {};
            made.slope = body[k].variable;
            made.last = i;
            made.receiving = needed_by_writes(procedure, body, k);
        }
    }
    if (made.slope < 0) return {};
    const Block& body = block[made.last].body;
    const bool is_plain = std::all_of(body.begin(), body.end(), [](const Statement& each) {
        return ir::procedure::is_value(each) || ir::procedure::is_write(each);
    });
    if (!is_plain) return {};
    // Nothing else mentions what the call finds; what it does is named by its loops alone.
    Block said;
    for (const size_t each : made.said) said.push_back(block[each]);
    said.push_back(block[made.last]);
    std::map<int, int> within = ir::procedure::mentions_in(procedure, said);
    std::map<int, int> all = ir::procedure::mentions_in(procedure, procedure.body);
    std::set<int> own = {extreme.extremum, equal, part, made.counter, made.slope};
    for (const auto& [variable, times] : ir::procedure::assignments_in(body)) own.insert(variable);
    for (const int variable : own)
        if (within[variable] != all[variable]) return {};
    const std::set<int>&variables = extreme.variables, &arrays = extreme.arrays;
    std::set<int> received;
    bool reads_counter = false;
    for (const size_t k : made.receiving) {
        const auto values = ir::procedure::expressions_of(procedure, body[k]);
        received.merge(ir::procedure::variables_in(values));
        for (const Expr& value : values) reads_counter |= reads(value, made.counter);
    }
    const bool is_free = !received.contains(extreme.extremum) && !received.contains(equal) &&
                         !received.contains(part) && received.contains(made.slope);
    if (!is_free || !reads_counter || changes(block[made.last], variables, arrays)) return {};
    std::set<int> with_gradient = ir::procedure::variables_in({made.gradient});
    with_gradient.insert(variables.begin(), variables.end());
    for (size_t k = index + 2; k < made.last; ++k) {
        if (made.said.contains(k)) continue;
        const Block one{block[k]};
        if (ir::procedure::may_exit(one)) return {};
        // The gradient has its value before its part has.
        const bool is_behind = k > *made.said.rbegin();
        if (changes(block[k], is_behind ? with_gradient : variables, arrays)) return {};
    }
    return made;
}

std::string values_extreme_functions(ir::DType dtype, bool is_largest) {
    const std::string type = type_name(dtype), row = is_largest ? "maximum_" : "minimum_";
    return text("[[maybe_unused]] inline __attribute__((always_inline, const)) ", type, " ",
                is_largest ? "largest_of(" : "least_of(", type, " x, ", type, " y) {\n    return ",
                row, dtype, "(x, y);\n}\n");
}

std::string values_extreme_templates(bool is_largest) {
    const std::string name = is_largest ? "largest" : "least";
    const std::string first = is_largest ? "-__builtin_inf()" : "__builtin_inf()";
    const std::string loses = is_largest ? " < " : " > ";
    return "// The " + name + " of the values of 0, 1, …, n - 1; a NaN where one is.\n" +
           "template <class Value>\ninline __attribute__((always_inline)) auto " + name +
           "(int64_t n, Value value) {\n    auto x = decltype(value(n))(" + first +
           ");\n    for (int64_t i = 0; i < n; ++i) x = " + name +
           "_of(x, value(i));\n    return x;\n}\n" +
           "// Gives `receive` what each value has of the gradient g of the " + name +
           ",\n// which those that are equal to it share.\n" +
           "template <class T, class Value, class Receive>\n" +
           "inline __attribute__((always_inline)) void " + name +
           "_vjp(T g, int64_t n, Value value, Receive receive) {\n    const T x = " + name +
           "(n, value);\n    T equal = 0;\n    for (int64_t i = 0; i < n; ++i) equal += value(i)" +
           loses + "x ? T(0) : T(1);\n    const T part = g / equal;\n" +
           "    for (int64_t i = 0; i < n; ++i) receive(i, value(i)" + loses +
           "x ? T(0) : part);\n}\n\n";
}

// ----- calls

bool ProcedureWriter::has_part_in(const Block& block, size_t begin, size_t end) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& part) {
        const bool meets = part->block == &block && part->begin < end && begin < part->end;
        return meets || std::any_of(block.begin() + static_cast<std::ptrdiff_t>(begin),
                                    block.begin() + static_cast<std::ptrdiff_t>(end),
                                    [&](const Statement& each) {
                                        return part->block == &each.body ||
                                               part->moved.contains(&each);
                                    });
    });
}

// "[&](int64_t k) { return x[k] + y[k]; }"; nothing where that takes more than an expression.
std::string ProcedureWriter::value_function(const Block& body, const ValuesExtreme& extreme) {
    const TakenNames taken = taken_;
    const std::vector<std::string> names = names_;
    std::vector<std::string> before;
    bool is_short = true;
    for (size_t i = 0; i + 1 < body.size() && is_short; ++i) {
        is_short = homes_.is_read_in_place(body, i);
        if (is_short) names_[static_cast<size_t>(body[i].variable)] = element(body[i], before);
    }
    const std::string value = is_short ? values({extreme.value}, before)[0] : "";
    names_ = names;
    if (is_short && before.empty())
        return text("[&](int64_t ", name(extreme.counter), ") { return ", value, "; }");
    taken_ = taken;
    return "";
}

size_t ProcedureWriter::print_values_extreme(const Block& block, size_t i) {
    const auto extreme = values_extreme_at(procedure_, block, i);
    if (!extreme || has_part_in(block, i, i + 2)) return 0;
    const std::string value = value_function(block[i + 1].body, *extreme);
    if (value.empty()) return 0;
    const std::string function = extreme->is_largest ? "largest" : "least";
    std::vector<std::string> before;
    if (auto slopes = extreme_slopes_at(procedure_, block, i, *extreme)) {
        const bool is_rounded = roundings_.variables.rounded.contains(slopes->slope);
        if (!is_rounded && !has_part_in(block, i, slopes->last + 1)) {
            for (const size_t place : slopes->said) said_elsewhere_.insert(&block[place]);
            slope_calls_[&block[slopes->last]] = {*slopes, function + "_vjp", value};
            return 1;
        }
    }
    const std::string count = integer(extreme->count, before);
    for (const std::string& text : before) line(text, block[i].line);
    const std::string call = text(function, "(", count, ", ", value, ")");
    if (homes_.of(extreme->extremum).block == &block &&
        reader_of(procedure_, block, i, extreme->extremum, {extreme->variables, extreme->arrays}))
        names_[static_cast<size_t>(extreme->extremum)] = call;
    else
        line(target_of(block, i, 2) + " = " + call + ";", block[i].line);
    return 2;
}

void ProcedureWriter::print_slopes(const Statement& loop, const SlopeCall& call) {
    std::vector<std::string> before;
    const std::string gradient = values({call.slopes.gradient}, before)[0];
    const auto count = ir::procedure::count_of(loop);
    const std::string times = integer(count->end, before);
    for (const std::string& text : before) line(text, loop.line);
    const std::string type = type_name(variable(call.slopes.slope).dtype);
    line(text(call.function, "(", gradient, ", ", times, ", ", call.value, ", [&](int64_t ",
              name(call.slopes.counter), ", ", type, " ", name(call.slopes.slope), ") {"),
         loop.line);
    ++indent_;
    for (size_t k = 0; k < loop.body.size();)
        k += call.slopes.receiving.contains(k) ? print_at(loop.body, k) : 1;
    --indent_;
    line("});");
}

}  // namespace composit::c_family
