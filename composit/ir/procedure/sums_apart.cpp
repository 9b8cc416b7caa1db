// with_columns_of_sums_apart: rows of a few sums, to each of which inner loops add.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;
using Role = ArrayVariable::Role;

constexpr double most_summed_columns = 8;  // of an array

class ColumnsOfSums {
  public:
    explicit ColumnsOfSums(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            if (block[i].kind != Kind::loop) {
                walk(block[i].body);
                walk(block[i].otherwise);
                continue;
            }
            Block before, after;
            for (const int array : found_in(block[i])) move(array, block[i], before, after);
            const auto place = block.begin() + static_cast<std::ptrdiff_t>(i);
            block.insert(place + 1, after.begin(), after.end());
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), before.begin(),
                         before.end());
            i += before.size() + after.size();
        }
    }

    // Arrays of a few columns, to which loops within the outermost one add, row by row, and of
    // which it mentions elements of certain columns alone.
    std::set<int> found_in(const Statement& outermost) const {
        std::set<int> found;
        const auto range = range_of(outermost);
        if (!range || !is_integer_constant(range->low, 0)) return found;
        const std::map<int, int> assigned = assignments_in({outermost});
        for (const Statement* loop : all_statements(outermost.body)) {
            if (loop->kind != Kind::loop) continue;
            const auto within = range_of(*loop);
            if (!within || !is_integer_constant(within->low, 0)) continue;
            for (const Statement& each : loop->body)
                if (each.kind == Kind::add && each.index.size() == 2 &&
                    is_variable(each.index[0], within->counter) &&
                    reaches(*range, *within, each.array) && !reads_any(shape(each), assigned) &&
                    has_columns(outermost, each.array))
                    found.insert(each.array);
        }
        return found;
    }

    const std::vector<Expr>& shape(const Statement& each) const {
        return p_.arrays[static_cast<size_t>(each.array)].shape;
    }

    // Whether the outermost loop goes through all rows, and the one within through those before.
    bool reaches(const Range& outer, const Range& within, int array) const {
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        return known.shape.size() == 2 &&
               scalar::structurally_equal({known.shape[0]}, {outer.high}) &&
               (is_variable(within.high, outer.counter) ||
                scalar::structurally_equal({known.shape[0]}, {within.high}));
    }

    bool has_columns(const Statement& outermost, int array) const {
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        if (known.role == Role::input || known.grows || known.shape[1].op() != Op::constant ||
            known.shape[1].value() < 2 || known.shape[1].value() > most_summed_columns)
            return false;
        const Block block{outermost};
        const auto all = all_statements(block);
        return std::all_of(all.begin(), all.end(), [&](const Statement* each) {
            if (each->array != array) return true;
            return (each->kind == Kind::load || is_write(*each)) && each->index.size() == 2 &&
                   each->index[1].op() == Op::constant && each->index[1].value() >= 0 &&
                   each->index[1].value() < known.shape[1].value();
        });
    }

    void move(int array, Statement& outermost, Block& before, Block& after) {
        std::map<int64_t, int> columns;
        Block whole{outermost};
        replace(whole, array, columns);
        outermost = std::move(whole[0]);
        const ArrayVariable known = p_.arrays[static_cast<size_t>(array)];
        const SourceLine line = outermost.line;
        const int counter = p_.add_variable("row", DType::int64);
        const Expr row = p_.variable(static_cast<size_t>(counter));
        const int value = p_.add_variable(known.name + "_value", known.dtype);
        const Expr moved = p_.variable(static_cast<size_t>(value));
        Block out, back;
        for (const auto& [column, made] : columns) {
            before.push_back(Statement::allocate(made, false, line));
            out.push_back(Statement::load(value, array, {row, integer(column)}, line));
            out.push_back(Statement::write(Kind::store, made, {row}, moved, line));
            back.push_back(Statement::load(value, made, {row}, line));
            back.push_back(
                Statement::write(Kind::store, array, {row, integer(column)}, moved, line));
        }
        before.push_back(counting_up(row, integer(0), known.shape[0], std::move(out), line));
        after.push_back(counting_up(row, integer(0), known.shape[0], std::move(back), line));
    }

    // Elements of the array become those of its columns.
    void replace(Block& block, int array, std::map<int64_t, int>& columns) {
        for (Statement& each : block) {
            replace(each.body, array, columns);
            replace(each.otherwise, array, columns);
            if (each.array != array) continue;
            const auto column = static_cast<int64_t>(each.index[1].value());
            auto known = columns.find(column);
            if (known == columns.end()) {
                const ArrayVariable whole = p_.arrays[static_cast<size_t>(array)];
                const int made =
                    p_.add_array(whole.name + "_column",
                                 {.name = "", .dtype = whole.dtype, .shape = {whole.shape[0]}});
                known = columns.emplace(column, made).first;
            }
            each.array = known->second;
            each.index.resize(1);
        }
    }

    Procedure p_;
};

}  // namespace

Procedure with_columns_of_sums_apart(Procedure procedure) {
    return ColumnsOfSums(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
