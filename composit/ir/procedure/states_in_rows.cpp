#include "composit/ir/procedure/states_in_rows.h"

#include "composit/ir/procedure/integer_facts.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;
using Step = std::ptrdiff_t;

bool is_plain_of_states(const Statement& statement) {
    return is_value(statement) || is_write(statement) || statement.kind == Kind::append ||
           statement.kind == Kind::take;
}

bool is_element(const Statement& statement, int array, int counter) {
    return statement.array == array && statement.index.size() == 1 &&
           is_variable(statement.index[0], counter);
}

int times_of(const Block& block, Kind kind, int array) {
    const auto all = all_statements(block);
    return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const Statement* each) {
        return each->kind == kind && each->array == array;
    }));
}

// An array, its log and where both are in the procedure's own block.
struct States {
    int array = -1, log = -1;
    size_t forward = 0, back = 0;      // the loops
    size_t stores = 0, puts_back = 0;  // the loops within them over all elements
    Range range;                       // of both
    int back_counter = -1;
};

class StatesInRows {
  public:
    explicit StatesInRows(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        while (const auto states = find()) put_in_rows(*states);
        return std::move(p_);
    }

  private:
    const ArrayVariable& array(int number) const { return p_.arrays[static_cast<size_t>(number)]; }

    // A loop over all elements of an array, in order or against it; of plain statements, if asked.
    std::optional<int> counter_over(const Statement& loop, int array_number,
                                    bool is_plain_alone = true) const {
        if (loop.kind != Kind::loop) return {};
        const auto count = count_by_one(loop);
        if (!count) return {};
        const Range range = range_of(*count);
        const bool is_plain =
            is_plain_alone ? std::all_of(loop.body.begin(), loop.body.end(), is_plain_of_states)
                           : !may_exit(loop.body);
        const bool is_all =
            is_integer_constant(range.low, 0) &&
            scalar::structurally_equal({range.high}, {element_count(array(array_number).shape)});
        return is_plain && is_all ? std::optional(count->counter) : std::nullopt;
    }

    std::optional<States> find() const {
        const IntegerFacts facts(p_);
        for (size_t f = 0; f < p_.body.size(); ++f) {
            const Statement& loop = p_.body[f];
            const auto count = loop.kind == Kind::loop ? count_by_one(loop) : std::nullopt;
            if (!count || count->step != 1 || may_exit(loop.body)) continue;
            for (size_t c = 0; c < loop.body.size(); ++c)
                for (const Statement& each : loop.body[c].body)
                    if (loop.body[c].kind == Kind::loop && each.kind == Kind::append)
                        if (auto found = states_of(f, c, each.array, *count, facts)) return found;
        }
        return {};
    }

    std::optional<States> states_of(size_t f, size_t c, int log, const Count& count,
                                    const IntegerFacts& facts) const {
        States made;
        made.log = log;
        made.forward = f;
        made.stores = c;
        made.range = range_of(count);
        const Statement &loop = p_.body[f], &within = loop.body[c];
        const auto append = std::find_if(
            within.body.begin(), within.body.end(),
            [&](const Statement& each) { return each.kind == Kind::append && each.array == log; });
        const auto load = std::find_if(within.body.begin(), append, [&](const Statement& each) {
            return each.kind == Kind::load && is_variable(append->values[0], each.variable);
        });
        if (load == append) return {};
        made.array = load->array;
        const auto counter = counter_over(within, made.array);
        if (!counter || !is_element(*load, made.array, *counter) || !are_local(made) ||
            !is_known_to_run(made, facts) || !stores_each(within, made.array, *counter) ||
            within.body.end() ==
                std::find_if(append, within.body.end(), [&](const Statement& each) {
                    return each.kind == Kind::store && each.array == made.array;
                }))
            return {};
        if (!find_way_back(made) || !writes_nothing_else(made)) return {};
        return made;
    }

    // Whether nothing but one allocation, one append and one take mentions the log, and both are
    // made in the procedure's own block.
    bool are_local(const States& states) const {
        const ArrayVariable &kept = array(states.array), &log = array(states.log);
        const auto is_made_once = [&](int number) {
            return times_of(p_.body, Kind::allocate, number) == 1 &&
                   std::any_of(p_.body.begin(), p_.body.begin() + static_cast<Step>(states.forward),
                               [&](const Statement& each) {
                                   return each.kind == Kind::allocate && each.array == number &&
                                          !each.is_zeroed;
                               });
        };
        const auto all = all_statements(p_.body);
        const auto mentions = std::count_if(all.begin(), all.end(), [&](const Statement* each) {
            return each->array == states.log;
        });
        return kept.role == Role::local && !kept.grows && kept.shape.size() == 1 &&
               log.role == Role::local && log.grows && kept.dtype == log.dtype && mentions == 3 &&
               times_of(p_.body, Kind::append, states.log) == 1 &&
               times_of(p_.body, Kind::take, states.log) == 1 && is_made_once(states.array) &&
               is_made_once(states.log);
    }

    // Whether the loop runs no negative number of times, as is known, or asserted before.
    bool is_known_to_run(const States& states, const IntegerFacts& facts) const {
        const Range& range = states.range;
        if (!facts.is_fixed(range.low) || !facts.is_fixed(range.high) ||
            !facts.is_fixed(array(states.array).shape[0]))
            return false;
        if (facts.is_at_least(range.high, range.low)) return true;
        return std::any_of(p_.body.begin(), p_.body.begin() + static_cast<Step>(states.forward),
                           [&](const Statement& each) {
                               if (each.kind != Kind::expect) return false;
                               const Expr& holds = each.values[0];
                               const bool is_less = holds.op() == scalar::Op::less,
                                          is_greater = holds.op() == scalar::Op::greater;
                               const bool may_equal = holds.op() == scalar::Op::less_equal ||
                                                      holds.op() == scalar::Op::greater_equal;
                               if (!is_less && !is_greater && !may_equal) return false;
                               const bool begins_low =
                                   is_less || holds.op() == scalar::Op::less_equal;
                               const Expr &low = holds.operand(begins_low ? 0 : 1),
                                          &high = holds.operand(begins_low ? 1 : 0);
                               // low < high, so that high - low - 1 is no negative number.
                               const Expr least = minus(high, low);
                               return facts.is_fixed(high) && facts.is_fixed(low) &&
                                      facts.is_at_least(minus(range.high, range.low),
                                                        may_equal ? least : one_less(least));
                           });
    }

    // Whether each iteration of a loop over all elements stores its own one, once, and looks at no
    // other one.
    static bool stores_each(const Statement& loop, int array, int counter) {
        int stores = 0;
        for (const Statement& each : loop.body) {
            if (!mentions_array(each, array)) continue;
            if (!is_element(each, array, counter) || each.kind == Kind::add) return false;
            stores += each.kind == Kind::store;
        }
        return stores == 1;
    }

    // The loop down over the same range in which all elements are taken from the log.
    bool find_way_back(States& states) const {
        for (size_t g = states.forward + 1; g < p_.body.size(); ++g) {
            const Statement& loop = p_.body[g];
            const auto count = loop.kind == Kind::loop ? count_by_one(loop) : std::nullopt;
            if (!count || count->step != -1 || may_exit(loop.body)) continue;
            const Range range = range_of(*count);
            if (!scalar::structurally_equal({range.low, range.high},
                                            {states.range.low, states.range.high}))
                continue;
            for (size_t d = 0; d < loop.body.size(); ++d) {
                const Statement& within = loop.body[d];
                const auto counter = counter_over(within, states.array);
                if (!counter || !stores_each(within, states.array, *counter)) continue;
                if (!is_put_back(within, states, *counter)) continue;
                states.back = g;
                states.puts_back = d;
                states.back_counter = count->counter;
                return true;
            }
        }
        return false;
    }

    static bool is_put_back(const Statement& loop, const States& states, int counter) {
        for (size_t i = 0; i < loop.body.size(); ++i) {
            if (loop.body[i].kind != Kind::take || loop.body[i].array != states.log) continue;
            const int value = loop.body[i].variable;
            for (size_t k = i + 1; k < loop.body.size(); ++k)
                if (loop.body[k].kind == Kind::store &&
                    is_element(loop.body[k], states.array, counter))
                    return is_variable(loop.body[k].values[0], value) &&
                           assignments_in(loop.body).at(value) == 1;
        }
        return false;
    }

    // Whether the loops store what they store alone, and nothing behind the first one does.
    bool writes_nothing_else(const States& states) const {
        const auto writes = [&](const Block& block) {
            return times_of(block, Kind::store, states.array) +
                   times_of(block, Kind::add, states.array);
        };
        int all = 0;
        for (size_t i = states.forward; i < p_.body.size(); ++i) all += writes({p_.body[i]});
        return all == 2;
    }

    // ----- what is made of them

    // How many statements read each variable.
    std::map<int, int> times_read() const {
        std::map<int, int> times;
        for (const Statement* each : all_statements(p_.body))
            for (const int variable : variables_in(expressions_of(p_, *each))) ++times[variable];
        return times;
    }

    void put_in_rows(const States& states) {
        const Expr low = states.range.low, high = states.range.high;
        ArrayVariable like = array(states.array);
        const IntegerFacts facts(p_);
        like.shape.insert(like.shape.begin(),
                          facts.resolved(scalar::simplify({one_more(minus(high, low))})[0]));
        // "scores" of a score, "bias_rows" of a bias.
        const bool is_of_one = !like.name.empty() && like.name.back() >= 'a' &&
                               like.name.back() <= 'z' && like.name.back() != 's';
        const int rows = p_.add_array(like.name + (is_of_one ? "s" : "_rows"), like);
        const auto row = [&](int counter, bool is_next) {
            const Expr from = minus(p_.variable(static_cast<size_t>(counter)), low);
            return scalar::simplify({is_next ? one_more(from) : from})[0];
        };
        const std::map<int, int> read = times_read();
        const int up = states.range.counter, down = states.back_counter;
        for (size_t i = 0; i < p_.body.size(); ++i) {
            const bool is_between = i > states.forward && i < states.back;
            Block& body = p_.body[i].body;
            if (i == states.forward)
                put_iteration(body, states, states.stores, read, {rows, row(up, false)},
                              {rows, row(up, true)});
            else if (i == states.back)
                put_iteration(body, states, states.puts_back, read, {rows, row(down, true)},
                              {rows, row(down, false)});
            else
                put(p_.body[i], states.array,
                    {rows, is_between ? scalar::simplify({minus(high, low)})[0] : integer(0)});
        }
        std::set<int> gone{states.log};
        if (const auto copied = computed_in_next(p_.body[states.forward].body, rows)) {
            Block& body = p_.body[states.forward].body;
            leave_out_allocations(body, *copied);
            for (Statement& each : body) put(each, *copied, {rows, row(up, true)});
            std::erase_if(body, [&](const Statement& each) { return copies_itself(each, rows); });
            gone.insert(*copied);
        }
        leave_out(p_.body, gone);
    }

    static void leave_out(Block& block, const std::set<int>& gone) {
        std::erase_if(block, [&](const Statement& each) { return gone.contains(each.array); });
        for (Statement& each : block)
            for (Block* inner : {&each.body, &each.otherwise}) leave_out(*inner, gone);
    }

    static void leave_out_allocations(Block& block, int array) {
        std::erase_if(block, [&](const Statement& each) {
            return each.kind == Kind::allocate && each.array == array;
        });
    }

    struct Row {
        int rows;
        Expr number;
    };

    // The statement mentions a row in place of the array.
    static void put(Statement& statement, int array, const Row& row) {
        if (statement.array == array) {
            statement.array = row.rows;
            if (statement.kind != Kind::allocate)
                statement.index.insert(statement.index.begin(), row.number);
        }
        for (Block* inner : {&statement.body, &statement.otherwise})
            for (Statement& each : *inner) put(each, array, row);
    }

    // An iteration, in which the loop at a place goes from one row to another.
    static void put_iteration(Block& body, const States& states, size_t place,
                              const std::map<int, int>& read, const Row& before,
                              const Row& behind) {
        for (size_t i = 0; i < body.size(); ++i)
            if (i != place) put(body[i], states.array, i < place ? before : behind);
        Block made;
        bool is_stored = false, takes = false;
        std::set<int> logged;  // variables that are read for the log alone
        const auto is_for_log = [&](int variable) { return read.at(variable) == 1; };
        for (const Statement& each : body[place].body) {
            takes |= each.kind == Kind::take && each.array == states.log;
            if (each.kind == Kind::append && each.array == states.log)
                logged = variables_in(each.values);
        }
        for (Statement each : body[place].body) {
            const bool is_store = each.kind == Kind::store && each.array == states.array;
            const bool is_idle = each.kind == Kind::load && each.array == states.array &&
                                 logged.contains(each.variable) && is_for_log(each.variable);
            is_stored |= is_store;
            if ((each.kind == Kind::append && each.array == states.log) || is_idle ||
                (is_store && takes))
                continue;
            if (each.kind == Kind::take && each.array == states.log) {
                if (is_for_log(each.variable)) continue;
                const int counter = range_of(body[place])->counter;
                each = Statement::load(each.variable, behind.rows,
                                       {behind.number, Expr::argument(counter, DType::int64)},
                                       each.line);
            } else {
                put(each, states.array, is_stored ? behind : before);
            }
            made.push_back(std::move(each));
        }
        body[place].body = std::move(made);
        if (body[place].body.empty()) body.erase(body.begin() + static_cast<Step>(place));
    }

    // for (j …) rows[k, j] = rows[k, j]
    static bool copies_itself(const Statement& loop, int rows) {
        return loop.kind == Kind::loop && loop.body.size() == 2 &&
               loop.body[0].kind == Kind::load && loop.body[1].kind == Kind::store &&
               loop.body[0].array == rows && loop.body[1].array == rows &&
               scalar::structurally_equal(loop.body[0].index, loop.body[1].index) &&
               is_variable(loop.body[1].values[0], loop.body[0].variable);
    }

    // The array of an iteration's own that it fills first, and copies to the next row in the end.
    std::optional<int> computed_in_next(const Block& body, int rows) const {
        const std::map<int, int> read = times_read();
        for (size_t c = 0; c < body.size(); ++c) {
            const Statement& loop = body[c];
            if (loop.kind != Kind::loop || loop.body.size() != 2) continue;
            const Statement &load = loop.body[0], &store = loop.body[1];
            if (load.kind != Kind::load || store.kind != Kind::store || store.array != rows ||
                load.array == rows || store.index.size() != 2 || load.index.size() != 1 ||
                !is_variable(store.values[0], load.variable) || read.at(load.variable) != 1 ||
                !scalar::structurally_equal({load.index[0]}, {store.index[1]}))
                continue;
            const int own = load.array;
            const auto counter = counter_over(loop, own);
            const bool is_alike =
                counter && is_variable(load.index[0], *counter) && array(own).role == Role::local &&
                array(own).dtype == array(rows).dtype && array(own).shape.size() == 1 &&
                !array(own).grows &&
                scalar::structurally_equal({array(own).shape[0]}, {array(rows).shape[1]});
            if (is_alike && is_of_iteration(body, c, own)) return own;
        }
        return {};
    }

    // Whether the iteration alone mentions the array, and fills it before it reads it.
    bool is_of_iteration(const Block& body, size_t copies, int own) const {
        size_t within = 0, everywhere = 0;
        for (const Statement* each : all_statements(p_.body)) {
            const bool is_idle = each->kind == Kind::allocate && !each->is_zeroed;
            if (each->array == own && each->kind == Kind::allocate && each->is_zeroed) return false;
            everywhere += each->array == own && !is_idle;
        }
        bool is_filled = false;
        for (size_t i = 0; i <= copies; ++i) {
            const Block one{body[i]};
            for (const Statement* each : all_statements(one))
                within += each->array == own && each->kind != Kind::allocate;
            if (is_filled || !mentions_array(one, own)) continue;
            if (body[i].kind == Kind::allocate) continue;
            const auto counter = counter_over(body[i], own, false);
            if (!counter || !stores_each(body[i], own, *counter)) return false;
            const auto first =
                std::find_if(body[i].body.begin(), body[i].body.end(),
                             [&](const Statement& each) { return each.array == own; });
            if (first->kind != Kind::store) return false;
            is_filled = true;
        }
        return is_filled && within == everywhere;
    }

    Procedure p_;
};

}  // namespace

Procedure with_states_in_rows(Procedure procedure) {
    if (!procedure.reverse_of) return procedure;
    return StatesInRows(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
