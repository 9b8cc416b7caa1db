#include "composit/ir/procedure/states_kept.h"

#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/integer_facts.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;
using Place = std::ptrdiff_t;

// A statement of a block that a nest of loops, each a statement of the one around it, leads to.
struct Nested {
    std::vector<const Statement*> loops;
    const Block* block = nullptr;
    size_t place = 0;
    const Statement& statement() const { return (*block)[place]; }
};

// The elements that a nest reaches, once each: of each axis those from low to before high.
struct Rectangle {
    std::vector<Range> axes;  // with the counters of the loops
    std::vector<int64_t> offsets;
    std::vector<size_t> loops;  // which loop of the nest leads along the axis
    std::vector<int64_t> steps;
};

// A loop that reads one array, fills the other and exchanges them, and the loop that takes it back.
struct Turns {
    size_t forward = 0, backward = 0;  // in the procedure's body
    size_t exchange = 0, exchange_back = 0;
    size_t statements = 0, statements_back = 0;  // of the exchanges
    int read = -1, written = -1, between = -1, between_back = -1, log = -1;
    Rectangle filled;
};

class StatesKept {
  public:
    explicit StatesKept(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        while (const auto turns = any_turns()) keep(*turns);
        return std::move(p_);
    }

  private:
    // ----- what is looked for

    std::optional<Turns> any_turns() const {
        for (size_t i = 0; i < p_.body.size(); ++i)
            for (size_t k = i + 1; k < p_.body.size(); ++k)
                if (const auto turns = turns_of(i, k)) return turns;
        return {};
    }

    std::optional<Turns> turns_of(size_t forward, size_t backward) const {
        const Statement &loop = p_.body[forward], &back = p_.body[backward];
        if (loop.kind != Kind::loop || back.kind != Kind::loop) return {};
        const auto count = count_by_one(loop), count_back = count_by_one(back);
        if (!count || !count_back || count->step != 1 || count_back->step != -1 ||
            may_exit(loop.body) || may_exit(back.body) || !is_same(range_of(*count), *count_back))
            return {};
        for (size_t i = 0; i < loop.body.size(); ++i) {
            Turns turns{.forward = forward, .backward = backward, .exchange = i};
            if (exchanges_at(loop, turns) && exchanges_back_in(back, turns) &&
                fills(loop.body, turns) && puts_back(back.body, turns) && is_local(turns.read) &&
                is_local(turns.written) && reads_alone(turns))
                return turns;
        }
        return {};
    }

    bool is_same(const Range& range, const Count& back) const {
        const Range other = range_of(back);
        const IntegerFacts facts(p_);
        return facts.is_fixed(range.low) && facts.is_fixed(range.high) &&
               facts.distance(range.low, other.low) == 0 &&
               facts.distance(range.high, other.high) == 0;
    }

    bool is_local(int array) const {
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        const IntegerFacts facts(p_);
        return known.role == Role::local && !known.grows &&
               std::all_of(known.shape.begin(), known.shape.end(),
                           [&](const Expr& extent) { return facts.is_fixed(extent); });
    }

    // Behind the exchange iterations do nothing with the arrays.
    bool exchanges_at(const Statement& loop, Turns& turns) const {
        const auto exchange = exchange_at(p_, loop.body, turns.exchange);
        if (!exchange) return false;
        turns.statements = exchange->statements;
        turns.read = exchange->one;
        turns.written = exchange->other;
        turns.between = exchange->between;
        const auto begin = loop.body.begin() + static_cast<Place>(turns.exchange);
        const Block before(loop.body.begin(), begin),
            behind(begin + static_cast<Place>(turns.statements), loop.body.end());
        if (writes(before, turns.read)) std::swap(turns.read, turns.written);
        return !writes(before, turns.read) && !mentions_array(behind, turns.read) &&
               !mentions_array(behind, turns.written);
    }

    bool exchanges_back_in(const Statement& loop, Turns& turns) const {
        for (size_t i = 0; i < loop.body.size(); ++i) {
            const auto exchange = exchange_at(p_, loop.body, i);
            if (!exchange || !is_of(turns, exchange->one) || !is_of(turns, exchange->other))
                continue;
            turns.exchange_back = i;
            turns.statements_back = exchange->statements;
            turns.between_back = exchange->between;
            const Block before(loop.body.begin(), loop.body.begin() + static_cast<Place>(i));
            return !mentions_array(before, turns.read) && !mentions_array(before, turns.written);
        }
        return false;
    }

    static bool is_of(const Turns& turns, int array) {
        return array == turns.read || array == turns.written;
    }

    static bool writes(const Block& block, int array) {
        const auto all = all_statements(block);
        return std::any_of(all.begin(), all.end(), [array](const Statement* each) {
            return each->array == array && each->kind != Kind::load;
        });
    }

    // The one statement of this kind that mentions the array, if loops alone lead to it.
    static std::optional<Nested> only(const Block& block, Kind kind, int array) {
        const auto all = all_statements(block);
        const auto is_it = [&](const Statement* each) {
            return each->kind == kind && each->array == array;
        };
        if (std::count_if(all.begin(), all.end(), is_it) != 1) return {};
        Nested found;
        return leads_to(block, *std::find_if(all.begin(), all.end(), is_it), found)
                   ? std::optional(found)
                   : std::nullopt;
    }

    static bool leads_to(const Block& block, const Statement* wanted, Nested& found) {
        for (size_t i = 0; i < block.size(); ++i) {
            if (&block[i] == wanted) {
                found.block = &block;
                found.place = i;
                return true;
            }
            if (block[i].kind != Kind::loop) continue;
            found.loops.push_back(&block[i]);
            if (leads_to(block[i].body, wanted, found)) return true;
            found.loops.pop_back();
        }
        return false;
    }

    std::optional<Rectangle> rectangle_of(const Nested& nested) const {
        const Statement& write = nested.statement();
        const ArrayVariable& array = p_.arrays[static_cast<size_t>(write.array)];
        const size_t rank = array.shape.size();
        if (write.index.size() != rank || nested.loops.size() != rank) return {};
        const IntegerFacts facts(p_);
        Rectangle found;
        std::set<size_t> used;
        for (const Expr& index : write.index)
            for (size_t k = 0; k < rank; ++k) {
                const auto count = count_by_one(*nested.loops[k]);
                if (!count || may_exit(nested.loops[k]->body)) return {};
                const auto offset = offset_from(count->counter, index);
                if (!offset || !used.insert(k).second) continue;
                const Range range = range_of(*count);
                if (!facts.is_fixed(range.low) || !facts.is_fixed(range.high)) return {};
                found.axes.push_back(range);
                found.offsets.push_back(*offset);
                found.loops.push_back(k);
                found.steps.push_back(count->step);
                break;
            }
        return found.axes.size() == rank ? std::optional(found) : std::nullopt;
    }

    // Each iteration gives the elements of a rectangle values, and logs the old ones.
    bool fills(const Block& body, Turns& turns) const {
        const Block work(body.begin(), body.begin() + static_cast<Place>(turns.exchange));
        const auto store = only(work, Kind::store, turns.written),
                   load = only(work, Kind::load, turns.written);
        if (!store || !load || load->block != store->block || load->place > store->place ||
            !scalar::structurally_equal(load->statement().index, store->statement().index) ||
            count_of_mentions(work, turns.written) != 2)
            return false;
        const Statement& old = load->statement();
        const Block& block = *store->block;
        const auto append = std::find_if(block.begin(), block.end(), [&](const Statement& each) {
            return each.kind == Kind::append && is_variable(each.values[0], old.variable);
        });
        if (append == block.end() || mentions_in(p_, p_.body).at(old.variable) != 2) return false;
        turns.log = append->array;
        const auto rectangle = rectangle_of(*store);
        if (!rectangle) return false;
        turns.filled = *rectangle;
        return std::all_of(rectangle->steps.begin(), rectangle->steps.end(),
                           [](int64_t step) { return step == 1; });
    }

    // Each iteration takes them from the log, from the last to the first.
    bool puts_back(const Block& body, const Turns& turns) const {
        const auto take = only(body, Kind::take, turns.log);
        const Block work(
            body.begin() + static_cast<Place>(turns.exchange_back + turns.statements_back),
            body.end());
        const auto store = only(work, Kind::store, turns.written);
        if (!take || !store || count_of_mentions(work, turns.written) != 1) return false;
        const Block& block = *take->block;
        const size_t next = take->place + 1;
        if (next >= block.size() || block[next].kind != Kind::store ||
            block[next].array != turns.written ||
            !is_variable(block[next].values[0], take->statement().variable) ||
            mentions_in(p_, p_.body).at(take->statement().variable) != 2)
            return false;
        const auto rectangle = rectangle_of(*store);
        if (!rectangle) return false;
        const IntegerFacts facts(p_);
        for (size_t axis = 0; axis < rectangle->axes.size(); ++axis) {
            const Range &one = turns.filled.axes[axis], &other = rectangle->axes[axis];
            if (rectangle->steps[axis] != -1 ||
                rectangle->loops[axis] != turns.filled.loops[axis] ||
                rectangle->offsets[axis] != turns.filled.offsets[axis] ||
                facts.distance(one.low, other.low) != 0 ||
                facts.distance(one.high, other.high) != 0)
                return false;
        }
        return true;
    }

    // Whether the loops do nothing else with the arrays, the log and what lies between, and nobody
    // else does with the latter.
    bool reads_alone(const Turns& turns) const {
        const Block &forward = p_.body[turns.forward].body, &back = p_.body[turns.backward].body;
        const auto has_whole_index = [&](const Statement* each) {
            return each->array != turns.read || each->kind == Kind::allocate ||
                   each->index.size() == p_.arrays[static_cast<size_t>(turns.read)].shape.size();
        };
        const Block work(forward.begin(), forward.begin() + static_cast<Place>(turns.exchange));
        const Block rest(
            back.begin() + static_cast<Place>(turns.exchange_back + turns.statements_back),
            back.end());
        const auto all = all_statements(work), all_back = all_statements(rest);
        if (!std::all_of(all.begin(), all.end(), has_whole_index) ||
            !std::all_of(all_back.begin(), all_back.end(), has_whole_index) ||
            writes(rest, turns.read))
            return false;
        const ArrayVariable& log = p_.arrays[static_cast<size_t>(turns.log)];
        return log.grows && log.role == Role::local &&
               count_of_mentions(p_.body, turns.log) ==
                   2 + times_in(p_.body, Kind::allocate, turns.log) &&
               times_in(p_.body, Kind::allocate, turns.log) == 1;
    }

    static int count_of_mentions(const Block& block, int array) {
        const auto all = all_statements(block);
        return static_cast<int>(
            std::count_if(all.begin(), all.end(),
                          [array](const Statement* each) { return each->array == array; }));
    }

    static int times_in(const Block& block, Kind kind, int array) {
        const auto all = all_statements(block);
        return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const Statement* each) {
            return each->array == array && each->kind == kind;
        }));
    }

    // ----- what is made of it

    void keep(const Turns& turns) {
        const ArrayVariable like = p_.arrays[static_cast<size_t>(turns.read)];
        const Count count = *count_by_one(p_.body[turns.forward]),
                    back = *count_by_one(p_.body[turns.backward]);
        const SourceLine line = p_.body[turns.forward].line;
        const Expr trips = trips_of(p_, count, count.begin);
        ArrayVariable states{.name = "", .dtype = like.dtype, .shape = {trips + integer(2)}};
        states.shape.insert(states.shape.end(), like.shape.begin(), like.shape.end());
        states.is_streamed = true;
        states_ = p_.add_array(like.name + "_states", states);
        const auto mentions_behind = [&](size_t place, int array) {
            const Block rest(p_.body.begin() + static_cast<Place>(place), p_.body.end());
            return mentions_array(rest, array);
        };
        const auto mentions_between = [&](int array) {
            const Block rest(p_.body.begin() + static_cast<Place>(turns.forward + 1),
                             p_.body.begin() + static_cast<Place>(turns.backward));
            return mentions_array(rest, array);
        };
        Block before{Statement::allocate(states_, false, line)}, after, behind;
        before.push_back(copied(turns.written, integer(0), true, line));
        before.push_back(copied(turns.read, integer(1), true, line));
        if (mentions_between(turns.read))
            after.push_back(copied(turns.read, trips + integer(1), false, line));
        if (mentions_between(turns.written))
            after.push_back(copied(turns.written, trips, false, line));
        if (mentions_behind(turns.backward + 1, turns.read))
            behind.push_back(copied(turns.read, integer(1), false, line));
        if (mentions_behind(turns.backward + 1, turns.written))
            behind.push_back(copied(turns.written, integer(0), false, line));

        Statement& forward = p_.body[turns.forward];
        const auto exchange = forward.body.begin() + static_cast<Place>(turns.exchange);
        forward.body.erase(exchange, exchange + static_cast<Place>(turns.statements));
        const Expr trip = trip_of(p_, count, count.begin);
        use_states(forward.body, turns, trip);
        Block rest = others_copied(turns.filled, trip, line);
        forward.body.insert(forward.body.begin(), rest.begin(), rest.end());
        Block& body = p_.body[turns.backward].body;
        const auto begin = body.begin() + static_cast<Place>(turns.exchange_back);
        body.erase(begin, begin + static_cast<Place>(turns.statements_back));
        use_states(body, turns, minus(p_.variable(static_cast<size_t>(back.counter)), count.begin));

        const auto insert = [&](size_t place, const Block& made) {
            p_.body.insert(p_.body.begin() + static_cast<Place>(place), made.begin(), made.end());
        };
        insert(turns.backward + 1, behind);
        insert(turns.forward + 1, after);
        insert(turns.forward, before);
        leave_out(p_.body, [&](const Statement& each) {
            return each.array == turns.log || each.array == turns.between ||
                   each.array == turns.between_back;
        });
    }

    // Of iteration `trip`, without what is logged, taken and put back.
    void use_states(Block& body, const Turns& turns, const Expr& trip) {
        std::set<int> logged;
        for (const Statement* each : all_statements(body))
            if (each->array == turns.log && each->kind == Kind::take) logged.insert(each->variable);
        leave_out(body, [&](const Statement& each) {
            const bool is_old = each.kind == Kind::load && each.array == turns.written;
            const bool is_put_back = each.kind == Kind::store && each.array == turns.written &&
                                     each.values[0].op() == scalar::Op::argument &&
                                     logged.contains(each.values[0].index());
            return is_old || is_put_back || each.array == turns.log;
        });
        lead(body, turns, trip);
    }

    void lead(Block& body, const Turns& turns, const Expr& trip) const {
        for (Statement& each : body) {
            lead(each.body, turns, trip);
            lead(each.otherwise, turns, trip);
            if (!is_of(turns, each.array)) continue;
            const int64_t later = each.array == turns.read ? 1 : 2;
            each.index.insert(each.index.begin(), trip + integer(later));
            each.array = states_;
        }
    }

    // And without loops that do nothing then.
    static void leave_out(Block& block, const std::function<bool(const Statement&)>& goes) {
        for (size_t i = block.size(); i-- > 0;) {
            const bool had_any = !block[i].body.empty();
            leave_out(block[i].body, goes);
            leave_out(block[i].otherwise, goes);
            const bool is_idle = block[i].kind == Kind::loop && had_any && block[i].body.empty();
            if (is_idle || goes(block[i])) block.erase(block.begin() + static_cast<Place>(i));
        }
    }

    Expr new_variable(const char* name, DType dtype) {
        p_.variables.push_back({name, dtype});
        return p_.variable(p_.variables.size() - 1);
    }

    // One element from `from` to `to`.
    Statement loops(const std::vector<std::pair<Expr, Expr>>& ranges,
                    const std::function<Block(const std::vector<Expr>&)>& innermost,
                    const SourceLine& line) {
        std::vector<Expr> counters;
        for (size_t axis = 0; axis < ranges.size(); ++axis)
            counters.push_back(new_variable("k", DType::int64));
        Block body = innermost(counters);
        for (size_t axis = ranges.size(); axis-- > 0;)
            body = {counting_up(counters[axis], ranges[axis].first, ranges[axis].second,
                                std::move(body), line)};
        return std::move(body[0]);
    }

    // All of an array to a state, or from there.
    Statement copied(int array, const Expr& state, bool is_to_state, const SourceLine& line) {
        const ArrayVariable known = p_.arrays[static_cast<size_t>(array)];
        std::vector<std::pair<Expr, Expr>> ranges;
        for (const Expr& extent : known.shape) ranges.emplace_back(integer(0), extent);
        return loops(
            ranges,
            [&](const std::vector<Expr>& own) {
                std::vector<Expr> kept = own;
                kept.insert(kept.begin(), state);
                const Expr value = new_variable("value", known.dtype);
                return Block{Statement::load(value.index(), is_to_state ? array : states_,
                                             is_to_state ? own : kept, line),
                             Statement::write(Kind::store, is_to_state ? states_ : array,
                                              is_to_state ? kept : own, value, line)};
            },
            line);
    }

    // What the iteration does not fill: along each axis what lies before and behind the rectangle,
    // within it along the axes before.
    Block others_copied(const Rectangle& filled, const Expr& trip, const SourceLine& line) {
        const ArrayVariable states = p_.arrays[static_cast<size_t>(states_)];
        const IntegerFacts facts(p_);
        Block out;
        std::vector<std::pair<Expr, Expr>> ranges;
        for (size_t axis = 0; axis < filled.axes.size(); ++axis)
            ranges.emplace_back(integer(0), states.shape[axis + 1]);
        for (size_t axis = 0; axis < filled.axes.size(); ++axis) {
            const Expr extent = states.shape[axis + 1];
            const Expr low = moved(filled.axes[axis].low, filled.offsets[axis]),
                       high = moved(filled.axes[axis].high, filled.offsets[axis]);
            const auto copy = [&](const Expr& from, const Expr& to) {
                std::vector<std::pair<Expr, Expr>> own = ranges;
                own[axis] = {from, to};
                out.push_back(loops(
                    own, [&](const std::vector<Expr>& at) { return moved_on(at, trip, line); },
                    line));
            };
            if (facts.distance(low, integer(0)) != 0)
                copy(integer(0), select(low < extent, low, extent));
            if (facts.distance(high, extent) != 0)
                copy(select(high > integer(0), high, integer(0)), extent);
            ranges[axis] = {low, high};
        }
        return out;
    }

    Block moved_on(const std::vector<Expr>& at, const Expr& trip, const SourceLine& line) {
        std::vector<Expr> from = at, to = at;
        from.insert(from.begin(), trip);
        to.insert(to.begin(), trip + integer(2));
        const Expr value = new_variable("value", p_.arrays[static_cast<size_t>(states_)].dtype);
        return {Statement::load(value.index(), states_, from, line),
                Statement::write(Kind::store, states_, to, value, line)};
    }

    static Expr moved(const Expr& value, int64_t by) { return minus(value, integer(-by)); }

    Procedure p_;
    int states_ = -1;  // of the loop that is changed
};

}  // namespace

Procedure with_states_kept(Procedure procedure) { return StatesKept(std::move(procedure)).run(); }

}  // namespace composit::ir::procedure
