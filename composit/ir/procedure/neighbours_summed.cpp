// with_neighbours_summed: loops that add to neighbouring elements of an array sum for each element.
#include "composit/ir/procedure/iteration_order.h"
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

constexpr int64_t summed_at_once = 256;  // iterations: what they add stays in the first cache
constexpr int64_t fewest_summed = 16;    // iterations: below, two loops take longer than one
constexpr int64_t widest_stencil = 8;    // from the first to the last neighbour
constexpr size_t most_values_added = 8;  // arrays on the stack
constexpr size_t most_in_stencil = 100;  // statements: their order takes the cube of their number

// An addition of an iteration: where it stands, how far its element lies from the counter.
struct StencilTerm {
    size_t place = 0;
    int64_t offset = 0;
};

// Elements that differ in their last axis alone, and what an iteration adds to them.
struct StencilRow {
    int array = -1;
    std::vector<Expr> before;  // the other axes
    std::vector<StencilTerm> terms;
    int64_t low = 0, high = 0;  // the offsets of the first and the last neighbour
};

class NeighboursSummed {
  public:
    explicit NeighboursSummed(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        mentions_ = mentions_in(p_, p_.body);
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            if (block[i].kind != Kind::loop) {
                walk(block[i].otherwise);
                continue;
            }
            const Block made = summed(block[i]);
            if (made.empty()) continue;
            const auto place = block.begin() + static_cast<std::ptrdiff_t>(i);
            block.insert(block.erase(place), made.begin(), made.end());
            i += made.size() - 1;
        }
    }

    // The loop with sums for each element; empty where it stays.
    Block summed(const Statement& given) {
        const auto count = count_by_one(given);
        if (!count || given.body.size() > most_in_stencil) return {};
        count_ = *count;
        assigned_ = assignments_in({given});
        const Expr trips = trips_of(p_, count_, count_.begin);
        if (trips.op() == scalar::Op::constant && trips.value() < 2 * fewest_summed) return {};
        Statement loop = given;
        Block out = restored_ahead(loop);
        if (!std::all_of(loop.body.begin(), loop.body.end(),
                         [](const Statement& each) { return is_value(each) || is_write(each); }))
            return {};
        const std::vector<StencilRow> rows = rows_in(loop.body);
        if (rows.empty() || !has_own_variables(given)) return {};
        const std::map<size_t, size_t> values = values_in(loop.body, rows);
        if (values.empty() || !order_is_free(loop, values)) return {};
        give_own_counters(out);
        const Block made = apart(loop, trips, rows, values);
        out.insert(out.end(), made.begin(), made.end());
        return out;
    }

    // Loops that take elements from logs and put them back, before all else that the loop does.
    Block restored_ahead(Statement& loop) const {
        Block out;
        for (size_t i = 0; i + 1 < loop.body.size();) {
            const Statement &take = loop.body[i], &store = loop.body[i + 1];
            if (take.kind != Kind::take || store.kind != Kind::store ||
                !is_variable(store.values[0], take.variable) || mentions_.at(take.variable) != 2 ||
                !is_restored(loop.body, i)) {
                ++i;
                continue;
            }
            const auto first = loop.body.begin() + static_cast<std::ptrdiff_t>(i);
            Statement made = loop;
            made.body = {take, store};
            out.push_back(std::move(made));
            loop.body.erase(first, first + 2);
        }
        return out;
    }

    // Whether what is taken at the place, and stored behind it, may be there before the loop runs.
    bool is_restored(const Block& body, size_t place) const {
        const Statement& store = body[place + 1];
        const bool is_fixed =
            std::all_of(store.index.begin(), store.index.end(), [&](const Expr& index) {
                return offset_from(count_.counter, index) || !reads_any({index}, assigned_);
            });
        const Block before(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(place));
        const auto mentions = [&](const Statement& each) {
            return each.array == body[place].array;
        };
        return is_fixed && !mentions_array(before, store.array) &&
               std::count_if(body.begin(), body.end(), mentions) == 1 &&
               has_own_elements(p_, body, count_.counter, store.array);
    }

    void give_own_counters(Block& loops) {
        for (Statement& each : loops) {
            std::vector<Expr> by = all_variables(p_);
            by[static_cast<size_t>(count_.counter)] = new_variable("place", DType::int64);
            Block one{std::move(each)};
            replace_variables(one, by, true);
            each = std::move(one[0]);
        }
    }

    // Whether no iteration hands on a variable, to others or to what stands behind the loop.
    bool has_own_variables(const Statement& loop) const {
        const std::map<int, int> inside = mentions_in(p_, {loop});
        const std::set<int> exposed = exposed_in(p_, loop.body);
        return std::all_of(assigned_.begin(), assigned_.end(), [&](const auto& each) {
            const int variable = each.first;
            return static_cast<size_t>(variable) >= p_.parameters &&
                   (variable == count_.counter || !exposed.contains(variable)) &&
                   inside.at(variable) == mentions_.at(variable);
        });
    }

    // ----- what is added to neighbours

    // The rows of all arrays that are summed; each array is added to in the loop, and nothing else.
    std::vector<StencilRow> rows_in(const Block& body) const {
        std::set<int> arrays;
        for (const Statement& each : body)
            if (each.kind == Kind::add) arrays.insert(each.array);
        std::vector<StencilRow> found;
        for (const int array : arrays) {
            std::vector<StencilRow> rows = rows_of(body, array);
            const auto is_wide = [](const StencilRow& row) { return row.low < row.high; };
            // Of rows with one neighbour each compilers see that iterations reach no other's
            // element, if it is the same in all rows.
            std::set<int64_t> offsets;
            for (const StencilRow& row : rows)
                if (!is_wide(row)) offsets.insert(row.low);
            for (StencilRow& row : rows)
                if (is_wide(row) || offsets.size() > 1) found.push_back(std::move(row));
        }
        return found;
    }

    std::vector<StencilRow> rows_of(const Block& body, int array) const {
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        if (known.dtype != DType::float32 && known.dtype != DType::float64) return {};
        std::vector<StencilRow> rows;
        for (size_t place = 0; place < body.size(); ++place) {
            const Statement& each = body[place];
            if (each.array != array) continue;
            if (each.kind != Kind::add || each.index.size() != known.shape.size() ||
                each.values[0].dtype() != known.dtype)
                return {};
            const auto offset = offset_from(count_.counter, each.index.back());
            std::vector<Expr> before(each.index.begin(), each.index.end() - 1);
            if (!offset || reads_any(before, assigned_)) return {};
            auto row = std::find_if(rows.begin(), rows.end(), [&](const StencilRow& other) {
                return scalar::structurally_equal(other.before, before);
            });
            if (row == rows.end()) {
                for (const StencilRow& other : rows)
                    if (!are_apart(other.before, before)) return {};
                rows.push_back({array, std::move(before), {}, *offset, *offset});
                row = rows.end() - 1;
            }
            row->terms.push_back({place, *offset});
            row->low = std::min(row->low, *offset);
            row->high = std::max(row->high, *offset);
            if (row->high - row->low > widest_stencil) return {};
        }
        // An element receives first what the first iteration that reaches it adds.
        for (StencilRow& row : rows)
            std::stable_sort(row.terms.begin(), row.terms.end(),
                             [&](const StencilTerm& a, const StencilTerm& b) {
                                 return count_.step > 0 ? a.offset > b.offset : a.offset < b.offset;
                             });
        return rows;
    }

    // Which value each addition adds, by place: equal ones have one number. Empty: too many.
    std::map<size_t, size_t> values_in(const Block& body,
                                       const std::vector<StencilRow>& rows) const {
        std::set<size_t> places;
        for (const StencilRow& row : rows)
            for (const StencilTerm& term : row.terms) places.insert(term.place);
        std::map<size_t, size_t> numbers;
        std::vector<size_t> first;  // the place of each value
        for (const size_t place : places) {
            const auto same = std::find_if(first.begin(), first.end(), [&](size_t other) {
                const auto from = body.begin() + static_cast<std::ptrdiff_t>(other);
                const auto to = body.begin() + static_cast<std::ptrdiff_t>(place);
                return scalar::structurally_equal(body[other].values, body[place].values) &&
                       !reads_any(body[place].values, assignments_in(Block(from, to)));
            });
            numbers[place] = static_cast<size_t>(same - first.begin());
            if (same == first.end()) first.push_back(place);
        }
        return first.size() > most_values_added ? std::map<size_t, size_t>{} : numbers;
    }

    // Whether iterations may run in any order without these additions.
    bool order_is_free(const Statement& loop, const std::map<size_t, size_t>& values) const {
        std::set<int> own;
        for (const auto& [variable, times] : assigned_) own.insert(variable);
        Statement rest = loop;
        rest.body.clear();
        for (size_t place = 0; place < loop.body.size(); ++place)
            if (!values.contains(place)) rest.body.push_back(loop.body[place]);
        const IterationOrder order = order_in(p_, rest, own);
        return std::all_of(order.carried.begin(), order.carried.end(),
                           [](const std::vector<char>& each) {
                               return std::find(each.begin(), each.end(), 1) == each.end();
                           });
    }

    // ----- the loops

    Expr named(const char* name, const Expr& value, Block& block, const SourceLine& line) {
        if (value.op() == scalar::Op::argument || value.op() == scalar::Op::constant) return value;
        const int variable = p_.add_variable(name, value.dtype());
        block.push_back(Statement::assign(variable, value, line));
        return p_.variable(static_cast<size_t>(variable));
    }

    Expr new_variable(const char* name, DType dtype) {
        p_.variables.push_back({name, dtype});
        return p_.variable(p_.variables.size() - 1);
    }

    // if (enough iterations) for each block of them: what they add, into arrays; a loop for each
    // row over the sums; else the loop as it was. Where no iteration adds to an element that the
    // others do, -0 is added, which leaves every number as it is.
    Block apart(const Statement& loop, const Expr& all, const std::vector<StencilRow>& rows,
                const std::map<size_t, size_t>& values) {
        const SourceLine line = loop.line;
        int64_t margin = 0;
        for (const StencilRow& row : rows) margin = std::max(margin, row.high - row.low);
        Block out, inner, body;
        const Expr trips = named("trips", all, out, line);
        std::vector<int> parts;
        for (const auto& [place, number] : values) {
            if (number < parts.size()) continue;
            const ArrayVariable& of = p_.arrays[static_cast<size_t>(loop.body[place].array)];
            const DType dtype = of.dtype;
            parts.push_back(p_.add_array(
                "added",
                {.name = "", .dtype = dtype, .shape = {integer(summed_at_once + 2 * margin)}}));
            inner.push_back(Statement::allocate(parts.back(), false, line));
        }
        const auto fill_margin = [&](const Expr& from, Block& block) {
            for (const int part : parts)
                for (int64_t k = 0; k < margin; ++k) {
                    const DType dtype = p_.arrays[static_cast<size_t>(part)].dtype;
                    const Expr place = scalar::simplify({from + integer(k)})[0];
                    block.push_back(Statement::write(Kind::store, part, {place},
                                                     Expr::constant(dtype, -0.0), line));
                }
        };
        fill_margin(integer(0), inner);
        const Expr block = p_.variable(static_cast<size_t>(p_.add_variable("block", DType::int64)));
        const Expr rest = trips - block, most = integer(summed_at_once);
        const Expr width = named("width", select(rest < most, rest, most), body, line);
        const Expr first =
            count_.step == 1 ? count_.begin + block : count_.begin - block - width + integer(1);
        const Expr from = named("from", scalar::simplify({first})[0], body, line);
        const Expr end = named("end", from + width, body, line);
        fill_margin(width + integer(margin), body);
        body.push_back(computing(loop, values, parts, from, end, margin));
        for (const StencilRow& row : rows)
            body.push_back(summing(row, values, parts, from, end, margin, line));
        inner.push_back(Statement::loop(
            {Statement::assign(block.index(), integer(0), line)}, block < trips, std::move(body),
            {Statement::assign(block.index(), block + most, line)}, line));
        const Expr fits = scalar::simplify({trips >= integer(fewest_summed)})[0];
        if (fits.op() == scalar::Op::constant)
            out.insert(out.end(), inner.begin(), inner.end());
        else
            out.push_back(Statement::branch(fits, std::move(inner), {loop}, line));
        return out;
    }

    // The loop, which keeps what it would add.
    Statement computing(const Statement& loop, const std::map<size_t, size_t>& values,
                        const std::vector<int>& parts, const Expr& from, const Expr& end,
                        int64_t margin) {
        const Expr here = p_.variable(static_cast<size_t>(count_.counter));
        Block body;
        std::set<size_t> kept;
        for (size_t place = 0; place < loop.body.size(); ++place) {
            const Statement& each = loop.body[place];
            const auto value = values.find(place);
            if (value == values.end()) {
                body.push_back(each);
            } else if (kept.insert(value->second).second) {
                body.push_back(Statement::write(Kind::store, parts[value->second],
                                                {here - from + integer(margin)}, each.values[0],
                                                each.line));
            }
        }
        Block one{counting_up(here, from, end, std::move(body), loop.line)};
        std::vector<Expr> by = all_variables(p_);
        for (const auto& [variable, times] : assigned_) {
            p_.variables.push_back(p_.variables[static_cast<size_t>(variable)]);
            by[static_cast<size_t>(variable)] = p_.variable(p_.variables.size() - 1);
        }
        replace_variables(one, by, true);
        return std::move(one[0]);
    }

    // for each element that an iteration adds to: its sum, in the order of the iterations
    Statement summing(const StencilRow& row, const std::map<size_t, size_t>& values,
                      const std::vector<int>& parts, const Expr& from, const Expr& end,
                      int64_t margin, const SourceLine& line) {
        const DType dtype = p_.arrays[static_cast<size_t>(row.array)].dtype;
        const Expr here = new_variable("place", DType::int64);
        const Expr sum = new_variable("sum", dtype);
        std::vector<Expr> index = row.before;
        index.push_back(here);
        Block body{Statement::load(sum.index(), row.array, index, line)};
        Expr total = sum;
        for (const StencilTerm& term : row.terms) {
            const Expr part = new_variable("part", dtype);
            body.push_back(Statement::load(part.index(), parts[values.at(term.place)],
                                           {here - from + integer(margin - term.offset)}, line));
            total = total + part;
        }
        body.push_back(Statement::write(Kind::store, row.array, index, total, line));
        const auto moved = [](const Expr& x, int64_t by) {
            return scalar::simplify({x + integer(by)})[0];
        };
        return counting_up(here, moved(from, row.low), moved(end, row.high), std::move(body), line);
    }

    Procedure p_;
    std::map<int, int> mentions_;
    // Of the loop that is looked at.
    Count count_;
    std::map<int, int> assigned_;
};

}  // namespace

Procedure with_neighbours_summed(Procedure procedure) {
    return NeighboursSummed(with_own_variables(std::move(procedure))).run();
}

}  // namespace composit::ir::procedure
