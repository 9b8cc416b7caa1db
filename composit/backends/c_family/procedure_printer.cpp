// Printing procedures: where variables are declared, statements, marks.
#include "composit/backends/c_family/procedure_printer.h"

#include "composit/backends/c_family/procedure_variables.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

namespace composit::c_family {
namespace {

using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::procedure::Variable;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

constexpr size_t longest_line = 100;

std::string zero_of(ir::DType dtype) {
    return dtype == ir::DType::boolean ? "false" : literal(dtype, {});
}

class Printer {
  public:
    explicit Printer(const Procedure& procedure) : procedure_(procedure), homes_(procedure) {
        for (const Variable& variable : procedure.variables)
            names_.push_back(unique_name(variable.name, taken_));
    }

    std::string run() {
        print_block(procedure_.body);
        return out_;
    }
    const std::vector<std::string>& names() const { return names_; }

  private:
    const Variable& variable(int number) const {
        return procedure_.variables[static_cast<size_t>(number)];
    }
    const std::string& name(int number) const { return names_[static_cast<size_t>(number)]; }

    void line(const std::string& text, int source_line = 0) {
        std::string printed(indent_ * 4, ' ');
        printed += text;
        if (source_line != 0 && source_line != marked_ && !procedure_.file.empty()) {
            const std::string mark = composit::text("// ", procedure_.file, ":", source_line);
            if (printed.size() + mark.size() + 2 <= longest_line)
                printed += "  " + mark;
            else
                printed.insert(0, std::string(indent_ * 4, ' ') + mark + "\n");
            marked_ = source_line;
        }
        out_ += printed + "\n";
    }

    // Values as texts; what they share or is long comes before, as constants.
    std::vector<std::string> values(const Statement& statement, std::vector<std::string>& before) {
        const Statements printed = print_statements(statement.values, names_, taken_);
        for (const std::string& text : printed.lines) before.push_back(plain(text));
        std::vector<std::string> results;
        for (const std::string& text : printed.results) results.push_back(plain(text));
        return results;
    }

    // Small integers without the suffix that says their width, where nothing depends on it.
    static std::string plain(const std::string& text) {
        if (text.find("<<") != std::string::npos || text.find(">>") != std::string::npos)
            return text;
        std::string out;
        for (size_t i = 0; i < text.size();) {
            size_t end = i;
            while (end < text.size() && is_word(text[end])) ++end;
            std::string word = text.substr(i, std::max<size_t>(end - i, 1));
            const bool is_wide = word.size() > 2 && word.size() < 12 && std::isdigit(word[0]) &&
                                 word.find_first_not_of("0123456789") == word.size() - 2 &&
                                 word.substr(word.size() - 2) == "ll";
            out += is_wide ? word.substr(0, word.size() - 2) : word;
            i += word.size();
        }
        return out;
    }
    static bool is_word(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    }

    // "+", where a value is its own variable and something: x = x + y. Empty: it is not.
    std::string own_operator(const Statement& statement, const std::string& value) const {
        const Expr& expr = statement.values[0];
        if (expr.operands().size() != 2 || expr.operand(0).op() != Op::argument ||
            expr.operand(0).index() != statement.variable)
            return "";
        for (const char* symbol : {"+", "-", "*", "/"})
            if (value.starts_with(name(statement.variable) + " " + symbol + " ")) return symbol;
        return "";
    }

    bool is_declared_by(const Block& block, size_t index, int number) const {
        const Home& home = homes_.of(number);
        return number >= static_cast<int>(procedure_.parameters) && home.block == &block &&
               home.first == index;
    }

    // What cannot be declared where it is assigned is declared before the statement.
    void declare(const Block& block, size_t index) {
        const Statement& statement = block[index];
        for (size_t i = procedure_.parameters; i < homes_.count(); ++i) {
            const int number = static_cast<int>(i);
            if (!is_declared_by(block, index, number)) continue;
            if (statement.kind == Kind::assign && statement.variable == number &&
                !read_by(statement.values).contains(number))
                continue;
            if (counter_of(block, index) == number) continue;
            const ir::DType dtype = variable(number).dtype;
            line(type_name(dtype) + " " + name(number) + " = " + plain(zero_of(dtype)) + ";",
                 statement.line);
        }
    }

    // The variable that a loop's head declares; -1: none.
    int counter_of(const Block& block, size_t index) const {
        const Statement& statement = block[index];
        if (statement.kind != Kind::loop || statement.first.size() != 1) return -1;
        const int number = statement.first[0].variable;
        return is_declared_by(block, index, number) ? number : -1;
    }

    void print_block(const Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            declare(block, i);
            print_statement(block, i);
        }
    }

    void print_inner(const Block& block) {
        ++indent_;
        print_block(block);
        --indent_;
    }

    void print_statement(const Block& block, size_t index) {
        const Statement& statement = block[index];
        std::vector<std::string> before;
        switch (statement.kind) {
            case Kind::assign: {
                const std::vector<std::string> value = values(statement, before);
                for (const std::string& text : before) line(text, statement.line);
                std::string target = name(statement.variable);
                if (is_declared_by(block, index, statement.variable) &&
                    !read_by(statement.values).contains(statement.variable)) {
                    const bool is_constant = homes_.of(statement.variable).assignments == 1;
                    target = (is_constant ? "const " : "") +
                             type_name(variable(statement.variable).dtype) + " " + target;
                }
                const std::string own = own_operator(statement, value[0]);
                const std::string rest = value[0].substr(own.empty() ? 0 : target.size() + 3);
                return line(target + " " + own + "= " + rest + ";", statement.line);
            }
            case Kind::branch: print_branch(statement, false); return;
            case Kind::loop: print_loop(block, index); return;
            case Kind::stop: line("break;", statement.line); return;
            case Kind::go_on: line("continue;", statement.line); return;
            case Kind::leave: {
                const std::vector<std::string> results = values(statement, before);
                for (const std::string& text : before) line(text, statement.line);
                if (results.size() == 1) return line("return " + results[0] + ";", statement.line);
                const std::string all = "return {" + join(results) + "};";
                const bool fits = all.size() + indent_ * 4 <= longest_line;
                const std::string separator = ",\n" + std::string(indent_ * 4 + 8, ' ');
                return line(fits ? all : "return {" + join(results, separator) + "};",
                            statement.line);
            }
            case Kind::expect: {
                const std::vector<std::string> holds = values(statement, before);
                for (const std::string& text : before) line(text, statement.line);
                line("assert(" + holds[0] + ");", statement.line);
                return;
            }
        }
    }

    void print_branch(const Statement& statement, bool is_continued) {
        std::vector<std::string> before;
        const std::string condition = values(statement, before)[0];
        for (const std::string& text : before) line(text, statement.line);
        line((is_continued ? "} else if (" : "if (") + condition + ") {", statement.line);
        print_inner(statement.body);
        if (statement.otherwise.empty()) return line("}");
        if (is_chain(statement.otherwise)) return print_branch(statement.otherwise[0], true);
        line("} else {");
        print_inner(statement.otherwise);
        line("}");
    }

    // `else if`: a branch alone, that needs nothing before its condition.
    bool is_chain(const Block& block) {
        if (block.size() != 1 || block[0].kind != Kind::branch) return false;
        for (size_t i = procedure_.parameters; i < homes_.count(); ++i)
            if (is_declared_by(block, 0, static_cast<int>(i))) return false;
        TakenNames trial = taken_;
        return print_statements(block[0].values, names_, trial).lines.empty();
    }

    void print_loop(const Block& block, size_t index) {
        const Statement& loop = block[index];
        std::vector<std::string> before;
        const int counter = counter_of(block, index);
        std::string first;
        for (const Statement& start : loop.first) {
            std::vector<std::string> lines;
            const std::string value = values(start, lines)[0];
            for (const std::string& text : lines) line(text, loop.line);
            const std::string assignment = name(start.variable) + " = " + value;
            if (counter == start.variable)
                first = type_name(variable(counter).dtype) + " " + assignment;
            else
                line(assignment + ";", loop.line);
        }
        const std::string condition = values(loop, before)[0];
        const std::string next = head_of_next(loop);
        const std::string head = before.empty() ? condition : "true";
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
        print_block(loop.body);
        --indent_;
        line("}");
    }

    // "++i", or "i = …, x = …".
    std::string head_of_next(const Statement& loop) {
        std::vector<std::string> parts;
        for (const Statement& next : loop.otherwise) {
            const std::string& target = name(next.variable);
            const Expr& value = next.values[0];
            const bool is_step = (value.op() == Op::add || value.op() == Op::subtract) &&
                                 value.operand(0).op() == Op::argument &&
                                 value.operand(0).index() == next.variable &&
                                 value.operand(1).op() == Op::constant &&
                                 value.operand(1).value() == 1;
            std::vector<std::string> lines;
            parts.push_back(is_step ? (value.op() == Op::add ? "++" : "--") + target
                                    : target + " = " + values(next, lines)[0]);
            internal_check(lines.empty(), "the step of a loop needs statements");
        }
        return join(parts);
    }

    const Procedure& procedure_;
    Homes homes_;
    TakenNames taken_;
    std::vector<std::string> names_;
    std::string out_;
    size_t indent_ = 1;
    int marked_ = 0;
};

// A function's head, on more lines where one is too long.
std::string fitting(const std::string& head, const std::vector<std::string>& parameters) {
    const std::string line = head + "(" + join(parameters) + ")";
    if (line.size() + 2 <= longest_line) return line;
    std::string out = head + "(", rest = "\n       ";
    for (size_t i = 0; i < parameters.size(); ++i) {
        const std::string next = " " + parameters[i] + (i + 1 < parameters.size() ? "," : ") {");
        if (rest.size() - rest.rfind('\n') + next.size() > longest_line) rest += "\n       ";
        rest += next;
    }
    return out + rest.substr(0, rest.size() - 2);
}

std::string result_type(const Procedure& procedure) {
    if (procedure.results.size() == 1) return type_name(procedure.results[0].dtype);
    const bool is_single =
        std::any_of(procedure.results.begin(), procedure.results.end(),
                    [](const Variable& result) { return result.dtype == ir::DType::float32; });
    return procedure.name + (is_single ? "_results_float" : "_results");
}

std::string function_head(const Procedure& procedure, const std::vector<std::string>& names) {
    std::vector<std::string> parameters;
    for (size_t i = 0; i < procedure.parameters; ++i)
        parameters.push_back(type_name(procedure.variables[i].dtype) +
                             (names[i].empty() ? "" : " " + names[i]));
    return fitting(result_type(procedure) + " " + procedure.name, parameters);
}

std::vector<std::string> parameter_names(const Procedure& procedure) {
    TakenNames taken;
    std::vector<std::string> names;
    for (size_t i = 0; i < procedure.parameters; ++i)
        names.push_back(unique_name(procedure.variables[i].name, taken));
    return names;
}

bool has_loop(const Procedure& procedure) {
    const auto all = ir::procedure::all_statements(procedure.body);
    return std::any_of(all.begin(), all.end(),
                       [](const Statement* statement) { return statement->kind == Kind::loop; });
}

// Names of the parameters, the pointers to results, and the count, all different.
struct ArrayNames {
    std::vector<std::string> parameters, results;
    std::string count, element;
    TakenNames taken;

    explicit ArrayNames(const Procedure& procedure) {
        for (size_t i = 0; i < procedure.parameters; ++i)
            parameters.push_back(unique_name(procedure.variables[i].name, taken));
        for (const Variable& result : procedure.results)
            results.push_back(unique_name(result.name, taken));
        count = unique_name("count", taken);
        element = unique_name("i", taken);
    }
};

std::string array_head(const Procedure& procedure, const ArrayNames& names) {
    std::vector<std::string> parameters;
    for (size_t i = 0; i < procedure.parameters; ++i)
        parameters.push_back("const " + type_name(procedure.variables[i].dtype) + "* " +
                             names.parameters[i]);
    for (size_t i = 0; i < procedure.results.size(); ++i)
        parameters.push_back(type_name(procedure.results[i].dtype) + "* __restrict " +
                             names.results[i]);
    parameters.push_back("int64_t " + names.count);
    return fitting("void v" + procedure.name, parameters);
}

}  // namespace

std::string signature_of(const Procedure& procedure) {
    return function_head(procedure, parameter_names(procedure));
}

std::string results_struct(const Procedure& procedure) {
    if (procedure.results.size() == 1) return "";
    std::string out = "struct " + result_type(procedure) + " {\n";
    for (const Variable& result : procedure.results)
        out += "    " + type_name(result.dtype) + " " + result.name + ";\n";
    return out + "};\n";
}

std::string print_procedure(const Procedure& original) {
    const Procedure procedure = without_unread(original);
    Printer printer(procedure);
    const std::string body = printer.run();
    std::set<int> used;
    for (const Statement* statement : ir::procedure::all_statements(procedure.body)) {
        for (int number : read_by(statement->values)) used.insert(number);
        if (statement->kind == Kind::assign) used.insert(statement->variable);
    }
    std::vector<std::string> names = printer.names();
    for (size_t i = 0; i < procedure.parameters; ++i)
        if (!used.contains(static_cast<int>(i))) names[i].clear();
    std::string out;
    std::istringstream doc(procedure.doc);
    for (std::string line; std::getline(doc, line);)
        out += line.empty() ? "//\n" : "// " + line + "\n";
    return out + function_head(procedure, names) + " {\n" + body + "}\n";
}

std::string array_signature_of(const Procedure& procedure) {
    return array_head(procedure, ArrayNames(procedure));
}

std::string print_over_arrays(const Procedure& original) {
    const Procedure procedure = without_unread(original);
    ArrayNames names(procedure);
    const std::string element = "[" + names.element + "]";
    std::vector<std::string> values;
    std::string body;
    const auto add = [&](const std::string& line) { body += "        " + line + "\n"; };
    if (has_loop(procedure)) {
        std::vector<std::string> arguments;
        for (const std::string& name : names.parameters) arguments.push_back(name + element);
        const std::string call = procedure.name + "(" + join(arguments) + ")";
        if (procedure.results.size() == 1) {
            values.push_back(call);
        } else {
            const std::string all = unique_name("results", names.taken);
            add("const " + result_type(procedure) + " " + all + " = " + call + ";");
            for (const Variable& result : procedure.results)
                values.push_back(all + "." + result.name);
        }
    } else {
        const std::vector<Expr> results = ir::procedure::flatten(procedure);
        const std::set<int> used = read_by(results);
        std::vector<std::string> arguments;
        for (size_t i = 0; i < procedure.parameters; ++i) {
            const std::string& pointer = names.parameters[i];
            arguments.push_back(unique_name(pointer + "_i", names.taken));
            if (used.contains(static_cast<int>(i)))
                add("const " + type_name(procedure.variables[i].dtype) + " " + arguments[i] +
                    " = " + pointer + element + ";");
        }
        const Statements printed = print_statements(results, arguments, names.taken);
        for (const std::string& line : printed.lines) add(line);
        values = printed.results;
        for (size_t i = 0; i < procedure.parameters; ++i)
            if (!used.contains(static_cast<int>(i))) names.parameters[i].clear();
    }
    for (size_t i = 0; i < values.size(); ++i)
        add(names.results[i] + element + " = " + values[i] + ";");
    return array_head(procedure, names) + " {\n    for (int64_t " + names.element + " = 0; " +
           names.element + " < " + names.count + "; ++" + names.element + ") {\n" + body +
           "    }\n}\n";
}

std::vector<Expr> expressions_of(const Procedure& procedure) {
    std::vector<Expr> all = ir::procedure::flatten(procedure);
    for (const Statement* statement : ir::procedure::all_statements(procedure.body))
        all.insert(all.end(), statement->values.begin(), statement->values.end());
    return all;
}

}  // namespace composit::c_family
