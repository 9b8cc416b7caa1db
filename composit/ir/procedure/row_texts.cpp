#include "composit/ir/procedure/row_texts.h"

#include <map>
#include <utility>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

constexpr int64_t most_single_fills = 4;  // more elements are filled by a loop

int new_row_variable(Procedure& procedure, const char* name, DType dtype) {
    procedure.variables.push_back({name, dtype});
    return static_cast<int>(procedure.variables.size()) - 1;
}

}  // namespace

void take_row(const Procedure& procedure, Statement& use, const RowPlace& row, size_t axis) {
    if (row.is_array) {
        use.array = row.at;
        use.index.erase(use.index.begin() + static_cast<std::ptrdiff_t>(axis));
        return;
    }
    const Expr value = procedure.variable(static_cast<size_t>(row.at));
    if (use.kind == Kind::load)
        use = Statement::assign(use.variable, value, use.line);
    else
        use = Statement::assign(
            row.at, use.kind == Kind::add ? value + use.values[0] : use.values[0], use.line);
}

Block exchange_rows(Procedure& procedure, int one, int other, const SourceLine& line) {
    const ArrayVariable like = procedure.arrays[static_cast<size_t>(one)];
    const int between = procedure.add_array("between", like);
    Block made{Statement::allocate(between, false, line)};
    for (const auto& [to, from] :
         {std::pair(between, one), std::pair(one, other), std::pair(other, between)}) {
        const int place = new_row_variable(procedure, "k", DType::int64),
                  value = new_row_variable(procedure, "value", like.dtype);
        const Expr here = procedure.variable(static_cast<size_t>(place));
        made.push_back(
            counting_up(here, integer(0), element_count(like.shape),
                        {Statement::load(value, from, {here}, line),
                         Statement::write(Kind::store, to, {here},
                                          procedure.variable(static_cast<size_t>(value)), line)},
                        line));
    }
    return made;
}

Block fill_row(Procedure& procedure, const IntegerFacts& facts, const RowPlace& row,
               const Expr& value, const std::optional<std::vector<Range>>& ranges,
               const SourceLine& line) {
    if (!row.is_array) return ranges ? Block{} : Block{Statement::assign(row.at, value, line)};
    const Expr all = element_count(procedure.arrays[static_cast<size_t>(row.at)].shape);
    Block made;
    for (const Range& each : ranges.value_or(std::vector<Range>{{-1, integer(0), all}})) {
        const auto length = facts.distance(each.high, each.low);
        if (length && *length <= most_single_fills) {
            for (int64_t i = 0; i < *length; ++i)
                made.push_back(Statement::write(Kind::store, row.at,
                                                {scalar::simplify({each.low + integer(i)})[0]},
                                                value, line));
            continue;
        }
        const int place = new_row_variable(procedure, "k", DType::int64);
        const Expr here = procedure.variable(static_cast<size_t>(place));
        made.push_back(counting_up(here, each.low, each.high,
                                   {Statement::write(Kind::store, row.at, {here}, value, line)},
                                   line));
    }
    return made;
}

Block give_row(Procedure& procedure, const RowContent& content, const RowPlace& row, size_t axis,
               const Expr& counter, const Expr& condition) {
    Block made = content.needed;
    made.push_back(*content.statement);
    for (size_t i = content.loops.size(); i-- > 0;) {
        if (i == content.row_loop) continue;
        Statement around;
        around.kind = Kind::loop;
        around.line = content.loops[i]->line;
        around.first = content.loops[i]->first;
        around.values = content.loops[i]->values;
        around.otherwise = content.loops[i]->otherwise;
        around.body = std::move(made);
        made = {std::move(around)};
    }
    // Names of its own first: the counter may be made of a variable that the loops count with, too.
    std::vector<Expr> by = all_variables(procedure);
    for (const auto& [variable, times] : assignments_in(made)) {
        procedure.variables.push_back(procedure.variables[static_cast<size_t>(variable)]);
        by[static_cast<size_t>(variable)] = procedure.variable(procedure.variables.size() - 1);
    }
    replace_variables(made, by, true);
    by = all_variables(procedure);
    by[static_cast<size_t>(content.range.counter)] = counter;
    replace_variables(made, by, false);
    const auto take_all = [&](const auto& take, Block& block) -> void {
        for (Statement& each : block) {
            take(take, each.body);
            if (each.array == content.statement->array) take_row(procedure, each, row, axis);
        }
    };
    take_all(take_all, made);
    if (condition)
        made = {Statement::branch(condition, std::move(made), {}, content.statement->line)};
    return made;
}

}  // namespace composit::ir::procedure
