// with_neighbours_apart: loops that add to neighbouring elements of one array, as the gradient of a
// stencil does.
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

// Additions of an innermost loop to one array, whose places along the last axis are its counter and
// a constant; those of one row have the same places along the others.
struct Sums {
    struct Addition {
        size_t place;  // in the body
        int64_t offset;
    };
    std::vector<std::vector<Addition>> rows;
};

std::vector<Expr> row_of(const Statement& addition) {
    return {addition.index.begin(), addition.index.end() - 1};
}

// The additions to the array, if the loop has nothing else of it, and rows are apart.
std::optional<Sums> sums_of(const Statement& loop, int counter, int array) {
    const std::map<int, int> assigned = assignments_in({loop});
    Sums sums;
    for (size_t place = 0; place < loop.body.size(); ++place) {
        const Statement& each = loop.body[place];
        if (each.array != array) continue;
        if (each.kind != Kind::add) return {};
        const auto offset = offset_from(counter, each.index.back());
        const std::vector<Expr> others = row_of(each);
        if (!offset || reads_any(others, assigned)) return {};
        std::vector<Sums::Addition>* own = nullptr;
        for (auto& row : sums.rows) {
            const std::vector<Expr> known = row_of(loop.body[row[0].place]);
            if (known.size() != others.size()) return {};
            if (scalar::structurally_equal(known, others))
                own = &row;
            else if (!are_apart(known, others))
                return {};
        }
        if (!own) own = &sums.rows.emplace_back();
        own->push_back({place, *offset});
    }
    return sums;
}

// Whether nothing but such additions keeps iterations of the loop from running side by side.
bool is_candidate(const Procedure& p, const Statement& loop, int counter) {
    const bool is_plain =
        !loop.body.empty() &&
        std::all_of(loop.body.begin(), loop.body.end(), [](const Statement& each) {
            return each.kind == Kind::assign || each.kind == Kind::load ||
                   each.kind == Kind::take || is_write(each);
        });
    if (!is_plain) return false;
    std::set<int> added, others;
    for (const Statement& each : loop.body)
        if (is_write(each)) (each.kind == Kind::add ? added : others).insert(each.array);
    return std::all_of(others.begin(), others.end(),
                       [&](int array) { return has_own_elements(p, loop.body, counter, array); });
}

class NeighboursApart {
  public:
    explicit NeighboursApart(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        walk(p_.body, nullptr);
        return std::move(p_);
    }

  private:
    // Memory for values that a loop hands to the one behind it.
    struct Room {
        std::set<int> read;  // variables that say how much
        Block made;
    };

    // The rooms that may stand before the statement around the block: it does not change what they
    // read. None: they stand in the block.
    std::vector<Room> walk(Block& block, const Statement* around) {
        std::vector<Room> outside;
        for (size_t i = 0; i < block.size(); ++i) {
            std::vector<Room> rooms;
            for (Block* inner : {&block[i].body, &block[i].otherwise})
                for (Room& room : walk(*inner, &block[i])) rooms.push_back(std::move(room));
            if (block[i].kind == Kind::loop) {
                const Block behind = taken_apart(block[i], rooms);
                block.insert(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, behind.begin(),
                             behind.end());
            }
            for (Room& room : rooms) {
                if (around && !changes(*around, room.read)) {
                    outside.push_back(std::move(room));
                    continue;
                }
                block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), room.made.begin(),
                             room.made.end());
                i += room.made.size();
            }
        }
        return outside;
    }

    static bool changes(const Statement& statement, const std::set<int>& variables) {
        const std::map<int, int> assigned = assignments_in({statement});
        return std::any_of(variables.begin(), variables.end(),
                           [&](int variable) { return assigned.contains(variable); });
    }

    // The loops behind the loop that add what it does not add any more.
    Block taken_apart(Statement& loop, std::vector<Room>& rooms) {
        const auto count = count_of(loop);
        if (!count || (count->step != 1 && count->step != -1)) return {};
        const bool is_short =
            count->begin.op() == scalar::Op::constant && count->end.op() == scalar::Op::constant;
        if (is_short || !range_of(loop) || !is_candidate(p_, loop, count->counter)) return {};
        std::set<int> arrays;
        for (const Statement& each : loop.body)
            if (each.kind == Kind::add && is_floating(each.values[0].dtype()))
                arrays.insert(each.array);
        std::map<size_t, int64_t> later;  // by the place of an addition, in which order
        for (const int array : arrays) {
            if (has_own_elements(p_, loop.body, count->counter, array)) continue;
            const auto sums = sums_of(loop, count->counter, array);
            if (!sums) return {};
            for (const auto& row : sums->rows) add_later(row, count->step, later);
        }
        return later.empty() ? Block() : separated(loop, *count, later, rooms);
    }

    // Of a loop that goes down, the element at j receives what is added at j + 1 before what is
    // added at j - 1: what has the least offset is added first. The first stays in the loop.
    static void add_later(const std::vector<Sums::Addition>& row, int64_t step,
                          std::map<size_t, int64_t>& later) {
        const auto order = [step](const Sums::Addition& each) { return -step * each.offset; };
        int64_t first = order(row[0]);
        for (const Sums::Addition& each : row) first = std::min(first, order(each));
        for (const Sums::Addition& each : row)
            if (order(each) != first) later[each.place] = order(each);
    }

    static bool assigns_any(const Block& body, size_t begin, size_t end,
                            const std::set<int>& variables) {
        return std::any_of(body.begin() + static_cast<std::ptrdiff_t>(begin),
                           body.begin() + static_cast<std::ptrdiff_t>(end),
                           [&](const Statement& each) { return changes(each, variables); });
    }

    Block separated(Statement& loop, const Count& count, const std::map<size_t, int64_t>& later,
                    std::vector<Room>& rooms) {
        const SourceLine line = loop.line;
        const int trips = p_.add_variable("trips", DType::int64);
        const Expr times = trips_of(p_, count, count.begin), low = range_of(loop)->low;
        Room room{variables_in({times}), {Statement::assign(trips, times, line)}};
        struct Kept {
            Expr value;
            size_t place;
            int array;
        };
        std::vector<Kept> kept;
        std::map<int64_t, Block> passes;
        Block body;
        for (size_t place = 0; place < loop.body.size(); ++place) {
            const Statement& each = loop.body[place];
            const auto found = later.find(place);
            if (found == later.end()) {
                body.push_back(each);
                continue;
            }
            const Expr& value = each.values[0];
            const std::set<int> read = variables_in({value});
            const auto known = std::find_if(kept.begin(), kept.end(), [&](const Kept& one) {
                return scalar::structurally_equal({one.value}, {value}) &&
                       !assigns_any(loop.body, one.place, place, read);
            });
            int array = known == kept.end() ? -1 : known->array;
            // Terms lie in memory as elements do, whichever way the loop goes.
            const Expr own =
                scalar::simplify({minus(p_.variable(static_cast<size_t>(count.counter)), low)})[0];
            if (array < 0) {
                array = p_.add_array("terms", {.name = "",
                                               .dtype = value.dtype(),
                                               .shape = {p_.variable(static_cast<size_t>(trips))}});
                room.made.push_back(Statement::allocate(array, false, line));
                body.push_back(Statement::write(Kind::store, array, {own}, value, each.line));
                kept.push_back({value, place, array});
            }
            const int term = p_.add_variable("term", value.dtype());
            Block& pass = passes[found->second];
            pass.push_back(Statement::load(term, array, {own}, each.line));
            pass.push_back(Statement::write(Kind::add, each.array, each.index,
                                            p_.variable(static_cast<size_t>(term)), each.line));
        }
        Block behind;
        for (auto& [order, pass] : passes) {
            Statement made = loop;
            made.body = std::move(pass);
            p_.variables.push_back(p_.variables[static_cast<size_t>(count.counter)]);
            std::vector<Expr> by = all_variables(p_);
            by[static_cast<size_t>(count.counter)] = p_.variable(p_.variables.size() - 1);
            Block one{std::move(made)};
            replace_variables(one, by, true);
            behind.push_back(std::move(one[0]));
        }
        loop.body = std::move(body);
        rooms.push_back(std::move(room));
        return behind;
    }

    Procedure p_;
};

}  // namespace

bool adds_apart(const Procedure& procedure, const Statement& loop) {
    const auto count = count_of(loop);
    if (!count || !is_candidate(procedure, loop, count->counter)) return false;
    bool is_any = false;
    for (const Statement& each : loop.body) {
        if (each.kind != Kind::add ||
            has_own_elements(procedure, loop.body, count->counter, each.array))
            continue;
        const auto sums = sums_of(loop, count->counter, each.array);
        if (!sums) return false;
        for (const auto& row : sums->rows)
            for (const Sums::Addition& one : row)
                if (one.offset != row[0].offset) return false;
        is_any = true;
    }
    return is_any;
}

Procedure with_neighbours_apart(Procedure procedure) {
    return NeighboursApart(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
