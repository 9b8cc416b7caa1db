// Writing procedures: names, declarations, what has a short way to be said, calls.
#include "composit/backends/c_family/procedure_printer.h"

#include "composit/backends/c_family/line_breaks.h"
#include "composit/backends/c_family/own_loads.h"
#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_loops.h"
#include "composit/backends/c_family/procedure_room.h"
#include "composit/backends/c_family/procedure_sums.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/procedure_writer.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/arrays_in_place.h"
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/idle_zeros.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/states_in_rows.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/procedure/tapes_in_arrays.h"
#include "composit/ir/procedure/windows_of_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace composit::c_family {

using ir::procedure::ArrayVariable;
using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::procedure::Variable;
using ir::scalar::Expr;
using Kind = Statement::Kind;

namespace {

// "g" of "g_12", a name that a derivative made; as it is where it is one of `own`, where the other
// one is `present`, and that of the adjoint of one of `own`.
std::string without_number(const std::string& name, const std::set<std::string>& own,
                           const std::set<std::string>& present) {
    const size_t last = name.find_last_not_of("0123456789");
    const bool has_number =
        last != std::string::npos && last > 0 && last + 1 < name.size() && name[last] == '_';
    const std::string base = has_number ? name.substr(0, last) : name;
    const bool stays = !has_number || own.contains(name) || present.contains(base) ||
                       (name[0] == 'd' && own.contains(name.substr(1)));
    return stays ? name : base;
}

// The names of the function that are mentioned, and those that callers see.
std::set<std::string> names_present(const Procedure& procedure, const Homes& homes,
                                    const std::set<std::string>& own) {
    std::set<std::string> names;
    for (size_t i = 0; i < procedure.variables.size(); ++i) {
        const std::string& name = procedure.variables[i].name;
        const bool is_mentioned = homes.of(static_cast<int>(i)).mentions > 0 && own.contains(name);
        if (i < procedure.parameters || is_mentioned) names.insert(name);
    }
    for (const ArrayVariable& each : procedure.arrays)
        if (each.role != ArrayVariable::Role::local || own.contains(each.name))
            names.insert(each.name);
    return names;
}

}  // namespace

ProcedureWriter::ProcedureWriter(const Procedure& procedure, CalledFunctions& called,
                                 const Writing& writing)
    : BlockWriter(procedure, {}),
      writing_(writing),
      roundings_(writing.known ? writing.known->roundings : roundings_of(procedure, true)),
      naturals_(procedure, writing.known ? writing.known->naturals : std::set<int>()),
      rooms_(rooms_of(procedure)),
      hoisted_(hoisted_arrays(procedure, homes_, naturals_)),
      nameless_(homes_.nameless()) {
    if (writing.known) {
        const auto all = ir::procedure::all_statements(procedure.body);
        for (const size_t place : writing.known->sums_in_order) sums_in_order_.insert(all[place]);
    } else {
        sums_in_order_ = sums_in_order(procedure);
    }
    std::set<int> own_variables, without_names;
    for (const auto& [integer, index] : nameless_) without_names.insert({integer, index});
    parts_ = called_parts(
        procedure, writing.within, {roundings_, sums_in_order_, naturals_, without_names},
        [&](const CalledPart& part) { return text_of(part, called, writing.asks); });
    hoisted_.insert(logs_.between().begin(), logs_.between().end());
    for (const auto& part : parts_) {
        own_variables.insert(part->own_variables.begin(), part->own_variables.end());
        for (const size_t array : part->own_arrays) hoisted_.erase(array);
    }
    // No variable may hide a function that is called here.
    for (const auto& part : parts_) {
        functions_.push_back(print_function_of(*part, writing.asks, called));
        taken_.insert(functions_.back().name);
    }
    const std::set<std::string> own =
        ir::procedure::names_in(procedure.reverse_of ? *procedure.reverse_of : procedure);
    const std::set<std::string> present = names_present(procedure, homes_, own);
    std::map<int, int> namesakes;
    for (const auto& [integer, index] : nameless_) namesakes[index] = integer;
    for (int i = 0; i < static_cast<int>(homes_.count()); ++i) {
        const auto other = namesakes.find(i);
        const Variable& named = variable(other == namesakes.end() ? i : other->second);
        const bool has_none = nameless_.contains(i) || own_variables.contains(i);
        names_.push_back(
            has_none ? ""
                     : name_of(without_number(named.name, own, present), static_cast<size_t>(i)));
    }
    for (size_t i = 0; i < procedure.arrays.size(); ++i) {
        const bool is_elsewhere = std::any_of(parts_.begin(), parts_.end(), [&](const auto& part) {
            return part->own_arrays.contains(i);
        });
        const std::string wanted = without_number(procedure.arrays[i].name, own, present);
        arrays_.push_back(is_elsewhere ? "" : name_of(wanted, homes_.count() + i));
    }
    if (writing.asks) exchanged_ = ir::procedure::exchanged_arrays(procedure);
    if (writing.asks && any_loop_asks(procedure)) turns_ = unique_name("turns", taken_);
}

std::string ProcedureWriter::run() {
    if (!turns_.empty()) line("unsigned " + turns_ + " = 0;");
    for (const size_t array : hoisted_)
        if (!logs_.between().contains(array)) line(array_declaration(array, true, false) + ";");
    print_block(procedure_.body);
    const auto all = ir::procedure::all_statements(procedure_.body);
    const bool is_derived = std::any_of(all.begin(), all.end(), [](const Statement* each) {
        return each->line.sweep != ir::procedure::Sweep::value;
    });
    std::set<std::string> acting;  // functions that change what they are given
    for (size_t i = 0; i < parts_.size(); ++i)
        if (!parts_[i]->changed.empty() ||
            !parts_[i]->function.arrays_of(ArrayVariable::Role::output).empty())
            acting.insert(functions_[i].name);
    const Procedure& own = procedure_.reverse_of ? *procedure_.reverse_of : procedure_;
    return printed(gathered(std::move(lines_), is_derived, false, ir::procedure::names_in(own),
                            acting, &taken_),
                   procedure_.file);
}

// Variables whose scopes do not meet may have one name.
std::string ProcedureWriter::name_of(const std::string& wanted, size_t place) {
    const bool is_hoisted = place >= homes_.count() && hoisted_.contains(place - homes_.count());
    const Scope whole{0, std::numeric_limits<int>::max()};
    return scoped_.name(wanted, is_hoisted ? whole : homes_.scope_of(place));
}

std::vector<std::string> ProcedureWriter::values(const std::vector<Expr>& given,
                                                 std::vector<std::string>& before) {
    return value_texts(given, names_, taken_, roundings_.variables, before,
                       is_for_vectors_ ? cpp_spelling_for_vectors : cpp_spelling);
}

void ProcedureWriter::declare_arrays(const Block& block, size_t index) {
    for (size_t array = 0; array < arrays_.size(); ++array) {
        const Home& home = homes_.of_array(array);
        const bool is_here = procedure_.arrays[array].role == ArrayVariable::Role::local &&
                             home.block == &block && home.first == index;
        const bool is_elsewhere = arrays_[array].empty();
        if (!is_here || is_elsewhere || hoisted_.contains(array) ||
            is_declaration(block, index, array))
            continue;
        line(array_declaration(array, false, false) + ";", block[index].line);
    }
}

std::optional<size_t> ProcedureWriter::part_at(const Block& block, size_t index) const {
    for (size_t i = 0; i < parts_.size(); ++i)
        if (parts_[i]->block == &block && parts_[i]->begin == index) return i;
    return std::nullopt;
}

bool ProcedureWriter::is_moved(const Statement& statement) const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const auto& part) { return part->moved.contains(&statement); });
}

void ProcedureWriter::print_call(size_t number_of_part) {
    const CalledPart& part = *parts_[number_of_part];
    const PrintedFunction& called = functions_[number_of_part];
    const Block& block = *part.block;
    const int source_line = block[part.begin].line;
    std::string target;
    for (size_t i = part.begin; i < part.end; ++i) {
        if (part.result >= 0 && is_declared_by(block, i, part.result)) {
            const std::string declared = type_name(variable(part.result).dtype) + " ";
            int assignments = 0;
            for (const Statement* each : ir::procedure::all_statements(
                     Block(block.begin() + static_cast<std::ptrdiff_t>(part.begin),
                           block.begin() + static_cast<std::ptrdiff_t>(part.end))))
                assignments += each->variable == part.result;
            const bool is_constant = homes_.of(part.result).assignments == assignments;
            if (part.takes_result)
                line(declared + name(part.result) + " = " + zero_of(variable(part.result).dtype) +
                         ";",
                     source_line);
            else
                target = (is_constant ? "const " : "") + declared;
        }
        declare_arrays(block, i);
        if (part.allocations.contains(i) && !is_moved(block[i])) print_allocation(block, i);
        for (const int each : part.changed) {
            if (!is_declared_by(block, i, each)) continue;
            const ir::DType dtype = variable(each).dtype;
            line(type_name(dtype) + " " + name(each) + " = " + zero_of(dtype) + ";", source_line);
        }
    }
    std::vector<std::string> arguments, before;
    for (const int each : called.arguments) {
        if (each >= 0) {
            arguments.push_back(
                values({procedure_.variable(static_cast<size_t>(each))}, before)[0]);
            continue;
        }
        const auto number = static_cast<size_t>(-1 - each);
        const bool is_log = procedure_.arrays[number].grows;
        const auto row = part.rows.find(-1 - each);
        std::vector<Expr> first{ir::procedure::integer(0)};
        if (row != part.rows.end()) {
            first.resize(procedure_.arrays[number].shape.size(), first[0]);
            first[0] = row->second;
        }
        arguments.push_back(is_log ? arrays_[number] : elements_.run({-1 - each, first}, before));
    }
    for (const std::string& text : before) line(text, source_line);
    if (part.result >= 0) target += name(part.result) + " = ";
    line(target + called.name + "(" + join(arguments) + ");", source_line);
}

size_t ProcedureWriter::print_at(const Block& block, size_t i) {
    if (logs_.is_said(block[i]) || is_moved(block[i])) return 1;
    if (const auto part = part_at(block, i)) {
        print_call(*part);
        return parts_[*part]->end - i;
    }
    declare(block, i);
    if (said_elsewhere_.contains(&block[i])) return 1;
    if (const auto call = slope_calls_.find(&block[i]); call != slope_calls_.end()) {
        print_slopes(block[i], call->second);
        return 1;
    }
    // What only runs asks in its loops whether it is to stop.
    if (!writing_.asks)
        if (const size_t said = print_values_extreme(block, i); said > 0) return said;
    if (const auto index = index_at(block, i)) {
        print_index(block, i, *index);
        return index->is_checked ? 3 : 1;
    }
    if (is_exchange_at(block, i)) {
        print_exchange(block, i);
        return 2;
    }
    if (const auto copied = copied_at(procedure_, block, i);
        copied && is_declaration(block, i, static_cast<size_t>(copied->to))) {
        const std::string count = count_of(static_cast<size_t>(copied->to));
        line(logs_.copy(*copied, count), block[i].line);
        return 2;
    }
    if (const std::string text = logs_.exchange(block, i); !text.empty()) {
        line(text, block[i].line);
    } else if (nameless_.contains(block[i].variable)) {
        print_nameless(block[i]);
    } else if (const auto dot = dot_at(procedure_, block, i)) {
        print_dot(block, i, *dot);
        return 2;
    } else if (const auto extreme = extreme_at(procedure_, block, i)) {
        print_extreme(block, i, *extreme);
        return extreme->statements;
    } else if (const Multiples made = multiples_of(procedure_, block[i]); !made.all.empty()) {
        print_multiples(made);
    } else {
        print_statement(block, i);
    }
    return 1;
}

void ProcedureWriter::print_nameless(const Statement& statement) {
    std::vector<std::string> before;
    const std::string value = statement.kind == Kind::load ? element(statement, before)
                                                           : values(statement.values, before)[0];
    for (const std::string& text : before) line(text, statement.line);
    names_[static_cast<size_t>(statement.variable)] = value;
}

// A sum stands where it is read, if one statement reads it, once.
void ProcedureWriter::print_dot(const Block& block, size_t i, const Dot& dot) {
    std::vector<std::string> before;
    const std::string value = elements_.dot(dot, before);
    for (const std::string& text : before) line(text, block[i].line);
    if (homes_.of(dot.total).block == &block &&
        reader_of(procedure_, block, i, dot.total, read_in(dot)))
        names_[static_cast<size_t>(dot.total)] = value;
    else
        line(target_of(block, i, 2) + " = " + value + ";", block[i].line);
}

void ProcedureWriter::print_extreme(const Block& block, size_t i, const Extreme& extreme) {
    std::vector<std::string> before;
    const std::string value = elements_.extreme(extreme, before);
    for (const std::string& text : before) line(text, block[i].line);
    const size_t start = i + extreme.statements - 2;
    declare(block, start);
    line(target_of(block, start, 2) + " = " + value + ";", block[i].line);
}

void ProcedureWriter::print_multiples(const Multiples& made) {
    for (const Multiple& each : made.all) {
        std::vector<std::string> before;
        const std::string factor = values({each.factor}, before)[0];
        const std::string call = elements_.multiple(each, factor, made.count, before);
        for (const std::string& text : before) line(text, each.line);
        line(call + ";", each.line);
    }
}

void ProcedureWriter::print_index(const Block& block, size_t i, const PrintedIndex& index) {
    std::vector<std::string> before;
    const std::string from = integer(index.from, before), of = integer(index.extent, before);
    for (const std::string& text : before) line(text, block[i].line);
    line(target_of(block, i) + (index.is_checked ? " = checked_index(" : " = wrapped_index(") +
             from + ", " + of + ");",
         block[i].line);
}

void ProcedureWriter::print_exchange(const Block& block, size_t i) {
    std::vector<std::string> before;
    const std::string place = element(block[i], before);
    for (const std::string& text : before) line(text, block[i].line);
    const std::string made = "taken(" + place + ")";
    if (homes_.is_exchanged_in_place(block, i))
        names_[static_cast<size_t>(block[i].variable)] = made;
    else
        line(target_of(block, i) + " = " + made + ";", block[i].line);
}

namespace {

Writing writing_of(const CalledPart& part, bool asks) { return {asks, part.call, &part.known}; }

std::string key_of(const CalledPart& part, bool asks, CalledFunctions& called) {
    Procedure other = part.function;
    for (size_t i = 0; i < other.variables.size(); ++i) other.variables[i].name = text("v", i);
    for (size_t i = 0; i < other.arrays.size(); ++i) other.arrays[i].name = text("a", i);
    return ProcedureWriter(other, called, writing_of(part, asks)).run();
}

}  // namespace

PartText text_of(const CalledPart& part, CalledFunctions called, bool asks) {
    const std::string key = key_of(part, asks, called);
    return {key, static_cast<size_t>(std::count(key.begin(), key.end(), '\n'))};
}

PrintedFunction print_function_of(const CalledPart& part, bool asks, CalledFunctions& called) {
    const Procedure& function = part.function;
    // What it calls is there under its own names before it is written under others.
    ProcedureWriter writer(function, called, writing_of(part, asks));
    const std::string body = writer.run();
    std::vector<std::string> types, names;
    const auto add = [&](const std::string& type, const std::string& name) {
        types.push_back(type);
        names.push_back(name);
    };
    for (const int each : head_of(function)) {
        const auto i = static_cast<size_t>(each < 0 ? -1 - each : each);
        const auto place = types.size();
        if (each < 0)
            add("const " + type_name(function.arrays[i].dtype) + "*", writer.arrays()[i]);
        else
            add(type_name(function.variables[i].dtype) +
                    (part.changed.contains(part.arguments[place]) ? "&" : ""),
                writer.names()[i]);
    }
    for (const int each : function.arrays_of(ArrayVariable::Role::output)) {
        const auto i = static_cast<size_t>(each);
        const std::string element = type_name(function.arrays[i].dtype);
        add(function.arrays[i].grows ? "std::vector<" + element + ">&" : element + "* __restrict",
            writer.arrays()[i]);
    }
    PrintedFunction made;
    std::vector<std::string> used, parameters;
    for (size_t i = 0; i < types.size(); ++i) {
        if (!has_word(body, names[i])) continue;
        made.arguments.push_back(part.arguments[i]);
        used.push_back(types[i]);
        parameters.push_back(types[i] + " " + names[i]);
    }
    const auto print = [&](const std::string& name) {
        return fitting(result_type(function) + " " + name, parameters) + " {\n" + body + "}\n";
    };
    made.name = called.name_of(function.name, join(used), key_of(part, asks, called), print,
                               part.call->is_of_library);
    return made;
}

Procedure with_rows_alive(Procedure procedure) {
    if (procedure.arrays.empty()) return procedure;
    // Which looks for an element that is read and written to in one array.
    procedure = without_zero_gradients(without_unread(std::move(procedure)));
    return ir::procedure::with_windows_of_rows(std::move(procedure));
}

std::string print_procedure(const Procedure& original, CalledFunctions& called, bool asks) {
    // Where gradients are not set to zero, some are copied, and stand in place.
    const Procedure procedure = with_names(with_own_loads(
        ir::procedure::with_arrays_in_place(without_zero_gradients(without_unread(original)))));
    ProcedureWriter writer(procedure, called, {asks, nullptr, nullptr});
    std::vector<std::string> names = writer.names(), arrays = writer.arrays();
    clear_unmentioned(procedure, names, arrays);
    const std::string body = writer.run();
    return comment_of(procedure.doc) + function_head(procedure, names, arrays) + " {\n" + body +
           "}\n";
}

namespace {

// Of its text, comments aside.
size_t count_of_lines(const Procedure& procedure) {
    CalledFunctions called(names_of({procedure}));
    const std::string text = in_columns(
        print_procedure(ir::procedure::without_idle_zeros(procedure, true), called, false));
    size_t count = 0;
    for (size_t begin = 0; begin < text.size();) {
        const size_t first = text.find_first_not_of(' ', begin), end = text.find('\n', begin);
        count += first < end && text.compare(first, 2, "//") != 0;
        begin = end + 1;
    }
    return count;
}

}  // namespace

Procedure as_read(Procedure procedure) {
    procedure = ir::procedure::with_tapes_in_arrays(std::move(procedure));
    // A row is longer to mention than an array that is logged.
    Procedure rows = ir::procedure::with_states_in_rows(procedure);
    const bool has_any = rows.arrays.size() != procedure.arrays.size();
    if (has_any && count_of_lines(rows) < count_of_lines(procedure)) procedure = std::move(rows);
    if (!procedure.reverse_of) procedure = with_rows_alive(std::move(procedure));
    return ir::procedure::without_idle_zeros(std::move(procedure), true);
}

std::string print_procedure(const Procedure& procedure) {
    CalledFunctions called(names_of({procedure}));
    const std::string own = print_procedure(as_read(procedure), called, false);
    return called.text_of_users() + own;
}

std::set<std::string> names_of(const std::vector<Procedure>& procedures) {
    std::set<std::string> names;
    for (const Procedure& procedure : procedures) {
        names.insert({procedure.name, "v" + procedure.name});
        for (const Variable& each : procedure.variables) names.insert(each.name);
        for (const ArrayVariable& each : procedure.arrays) names.insert(each.name);
    }
    return names;
}

}  // namespace composit::c_family
