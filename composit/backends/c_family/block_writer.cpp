// Writing blocks: declarations, branches, loops.
#include "composit/backends/c_family/block_writer.h"

#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"

namespace composit::c_family {

using Kind = ir::procedure::Statement::Kind;

bool BlockWriter::is_declared_by(const Block& block, size_t index, int number) const {
    const Home& home = homes_.of(number);
    return number >= static_cast<int>(procedure_.parameters) && home.block == &block &&
           home.first == index;
}

void BlockWriter::declare(const Block& block, size_t index) {
    const Statement& statement = block[index];
    for (size_t i = procedure_.parameters; i < homes_.count(); ++i) {
        const int number = static_cast<int>(i);
        if (!is_declared_by(block, index, number)) continue;
        if (statement.variable == number && !reads(statement).contains(number)) continue;
        if (counter_of(block, index) == number || homes_.begins_with(block, index, number))
            continue;
        const ir::DType dtype = variable(number).dtype;
        line(type_name(dtype) + " " + name(number) + " = " + zero_of(dtype) + ";", statement.line);
    }
    declare_arrays(block, index);
}

std::string BlockWriter::target_of(const Block& block, size_t index, int assignments) const {
    const Statement& statement = block[index];
    const int number = statement.variable;
    if (!is_declared_by(block, index, number) || reads(statement).contains(number))
        return name(number);
    const bool is_constant = homes_.of(number).assignments == assignments;
    return (is_constant ? "const " : "") + type_name(variable(number).dtype) + " " + name(number);
}

void BlockWriter::print_block(const Block& block) {
    for (size_t i = 0; i < block.size();) i += print_at(block, i);
}

void BlockWriter::print_inner(const Block& block) {
    ++indent_;
    print_block(block);
    --indent_;
}

void BlockWriter::print_branch(const Statement& statement, bool is_continued) {
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

bool BlockWriter::is_one_branch(const Block& block) const {
    return block.size() == 1 && block[0].kind == Kind::branch;
}

bool BlockWriter::is_chain(const Block& block) {
    if (!is_one_branch(block)) return false;
    for (size_t i = procedure_.parameters; i < homes_.count(); ++i)
        if (is_declared_by(block, 0, static_cast<int>(i))) return false;
    const TakenNames taken = taken_;
    std::vector<std::string> before;
    values(block[0].values, before);
    taken_ = taken;
    return before.empty();
}

void BlockWriter::print_loop(const Block& block, size_t index) {
    const Statement& loop = block[index];
    if (!begin_loop(loop)) return end_loop();
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
    for (const std::string& hint : hints_of(loop, before.empty())) line(hint);
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
    if (const std::string own = first_line_of(loop); !own.empty()) line(own);
    print_block(loop.body);
    end_loop();
    --indent_;
    line("}");
}

}  // namespace composit::c_family
