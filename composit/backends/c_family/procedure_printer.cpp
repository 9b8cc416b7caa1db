// Printing procedures: where variables are declared, statements, marks.
#include "composit/backends/c_family/procedure_printer.h"

#include "composit/backends/c_family/procedure_elements.h"
#include "composit/backends/c_family/procedure_extents.h"
#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_lines.h"
#include "composit/backends/c_family/procedure_logs.h"
#include "composit/backends/c_family/procedure_loops.h"
#include "composit/backends/c_family/procedure_roundings.h"
#include "composit/backends/c_family/procedure_runs.h"
#include "composit/backends/c_family/procedure_sums.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/procedure_variables.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/c_family/scoped_names.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/iterations.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace composit::c_family {
namespace {

using ir::procedure::ArrayVariable;
using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::procedure::Variable;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

class Printer {
  public:
    explicit Printer(const Procedure& procedure, bool asks)
        : procedure_(procedure),
          homes_(procedure),
          roundings_(roundings_of(procedure)),
          sums_in_order_(sums_in_order(procedure)),
          naturals_(procedure),
          hoisted_(hoisted_arrays(procedure, homes_, naturals_)),
          nameless_(homes_.nameless()) {
        hoisted_.insert(logs_.between().begin(), logs_.between().end());
        std::map<int, int> namesakes;
        for (const auto& [integer, index] : nameless_) namesakes[index] = integer;
        for (int i = 0; i < static_cast<int>(homes_.count()); ++i) {
            const auto other = namesakes.find(i);
            const Variable& named = variable(other == namesakes.end() ? i : other->second);
            names_.push_back(nameless_.contains(i) ? ""
                                                   : name_of(named.name, static_cast<size_t>(i)));
        }
        for (size_t i = 0; i < procedure.arrays.size(); ++i)
            arrays_.push_back(name_of(procedure.arrays[i].name, homes_.count() + i));
        if (asks && any_loop_asks(procedure)) turns_ = unique_name("turns", taken_);
    }

    std::string run() {
        if (!turns_.empty()) line("unsigned " + turns_ + " = 0;");
        for (const size_t array : hoisted_)
            if (!logs_.between().contains(array)) line(array_declaration(array, true) + ";");
        print_block(procedure_.body);
        return printed(gathered(std::move(lines_)), procedure_.file);
    }
    const std::vector<std::string>& arrays() const { return arrays_; }
    const std::vector<std::string>& names() const { return names_; }

  private:
    // Variables whose scopes do not meet may have one name.
    std::string name_of(const std::string& wanted, size_t place) {
        const bool is_hoisted =
            place >= homes_.count() && hoisted_.contains(place - homes_.count());
        const Scope whole{0, std::numeric_limits<int>::max()};
        return scoped_.name(wanted, is_hoisted ? whole : homes_.scope_of(place));
    }

    const Variable& variable(int number) const {
        return procedure_.variables[static_cast<size_t>(number)];
    }
    const std::string& name(int number) const { return names_[static_cast<size_t>(number)]; }

    void line(const std::string& text, int source_line = 0) {
        lines_.push_back({indent_, text, source_line});
    }

    // Values as texts; what they share or is long comes before, as constants.
    std::vector<std::string> values(const std::vector<Expr>& given,
                                    std::vector<std::string>& before) {
        return value_texts(given, names_, taken_, roundings_.variables, before);
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
            if (statement.variable == number && !reads(statement).contains(number)) continue;
            if (counter_of(block, index) == number || homes_.begins_with(block, index, number))
                continue;
            const ir::DType dtype = variable(number).dtype;
            line(type_name(dtype) + " " + name(number) + " = " + zero_of(dtype) + ";",
                 statement.line);
        }
        for (size_t array = 0; array < arrays_.size(); ++array) {
            const Home& home = homes_.of_array(array);
            const bool is_here = procedure_.arrays[array].role == ArrayVariable::Role::local &&
                                 home.block == &block && home.first == index;
            if (!is_here || hoisted_.contains(array) || is_declaration(block, index, array))
                continue;
            line(array_declaration(array, false) + ";", statement.line);
        }
    }

    std::set<int> reads(const Statement& statement) const { return homes_.reads(statement); }

    int counter_of(const Block& block, size_t index) const {
        return homes_.counter_of(block, index);
    }

    void print_block(const Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            if (logs_.is_said(block[i])) continue;
            declare(block, i);
            if (const auto index = index_at(block, i)) {
                print_index(block, i, *index);
                i += index->is_checked ? 2 : 0;
            } else if (is_exchange_at(block, i)) {
                print_exchange(block, i++);
            } else if (const auto copied = copied_at(procedure_, block, i);
                       copied && is_declaration(block, i, static_cast<size_t>(copied->to))) {
                const std::string count = count_of(static_cast<size_t>(copied->to));
                line(logs_.copy(*copied, count), block[i++].line);
            } else if (const std::string text = logs_.exchange(block, i); !text.empty()) {
                line(text, block[i].line);
            } else if (nameless_.contains(block[i].variable)) {
                print_nameless(block[i]);
            } else if (const auto dot = dot_at(procedure_, block, i)) {
                print_dot(block, i++, *dot);
            } else if (const auto extreme = extreme_at(procedure_, block, i)) {
                print_extreme(block, i, *extreme);
                i += extreme->statements - 1;
            } else if (const Multiples made = multiples_of(procedure_, block[i]);
                       !made.all.empty()) {
                print_multiples(made);
            } else {
                print_statement(block, i);
            }
        }
    }

    void print_nameless(const Statement& statement) {
        std::vector<std::string> before;
        const std::string value = statement.kind == Kind::load
                                      ? element(statement, before)
                                      : values(statement.values, before)[0];
        for (const std::string& text : before) line(text, statement.line);
        names_[static_cast<size_t>(statement.variable)] = value;
    }

    // A sum stands where it is read, if one statement reads it, once.
    void print_dot(const Block& block, size_t i, const Dot& dot) {
        std::vector<std::string> before;
        const std::string value = elements_.dot(dot, before);
        for (const std::string& text : before) line(text, block[i].line);
        if (homes_.of(dot.total).block == &block && reader_of(procedure_, block, i, dot))
            names_[static_cast<size_t>(dot.total)] = value;
        else
            line(target_of(block, i, 2) + " = " + value + ";", block[i].line);
    }

    void print_extreme(const Block& block, size_t i, const Extreme& extreme) {
        std::vector<std::string> before;
        const std::string value = elements_.extreme(extreme, before);
        for (const std::string& text : before) line(text, block[i].line);
        const size_t start = i + extreme.statements - 2;
        declare(block, start);
        line(target_of(block, start, 2) + " = " + value + ";", block[i].line);
    }

    void print_multiples(const Multiples& made) {
        for (const Multiple& each : made.all) {
            std::vector<std::string> before;
            const std::string factor = values({each.factor}, before)[0];
            const std::string call = elements_.multiple(each, factor, made.count, before);
            for (const std::string& text : before) line(text, each.line);
            line(call + ";", each.line);
        }
    }

    void print_index(const Block& block, size_t i, const PrintedIndex& index) {
        std::vector<std::string> before;
        const std::string from = integer(index.from, before), of = integer(index.extent, before);
        for (const std::string& text : before) line(text, block[i].line);
        line(target_of(block, i) + (index.is_checked ? " = checked_index(" : " = wrapped_index(") +
                 from + ", " + of + ");",
             block[i].line);
    }

    void print_exchange(const Block& block, size_t i) {
        std::vector<std::string> before;
        const std::string place = element(block[i], before);
        for (const std::string& text : before) line(text, block[i].line);
        const std::string made = "taken(" + place + ")";
        if (homes_.is_exchanged_in_place(block, i))
            names_[static_cast<size_t>(block[i].variable)] = made;
        else
            line(target_of(block, i) + " = " + made + ";", block[i].line);
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
                                          : appends
                                              ? array(statement) + ".push_back(" + value + ");"
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

    // A variable that is assigned, with its type where this declares it; a constant, if it is
    // assigned in as many statements.
    std::string target_of(const Block& block, size_t index, int assignments = 1) const {
        const Statement& statement = block[index];
        const int number = statement.variable;
        if (!is_declared_by(block, index, number) || reads(statement).contains(number))
            return name(number);
        const bool is_constant = homes_.of(number).assignments == assignments;
        return (is_constant ? "const " : "") + type_name(variable(number).dtype) + " " +
               name(number);
    }

    const std::string& array(const Statement& statement) const {
        return arrays_[static_cast<size_t>(statement.array)];
    }

    std::string integer(const Expr& value, std::vector<std::string>& before) const {
        return elements_.integer(value, before);
    }
    std::string element(const Statement& statement, std::vector<std::string>& before) {
        const bool is_in_row = statement.kind == Kind::take && logs_.has_row(statement);
        return is_in_row ? logs_.element(statement) : elements_.element(statement, before);
    }
    std::string count_of(size_t array) {
        std::vector<std::string> before;
        const std::string count = elements_.count_of(array, naturals_, before);
        for (const std::string& text : before) line(text);
        return count;
    }

    // "std::vector<double> t", "double t[6]"; with its size, where that is known.
    std::string array_declaration(size_t array, bool with_size) {
        const std::string type = type_of_elements(procedure_.arrays[array].dtype);
        if (has_fixed_size(procedure_.arrays[array]))
            return type + " " + arrays_[array] + "[" + count_of(array) + "]";
        const std::string count =
            with_size && !procedure_.arrays[array].grows ? "(" + count_of(array) + ")" : "";
        return "std::vector<" + type + "> " + arrays_[array] + count;
    }

    bool is_declaration(const Block& block, size_t index, size_t array) const {
        const Home& home = homes_.of_array(array);
        return procedure_.arrays[array].role == ArrayVariable::Role::local &&
               home.block == &block && home.first == index && home.assignments == 1 &&
               block[index].kind == Kind::allocate &&
               static_cast<size_t>(block[index].array) == array && !hoisted_.contains(array);
    }

    void print_allocation(const Block& block, size_t index) {
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

    void print_branch(const Statement& statement, bool is_continued) {
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

    // `else if`: a branch alone, that needs nothing before its condition.
    bool is_chain(const Block& block) {
        if (block.size() != 1 || block[0].kind != Kind::branch) return false;
        for (size_t i = procedure_.parameters; i < homes_.count(); ++i)
            if (is_declared_by(block, 0, static_cast<int>(i))) return false;
        TakenNames trial = taken_;
        return print_statements(block[0].values, names_, trial, &roundings_.variables)
            .lines.empty();
    }

    // Two loops through neighbouring axes, as one.
    bool print_nest(const Block& block, size_t index) {
        const Statement &loop = block[index], *inner = loop.body.data();
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

    void print_loop(const Block& block, size_t index) {
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
                line((homes_.begins_with(block, index, start.variable) ? type : "") + assignment +
                         ";",
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

    const Procedure& procedure_;
    Homes homes_;
    const ProcedureRoundings roundings_;
    const std::set<const Statement*> sums_in_order_;
    TakenNames taken_;
    std::vector<std::string> names_, arrays_;
    std::string turns_;  // counts iterations; empty: no loop asks
    Elements elements_{procedure_, names_, arrays_, taken_};
    LoggedText logs_{procedure_, homes_, elements_, arrays_, taken_};
    ScopedNames scoped_{taken_};
    const Naturals naturals_;
    std::set<size_t> hoisted_;
    std::map<int, int> nameless_;  // variables that stand where they are read
    std::vector<PrintedLine> lines_;
    size_t indent_ = 1;
};

}  // namespace

std::string print_procedure(const Procedure& original, bool asks) {
    const Procedure procedure = with_names(without_zero_gradients(without_unread(original)));
    Printer printer(procedure, asks);
    std::vector<std::string> names = printer.names(), arrays = printer.arrays();
    clear_unmentioned(procedure, names, arrays);
    return comment_of(procedure.doc) + function_head(procedure, names, arrays) + " {\n" +
           printer.run() + "}\n";
}

}  // namespace composit::c_family
