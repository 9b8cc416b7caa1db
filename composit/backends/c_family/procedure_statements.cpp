// Writing procedures: single statements, and what loops need.
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
            std::string value = values(statement.values, before)[0];
            for (const std::string& text : before) line(text, statement.line);
            if (roundings_.variables.rounded.contains(statement.variable))
                value = "rounded(" + value + ")";
            return line(assignment(statement, target_of(block, index), value,
                                   sums_in_order_.contains(&statement)),
                        statement.line);
        }
        case Kind::branch: print_branch(statement); return;
        case Kind::loop:
            if (!print_nest(block, index)) print_loop(block, index);
            return;
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

std::string ProcedureWriter::array_declaration(size_t array, bool with_size, bool is_zeroed) {
    const std::string type = type_of_elements(procedure_.arrays[array].dtype);
    if (has_fixed_size(procedure_.arrays[array]))
        return type + " " + arrays_[array] + "[" + count_of(array) + "]";
    const std::string declared = "std::vector<" + type + "> " + arrays_[array];
    if (!with_size) return declared;
    if (!procedure_.arrays[array].grows)
        return declared + "(" + count_of(array) +
               (writing_.asks && !is_zeroed ? ", composit_unset())" : ")");
    const auto room = rooms_.find(static_cast<int>(array));
    if (room == rooms_.end()) return declared;
    std::vector<std::string> factors, before;
    for (const Expr& factor : room->second) factors.push_back(plain(integer(factor, before)));
    for (const std::string& text : before) line(text);
    return declared + " = room_for<" + type + ">(" + join(factors) + ")";
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
        return line(array_declaration(number, true, statement.is_zeroed) + (fills ? " = {};" : ";"),
                    statement.line);
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

bool ProcedureWriter::is_one_branch(const Block& block) const {
    return BlockWriter::is_one_branch(block) && !part_at(block, 0);
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

bool ProcedureWriter::begin_loop(const Statement& loop) {
    for (const std::string& text : logs_.begin(loop)) line(text, loop.line);
    is_for_vectors_ = writing_.asks && is_for_vectors(procedure_, loop);
    return !logs_.says_all_of(loop);
}

std::vector<std::string> ProcedureWriter::hints_of(const Statement& loop, bool has_plain_head) {
    std::vector<std::string> hints = fetches_of(loop);
    if (is_short_vector(procedure_, loop)) hints.emplace_back("#pragma GCC unroll 1");
    if (has_plain_head &&
        ((is_for_vectors(procedure_, loop) && writes_local(procedure_, loop)) ||
         (writing_.asks && (reads_beside_own(procedure_, loop) || keeps_values(procedure_, loop) ||
                            writes_exchanged(procedure_, loop, exchanged_)))))
        hints.emplace_back("#pragma GCC ivdep");
    return hints;
}

// Rows of arrays that loops go through once: where they are written, what comes behind them; where
// they are read alone, which reverse sweeps do from the last to the first, what is before them.
std::vector<std::string> ProcedureWriter::fetches_of(const Statement& loop) {
    constexpr int64_t bytes_behind = 4096, bytes_before = -2048;
    std::vector<std::string> lines;
    const auto range = ir::procedure::range_of(loop);
    if (!writing_.asks || !range || ir::procedure::has_own(loop.body, Kind::loop)) return lines;
    std::map<int, const Statement*> rows;
    for (const Statement& each : loop.body) {
        if (each.array < 0 || !procedure_.arrays[static_cast<size_t>(each.array)].is_streamed ||
            !ir::procedure::offset_from(range->counter, each.index.back()))
            continue;
        const Statement*& row = rows[each.array];
        if (row == nullptr || (row->kind == Kind::load && each.kind != Kind::load)) row = &each;
    }
    for (const auto& [array, row] : rows) {
        Statement first = *row;
        const int64_t offset = *ir::procedure::offset_from(range->counter, row->index.back());
        first.index.back() = ir::procedure::minus(range->low, ir::procedure::integer(-offset));
        const std::string& name = arrays_[static_cast<size_t>(array)];
        const std::string place = element(first, lines).substr(name.size() + 1);
        const std::string count = integer(ir::procedure::minus(range->high, range->low), lines);
        lines.push_back(text("fetch_ahead(", name, ".data() + ", place.substr(0, place.size() - 1),
                             ", ", count, ", ",
                             row->kind == Kind::load ? bytes_before : bytes_behind, ");"));
    }
    return lines;
}

std::string ProcedureWriter::first_line_of(const Statement& loop) {
    return question_of(loop, turns_);
}

}  // namespace composit::c_family
