// Finding what loops log row by row.
#include "composit/backends/c_family/procedure_logs.h"

#include "composit/backends/c_family/procedure_extents.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::c_family {

using ir::procedure::Block;
using ir::procedure::integer;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

namespace {

// What an innermost loop without choices, whose trips are known before, appends to an array or
// takes from its end: a row of as many elements for each iteration, of which `position` says which
// one runs, in the order in which the row was appended.
struct LoggedRow {
    int array = -1;
    bool adds = false;  // or takes
    int64_t each = 0;
    Expr trips, position;
};
// Of such a row that holds the elements of an array, one behind the other, which each iteration
// changes after it has logged its own, or puts back before it reads it: the two statements that do
// so, from `place` on, and the variable between them.
struct LoggedRun {
    size_t place = 0;
    int value = -1;
    Run elements;
};
std::vector<LoggedRow> logged_rows(const Statement& loop) {
    const auto range = ir::procedure::range_of(loop);
    if (!range || !ir::procedure::count_of(loop)) return {};
    std::vector<LoggedRow> rows;
    const bool counts_up = loop.otherwise[0].values[0].op() == Op::add;
    const Expr here = Expr::argument(range->counter, ir::DType::int64);
    for (const Statement& statement : loop.body) {
        const bool adds = statement.kind == Kind::append, takes = statement.kind == Kind::take;
        const bool is_plain = adds || takes || statement.kind == Kind::assign ||
                              statement.kind == Kind::load || ir::procedure::is_write(statement);
        if (!is_plain) return {};
        if (!adds && !takes) continue;
        const auto known = std::find_if(rows.begin(), rows.end(), [&](const LoggedRow& row) {
            return row.array == statement.array;
        });
        if (known != rows.end()) {
            if (known->adds != adds) return {};
            ++known->each;
            continue;
        }
        const bool is_forward = counts_up == adds;
        const Expr position = is_forward ? ir::procedure::minus(here, range->low)
                                         : ir::procedure::one_less(range->high) - here;
        rows.push_back(
            {statement.array, adds, 1, ir::procedure::minus(range->high, range->low), position});
    }
    return rows;
}

std::optional<LoggedRun> logged_run(const Procedure& procedure, const Statement& loop,
                                    const LoggedRow& row) {
    const auto range = ir::procedure::range_of(loop);
    const bool counts_up = loop.otherwise[0].values[0].op() == Op::add;
    if (row.each != 1 || counts_up != row.adds) return {};
    const Block& body = loop.body;
    for (size_t i = 0; i + 1 < body.size(); ++i) {
        const Statement &first = body[i], &second = body[i + 1];
        const Statement &log = row.adds ? second : first, &element = row.adds ? first : second;
        const Kind kind = row.adds ? Kind::load : Kind::store;
        if (log.array != row.array || element.kind != kind) continue;
        const int value = first.variable, array = element.array;
        const bool is_passed =
            !second.values.empty() && ir::procedure::is_variable(second.values[0], value);
        if (!is_passed || element.index.empty()) return {};
        std::vector<Expr> index = element.index;
        const auto offset = ir::procedure::offset_from(range->counter, index.back());
        index.back() = offset
                           ? ir::scalar::simplify({range->low + ir::procedure::integer(*offset)})[0]
                           : index.back();
        const std::set<int> read = ir::procedure::variables_in(index);
        const auto within = ir::procedure::assignments_in(body);
        const bool is_fixed = std::none_of(read.begin(), read.end(), [&](int variable) {
            return variable == range->counter || within.contains(variable);
        });
        const bool is_first = std::none_of(
            body.begin(), body.begin() + static_cast<std::ptrdiff_t>(i),
            [&](const Statement& before) {
                return before.array == array && (!row.adds || ir::procedure::is_write(before));
            });
        const bool is_own = ir::procedure::has_own_elements(procedure, body, range->counter, array);
        const bool is_of_one_type = procedure.arrays[static_cast<size_t>(array)].dtype ==
                                    procedure.arrays[static_cast<size_t>(row.array)].dtype;
        if (!offset || !is_fixed || !is_first || !is_own || !is_of_one_type) return {};
        return LoggedRun{i, value, {array, std::move(index)}};
    }
    return {};
}

}  // namespace

std::vector<std::string> LoggedText::begin(const Statement& loop) {
    std::vector<std::string> lines;
    for (const LoggedRow& logged : logged_rows(loop)) {
        const auto number = static_cast<size_t>(logged.array);
        const std::string& log = arrays_[number];
        const auto run = logged_run(procedure_, loop, logged);
        if (run && homes_.of(run->value).mentions == 2) {
            const std::string elements = elements_.run(run->elements, lines);
            const std::string count = elements_.integer(logged.trips, lines);
            lines.push_back((logged.adds ? "add_run(" : "take_run(") + log + ", " + elements +
                            ", " + count + ");");
            said_.insert({&loop.body[run->place], &loop.body[run->place + 1]});
            continue;
        }
        const ir::DType dtype = procedure_.arrays[number].dtype;
        const bool is_short = logged.trips.op() == Op::constant;
        if (depth_ == 0 || is_short || !is_floating(dtype)) continue;
        const std::string name = unique_name(log + "_row", taken_);
        rows_.emplace(logged.array, Row{name, logged.position, logged.each, 0});
        const Expr all = logged.trips * integer(logged.each);
        const std::string count = elements_.integer(ir::scalar::simplify({all})[0], lines);
        const std::string type = type_of_elements(dtype) + "* const ";
        lines.push_back((logged.adds ? type : "const " + type) + name +
                        (logged.adds ? " = add_row(" : " = take_row(") + log + ", " + count + ");");
    }
    ++depth_;
    return lines;
}

void LoggedText::end() {
    --depth_;
    rows_.clear();
}

std::string LoggedText::element(const Statement& statement) {
    Row& row = rows_.at(statement.array);
    const int64_t place = statement.kind == Kind::append ? row.next : row.each - 1 - row.next;
    ++row.next;
    std::vector<std::string> before;
    const Expr from = row.position * integer(row.each) + integer(place);
    return row.name + "[" + elements_.integer(ir::scalar::simplify({from})[0], before) + "]";
}

std::string LoggedText::copy(const Copied& copied, const std::string& count) const {
    std::vector<std::string> before;
    const std::string from = elements_.run({copied.from, {integer(0)}}, before);
    const auto number = static_cast<size_t>(copied.to);
    return "std::vector<" + type_of_elements(procedure_.arrays[number].dtype) + "> " +
           arrays_[number] + "(" + from + ", " + from + " + " + count + ");";
}

std::string LoggedText::exchange(const Block& block, size_t place) {
    const auto found = ir::procedure::exchange_at(procedure_, block, place);
    if (!found) return "";
    for (size_t i = 0; i < found->statements; ++i) said_.insert(&block[place + i]);
    return "std::swap(" + arrays_[static_cast<size_t>(found->one)] + ", " +
           arrays_[static_cast<size_t>(found->other)] + ");";
}

std::optional<Copied> copied_at(const Procedure& procedure, const Block& block, size_t index) {
    if (index + 1 >= block.size() || block[index].kind != Kind::allocate) return {};
    const Statement& loop = block[index + 1];
    const int to = block[index].array;
    if (loop.kind != Kind::loop || loop.body.size() != 2) return {};
    const auto range = ir::procedure::range_of(loop);
    const Statement &load = loop.body[0], &store = loop.body[1];
    if (!range || load.kind != Kind::load || store.kind != Kind::store || store.array != to ||
        load.array == to || !ir::procedure::is_variable(store.values[0], load.variable))
        return {};
    const ir::procedure::ArrayVariable &made = procedure.arrays[static_cast<size_t>(to)],
                                       &given = procedure.arrays[static_cast<size_t>(load.array)];
    const bool is_all =
        load.index.size() == 1 && store.index.size() == 1 &&
        ir::procedure::is_variable(load.index[0], range->counter) &&
        ir::procedure::is_variable(store.index[0], range->counter) &&
        ir::procedure::is_integer_constant(range->low, 0) &&
        ir::scalar::structurally_equal({range->high}, {ir::procedure::element_count(made.shape)}) &&
        made.dtype == given.dtype && !made.grows && !has_fixed_size(made);
    const bool is_read_elsewhere =
        ir::procedure::mentions_in(procedure, procedure.body).at(load.variable) != 2;
    if (!is_all || is_read_elsewhere) return {};
    return Copied{load.array, to};
}

}  // namespace composit::c_family
