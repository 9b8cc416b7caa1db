// with_columns_apart: rows of a few elements, of which inner loops read each, again and again.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

constexpr int64_t fewest_passes = 4;  // over an array that is read once more to be copied
constexpr size_t most_columns = 8;    // of an array

class ColumnsApart {
  public:
    explicit ColumnsApart(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    // An array and one of its columns.
    using Column = std::pair<int, int64_t>;

    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            if (block[i].kind != Kind::loop) {
                walk(block[i].body);
                walk(block[i].otherwise);
                continue;
            }
            const Block before = take_apart(block[i]);
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), before.begin(),
                         before.end());
            i += before.size();
        }
    }

    static bool is_short(const Statement& loop) {
        const auto count = count_of(loop);
        return count && count->begin.op() == Op::constant && count->end.op() == Op::constant &&
               std::abs(count->end.value() - count->begin.value()) <
                   static_cast<double>(fewest_passes);
    }

    // What copies the columns that loops within the outermost one read from end to end.
    Block take_apart(Statement& outermost) {
        columns_.clear();
        outer_ = range_of(outermost);
        if (is_short(outermost)) return {};
        for (Statement& inner : outermost.body) look_at(inner, false);
        std::map<int, size_t> counts;
        for (const auto& [column, made] : columns_) ++counts[column.first];
        std::erase_if(columns_,
                      [&](const auto& each) { return counts.at(each.first.first) > most_columns; });
        Block copies;
        for (const auto& [array, count] : counts)
            if (count <= most_columns) copy(array, copies, outermost.line);
        if (!copies.empty())
            for (Statement& inner : outermost.body) look_at(inner, true);
        return copies;
    }

    // Finds columns, or reads what they were copied to.
    void look_at(Statement& statement, bool replaces) {
        for (Block* block : {&statement.body, &statement.otherwise})
            for (Statement& inner : *block) look_at(inner, replaces);
        if (statement.kind != Kind::loop) return;
        const auto all = all_statements(statement.body);
        const bool is_innermost = std::none_of(
            all.begin(), all.end(), [](const Statement* each) { return each->kind == Kind::loop; });
        const auto range = range_of(statement);
        if (is_innermost && range && is_integer_constant(range->low, 0))
            look_within(statement.body, *range, replaces);
    }

    void look_within(Block& block, const Range& range, bool replaces) {
        for (Statement& each : block) {
            look_within(each.body, range, replaces);
            look_within(each.otherwise, range, replaces);
            if (!is_of_column(each, range)) continue;
            const Column column{each.array, static_cast<int64_t>(each.index[1].value())};
            if (!replaces) {
                columns_[column] = -1;
                continue;
            }
            const auto known = columns_.find(column);
            if (known == columns_.end()) continue;
            each.array = known->second;
            each.index.resize(1);
        }
    }

    // Whether it loads x[counter, 2] of an input whose rows are all in the range.
    bool is_of_column(const Statement& statement, const Range& range) const {
        if (statement.kind != Kind::load || statement.index.size() != 2) return false;
        const ArrayVariable& array = p_.arrays[static_cast<size_t>(statement.array)];
        return array.role == ArrayVariable::Role::input && array.shape.size() == 2 &&
               !is_integer_constant(array.shape[1], 1) &&
               is_variable(statement.index[0], range.counter) &&
               statement.index[1].op() == Op::constant && statement.index[1].value() >= 0 &&
               (array.shape[1].op() != Op::constant ||
                statement.index[1].value() < array.shape[1].value()) &&
               reaches(range, array.shape[0]);
    }

    // Whether the range ends with the array, or before the outermost loop's counter, which goes
    // through all of the array: half of the elements are read, on average.
    bool reaches(const Range& range, const Expr& extent) const {
        return scalar::structurally_equal({extent}, {range.high}) ||
               (outer_ && is_variable(range.high, outer_->counter) &&
                is_integer_constant(outer_->low, 0) &&
                scalar::structurally_equal({extent}, {outer_->high}));
    }

    void copy(int array, Block& out, const SourceLine& line) {
        const ArrayVariable known = p_.arrays[static_cast<size_t>(array)];
        const int row = p_.add_variable("row", DType::int64);
        const Expr here = p_.variable(static_cast<size_t>(row));
        Block body;
        int64_t last = 0;
        for (auto& [column, made] : columns_) {
            if (column.first != array) continue;
            last = std::max(last, column.second);
            made = p_.add_array(known.name + "_column",
                                {.name = "", .dtype = known.dtype, .shape = {known.shape[0]}});
            const int value = p_.add_variable(known.name + "_value", known.dtype);
            out.push_back(Statement::allocate(made, false, line));
            body.push_back(Statement::load(value, array, {here, integer(column.second)}, line));
            body.push_back(Statement::write(Kind::store, made, {here},
                                            p_.variable(static_cast<size_t>(value)), line));
        }
        Statement loop = counting_up(here, integer(0), known.shape[0], std::move(body), line);
        // The assertion that there is such a column stands where it is read, perhaps never.
        if (known.shape[1].op() == Op::constant)
            out.push_back(std::move(loop));
        else
            out.push_back(
                Statement::branch(integer(last) < known.shape[1], {std::move(loop)}, {}, line));
    }

    Procedure p_;
    std::optional<Range> outer_;     // of the outermost loop
    std::map<Column, int> columns_;  // of the outermost loop; what each is copied to
};

}  // namespace

Procedure with_columns_apart(Procedure procedure) {
    return ColumnsApart(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
