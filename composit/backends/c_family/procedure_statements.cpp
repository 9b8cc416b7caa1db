// Writing procedures: statements, loops, branches.
#include "composit/backends/c_family/procedure_loops.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/procedure_writer.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/iterations.h"

#include <utility>

namespace composit::c_family {

using ir::procedure::ArrayVariable;
using ir::procedure::Block;
using ir::procedure::Statement;
using ir::scalar::Expr;
using Kind = Statement::Kind;

void ProcedureWriter::print_statement(const Block& block, size_t index) {
    const Statement& statement = block[index];
    std::vector<std::string> before;
    switch (statement.kind) {
        case Kind::load:
        case Kind::take: {
            const bool is_idle = homes_.of(statement.variable).mentions == 1;
            const std::string value = element(statement, before);
            for (const std::string& text : before) line(text, statement.line);
            if (is_idle && logs_.has_row(statement)) return;
            if (is_idle && statement.kind == Kind::take)
                return line(array(statement) + ".pop_back();", statement.line);
            if (homes_.is_read_in_place(block, index)) {
                names_[static_cast<size_t>(statement.variable)] = value;
                return;
            }
            return line(target_of(block, index) + " = " + value + ";", statement.line);
        }
        case Kind::store:
        case Kind::add:
        case Kind::append: {
            const Expr& whole = statement.values[0];
            const Expr added = subtracts(statement) ? whole.operand(0) : whole;
            const std::string value = values({added}, before)[0];
            const bool appends = statement.kind == Kind::append;
            const bool is_in_row = appends && logs_.has_row(statement);
            const std::string place = is_in_row ? logs_.element(statement) + " = " + value + ";"
                                      : appends ? array(statement) + ".push_back(" + value + ");"
                                                : element(statement, before);
            for (const std::string& text : before) line(text, statement.line);
            if (appends) return line(place, statement.line);
            const bool in_order = sums_in_order_.contains(&statement);
            return line(statement.kind == Kind::add
                            ? addition(statement, place, value, roundings_, in_order)
                            : assignment(statement, place, value, in_order),
                        statement.line);
        }
        case Kind::allocate: return print_allocation(block, index);
        case Kind::assign: {
            if (is_own_value(statement)) return;
            const std::vector<std::string> value = values(statement.values, before);
            for (const std::string& text : before) line(text, statement.line);
            return line(assignment(statement, target_of(block, index), value[0],
                                   sums_in_order_.contains(&statement)),
                        statement.line);
        }
        case Kind::branch: print_branch(statement, false); return;
        case Kind::loop: print_loop(block, index); return;
        case Kind::stop: line("break;", statement.line); return;
        case Kind::go_on: line("continue;", statement.line); return;
        case Kind::leave: {
            const std::vector<std::string> results = values(statement.values, before);
            for (const std::string& text : before) line(text, statement.line);
            if (results.empty() && &block == &procedure_.body) return;
            if (results.empty()) return line("return;", statement.line);
            if (results.size() == 1) return line("return " + results[0] + ";", statement.line);
            return line(returned(statement.values, results, indent_), statement.line);
        }
        case Kind::expect: {
            const std::string holds = values(statement.values, before)[0];
            for (const std::string& text : before) line(text, statement.line);
            return line("assert(" + holds + ");", statement.line);
        }
    }
}

std::string ProcedureWriter::target_of(const Block& block, size_t index, int assignments) const {
    const Statement& statement = block[index];
    const int number = statement.variable;
    if (!is_declared_by(block, index, number) || reads(statement).contains(number))
        return name(number);
    const bool is_constant = homes_.of(number).assignments == assignments;
    return (is_constant ? "const " : "") + type_name(variable(number).dtype) + " " + name(number);
}

std::string ProcedureWriter::element(const Statement& statement, std::vector<std::string>& before) {
    const bool is_in_row = statement.kind == Kind::take && logs_.has_row(statement);
    return is_in_row ? logs_.element(statement) : elements_.element(statement, before);
}
std::string ProcedureWriter::count_of(size_t array) {
    std::vector<std::string> before;
    const std::string count = elements_.count_of(array, naturals_, before);
    for (const std::string& text : before) line(text);
    return count;
}

std::string ProcedureWriter::array_declaration(size_t array, bool with_size) {
    const std::string type = type_of_elements(procedure_.arrays[array].dtype);
    if (has_fixed_size(procedure_.arrays[array]))
        return type + " " + arrays_[array] + "[" + count_of(array) + "]";
    const std::string count =
        with_size && !procedure_.arrays[array].grows ? "(" + count_of(array) + ")" : "";
    return "std::vector<" + type + "> " + arrays_[array] + count;
}

bool ProcedureWriter::is_declaration(const Block& block, size_t index, size_t array) const {
    const Home& home = homes_.of_array(array);
    return procedure_.arrays[array].role == ArrayVariable::Role::local && home.block == &block &&
           home.first == index && home.assignments == 1 && block[index].kind == Kind::allocate &&
           static_cast<size_t>(block[index].array) == array && !hoisted_.contains(array);
}

void ProcedureWriter::print_allocation(const Block& block, size_t index) {
    const Statement& statement = block[index];
    const auto number = static_cast<size_t>(statement.array);
    const ArrayVariable& known = procedure_.arrays[number];
    const bool is_local = known.role == ArrayVariable::Role::local;
    const std::string zero = zero_of(known.dtype);
    if (is_declaration(block, index, number)) {
        const bool fills = has_fixed_size(known) && statement.is_zeroed;
        return line(array_declaration(number, true) + (fills ? " = {};" : ";"), statement.line);
    }
    if (known.grows) return line(arrays_[number] + ".clear();", statement.line);
    if (is_local && !has_fixed_size(known) && !hoisted_.contains(number)) {
        const std::string count = count_of(number);
        return line(
            arrays_[number] +
                (statement.is_zeroed ? ".assign(" + count + ", " + zero : ".resize(" + count) +
                ");",
            statement.line);
    }
    if (!statement.is_zeroed) {
        if (is_local) return;
        for (const std::string& check : elements_.checks_of(number, naturals_))
            line(check, statement.line);
        return;
    }
    line("fill_zeros(" + arrays_[number] + ", " + count_of(number) + ");", statement.line);
}

void ProcedureWriter::print_branch(const Statement& statement, bool is_continued) {
    std::vector<std::string> before;
    const std::string condition =
        plain_condition(statement.values[0], names_, values(statement.values, before)[0]);
    for (const std::string& text : before) line(text, statement.line);
    line((is_continued ? "} else if (" : "if (") + condition + ") {", statement.line);
    print_inner(statement.body);
    if (statement.otherwise.empty()) return line("}");
    if (is_chain(statement.otherwise)) return print_branch(statement.otherwise[0], true);
    line("} else {");
    print_inner(statement.otherwise);
    line("}");
}

bool ProcedureWriter::is_chain(const Block& block) {
    if (block.size() != 1 || block[0].kind != Kind::branch || part_at(block, 0)) return false;
    for (size_t i = procedure_.parameters; i < homes_.count(); ++i)
        if (is_declared_by(block, 0, static_cast<int>(i))) return false;
    TakenNames trial = taken_;
    return print_statements(block[0].values, names_, trial, &roundings_.variables).lines.empty();
}

bool ProcedureWriter::print_nest(const Block& block, size_t index) {
    const Statement &loop = block[index], *inner = loop.body.data();
    if (part_at(loop.body, 0)) return false;
    const auto nest = nest_of(procedure_, loop);
    if (!nest || counter_of(block, index) != nest->outer ||
        counter_of(loop.body, 0) != nest->inner || homes_.lives_in(loop.body) != 1 ||
        !multiples_of(procedure_, *inner).all.empty())
        return false;
    std::vector<std::string> before;
    const std::string own = name(nest->outer);
    const std::string head =
        head_of(*nest, own, integer(nest->outer_end, before), integer(nest->inner_end, before));
    for (const std::string& text : before) line(text, loop.line);
    elements_.leave_out(nest->outer);
    names_[static_cast<size_t>(nest->inner)] = own;
    if (is_for_vectors(procedure_, *inner) && writes_local(procedure_, *inner))
        line("#pragma GCC ivdep");
    line(head, loop.line);
    print_inner(inner->body);
    line("}");
    return true;
}

void ProcedureWriter::print_loop(const Block& block, size_t index) {
    if (print_nest(block, index)) return;
    const Statement& loop = block[index];
    for (const std::string& text : logs_.begin(loop)) line(text, loop.line);
    if (logs_.says_all_of(loop)) return logs_.end();
    std::vector<std::string> before;
    const int counter = counter_of(block, index);
    std::string first;
    for (const Statement& start : loop.first) {
        std::vector<std::string> lines;
        const std::string simple = plain_integer(start.values[0], names_);
        const std::string value = simple.empty() ? values(start.values, lines)[0] : simple;
        for (const std::string& text : lines) line(text, loop.line);
        const std::string assignment = name(start.variable) + " = " + value;
        const std::string type = type_name(variable(start.variable).dtype) + " ";
        if (counter == start.variable)
            first = type + assignment;
        else
            line((homes_.begins_with(block, index, start.variable) ? type : "") + assignment + ";",
                 loop.line);
    }
    const std::string simple = plain_comparison(loop.values[0], names_);
    const std::string condition = simple.empty() ? values(loop.values, before)[0] : simple;
    const std::string next = steps_of(loop, names_, [&](const Statement& step) {
        std::vector<std::string> lines;
        const std::string value = values(step.values, lines)[0];
        internal_check(lines.empty(), "the step of a loop needs statements");
        return value;
    });
    const std::string head = before.empty() ? condition : "true";
    if (is_short_vector(procedure_, loop)) line("#pragma GCC unroll 1");
    if (before.empty() && is_for_vectors(procedure_, loop) && writes_local(procedure_, loop))
        line("#pragma GCC ivdep");
    if (first.empty() && loop.otherwise.empty())
        line("while (" + head + ") {", loop.line);
    else
        line("for (" + first + "; " + (head == "true" ? "" : head) + "; " + next + ") {",
             loop.line);
    ++indent_;
    if (!before.empty()) {
        for (const std::string& text : before) line(text);
        line("if (!(" + condition + ")) break;");
    }
    if (const std::string ask = question_of(loop, turns_); !ask.empty()) line(ask);
    print_block(loop.body);
    logs_.end();
    --indent_;
    line("}");
}

}  // namespace composit::c_family
