// with_loops_together: what loops hand to one another by way of arrays stays in one iteration.
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;
using scalar::Op;
using Place = std::ptrdiff_t;

bool is_plain(const Statement& statement) {
    return statement.kind == Kind::assign || statement.kind == Kind::load || is_write(statement);
}

bool leaves(const Block& block) {
    const auto all = all_statements(block);
    return std::any_of(all.begin(), all.end(),
                       [](const Statement* statement) { return statement->kind == Kind::leave; });
}

bool ends_early(const Statement& loop) {
    return has_own(loop.body, Kind::stop) || has_own(loop.body, Kind::go_on) || leaves(loop.body);
}

bool is_same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return a.size() == b.size() && scalar::structurally_equal(a, b);
}

// The range of a loop that goes up or down by one, as it is written, over a counter `as`.
struct Head {
    int counter = -1;
    std::vector<Expr> values;
};

std::optional<Head> head_of(const Procedure& procedure, const Statement& loop, int as) {
    const auto counter = stepped_by(loop);
    if (!counter) return {};
    const std::set<int> read = variables_in({loop.values[0], loop.first[0].values[0]});
    for (const auto& [variable, times] : assignments_in(loop.body))
        if (read.contains(variable)) return {};
    std::vector<Expr> by = all_variables(procedure);
    by[static_cast<size_t>(*counter)] = procedure.variable(static_cast<size_t>(as));
    const auto renamed = [&](const Expr& value) { return scalar::substitute({value}, by)[0]; };
    return Head{
        *counter,
        {loop.first[0].values[0], renamed(loop.values[0]), renamed(loop.otherwise[0].values[0])}};
}

class Joiner {
  public:
    Joiner(Procedure procedure, const std::set<std::string>& names)
        : p_(std::move(procedure)), names_(names) {}

    Procedure run() {
        mentions_ = mentions_in(p_, p_.body);
        join(p_.body);
        return std::move(p_);
    }

  private:
    void join(Block& block) {
        for (Statement& statement : block) {
            if (statement.kind == Kind::loop) around_.push_back({&block, &statement});
            for (Block* inner : {&statement.body, &statement.otherwise}) join(*inner);
            if (statement.kind == Kind::loop) around_.pop_back();
        }
        for (size_t i = 0; i < block.size(); ++i) {
            if (const auto exchange = reversible_exchange_at(p_, block, i)) {
                i += exchange->statements - 1;
                continue;
            }
            while (const size_t next = next_to_join(block, i)) {
                append(block[i], block[next]);
                block.erase(block.begin() + static_cast<Place>(next));
                // What stood between stands before: the sum that the second loop adds to.
                std::rotate(block.begin() + static_cast<Place>(i),
                            block.begin() + static_cast<Place>(i) + 1,
                            block.begin() + static_cast<Place>(next));
                i = next - 1;
            }
            if (const size_t next = next_to_enter(block, i)) {
                prepend(block[next], block[i]);
                block.erase(block.begin() + static_cast<Place>(i));
                while (forward(block, next - 1)) continue;
                mentions_ = mentions_in(p_, p_.body);
                i = static_cast<size_t>(-1);  // what stands before may enter that loop, now
                continue;
            }
            const Block& body = block[i].body;
            if (block[i].kind != Kind::loop || !std::all_of(body.begin(), body.end(), is_plain))
                continue;
            while (forward(block, i)) continue;
        }
    }

    // The loop behind this one whose iterations may begin with this one's, in any order: these
    // write nothing but elements that the same iteration of that loop alone reads; 0: none.
    size_t next_to_enter(const Block& block, size_t place) const {
        if (block[place].kind != Kind::loop) return 0;
        for (size_t next = place + 1; next < block.size(); ++next) {
            if (block[next].kind == Kind::loop)
                return !reversible_exchange_at(p_, block, next) && may_enter(block, place, next)
                           ? next
                           : 0;
            if (!may_stand_before(block[next], block[place])) return 0;
        }
        return 0;
    }

    bool may_enter(const Block& block, size_t place, size_t next) const {
        const Statement &one = block[place], &other = block[next];
        const auto first = range_of(one), second = range_of(other);
        if (!first || !second || !is_same({first->low, first->high}, {second->low, second->high}))
            return false;
        std::set<int> bounds = variables_in({first->low, first->high});
        for (const auto& [variable, times] : assignments_in({one, other}))
            if (bounds.contains(variable)) return false;
        if (mentions_in(p_, {one})[first->counter] != mentions_.at(first->counter) ||
            mentions_in(p_, {other})[second->counter] != mentions_.at(second->counter) ||
            shares_variables(one.body, other.body, first->counter, second->counter) ||
            is_for_vectors(p_, one) || ends_early(other))
            return false;
        // Each iteration has variables of its own.
        std::map<int, int> within = mentions_in(p_, one.body);
        const std::set<int> exposed = exposed_in(p_, one.body);
        for (const auto& [variable, times] : assignments_in(one.body))
            if (exposed.contains(variable) || within[variable] != mentions_.at(variable))
                return false;
        Statement both = other;
        prepend(both, one);
        std::set<int> written;
        bool takes = false;
        for (const Statement& statement : one.body) {
            if (statement.kind == Kind::loop && !is_computation(statement.body)) return false;
            if (statement.kind != Kind::loop && !is_plain(statement)) return false;
            if (!is_write(statement)) continue;
            written.insert(statement.array);
            const bool makes = statement.kind == Kind::store || is_only_write(statement.array);
            if (!makes || !is_last_read(block, next, place, statement) ||
                !has_own_elements(p_, both.body, second->counter, statement.array))
                return false;
            takes |= mentions_array(other.body, statement.array);
        }
        for (const Statement* statement : all_statements(one.body)) {
            if (statement->kind != Kind::load || written.contains(statement->array)) continue;
            for (const Statement* write : all_statements(other.body))
                if (write->array == statement->array && write->kind != Kind::load) return false;
        }
        return takes;
    }

    static bool is_computation(const Block& body) {
        return std::all_of(body.begin(), body.end(), [](const Statement& each) {
            return each.kind == Kind::assign || each.kind == Kind::load ||
                   (each.kind == Kind::loop && is_computation(each.body));
        });
    }

    void prepend(Statement& loop, const Statement& other) const {
        Statement made = loop;
        made.body.clear();
        append(made, other);
        for (Statement& statement : loop.body)
            if (statement.line == 0) statement.line = loop.line;
        made.body.insert(made.body.end(), loop.body.begin(), loop.body.end());
        loop = std::move(made);
    }

    // The loop behind this one that may run in its iterations, and takes elements from it, or is
    // on the way to one that does; 0: none.
    size_t next_to_join(const Block& block, size_t place) const {
        if (block[place].kind != Kind::loop) return 0;
        Statement loop = block[place];
        size_t first = 0;
        for (size_t next = place + 1; next < block.size(); ++next) {
            if (block[next].kind != Kind::loop) {
                if (!may_stand_before(block[next], loop)) return 0;
                continue;
            }
            if (reversible_exchange_at(p_, block, next) || !may_join(loop, block[next])) return 0;
            if (first == 0) first = next;
            if (takes(block[place], block[next])) return first;
            append(loop, block[next]);
        }
        return 0;
    }

    // Whether one of the loops writes elements of an array that the other has, too.
    static bool takes(const Statement& one, const Statement& other) {
        const auto writes = [](const Statement& from, const Statement& to) {
            return std::any_of(from.body.begin(), from.body.end(), [&](const Statement& each) {
                return is_write(each) && mentions_array(to.body, each.array);
            });
        };
        return writes(one, other) || writes(other, one);
    }

    bool may_stand_before(const Statement& statement, const Statement& loop) const {
        if (statement.kind == Kind::allocate) return !mentions_array(loop, statement.array);
        if (statement.kind != Kind::assign) return false;
        if (mentions_in(p_, {loop}).contains(statement.variable)) return false;
        return !reads_any(statement.values, assignments_in({loop}));
    }

    bool may_join(const Statement& one, const Statement& other) const {
        const auto counter = stepped_by(one);
        if (!counter) return false;
        const auto first = head_of(p_, one, *counter), second = head_of(p_, other, *counter);
        if (!first || !second || !is_same(first->values, second->values)) return false;
        // Whose counter no other statement knows.
        if (mentions_in(p_, {other})[second->counter] != mentions_.at(second->counter))
            return false;
        for (const Block* body : {&one.body, &other.body})
            if (!std::all_of(body->begin(), body->end(), is_plain)) return false;
        if (shares_variables(one.body, other.body, *counter, second->counter)) return false;
        Statement both = one;
        append(both, other);
        for (const Statement& write : both.body) {
            if (!is_write(write) || !mentions_array(one.body, write.array) ||
                !mentions_array(other.body, write.array))
                continue;
            if (!has_own_elements(p_, both.body, *counter, write.array)) return false;
        }
        const bool were_vectors = is_for_vectors(p_, one) || is_for_vectors(p_, other);
        return !were_vectors || is_for_vectors(p_, both);
    }

    // Whether one body reads or assigns what the other assigns.
    bool shares_variables(const Block& one, const Block& other, int counter,
                          int other_counter) const {
        const auto shares = [&](const Block& from, const Block& to) {
            const std::map<int, int> mentioned = mentions_in(p_, to);
            for (const auto& [variable, times] : assignments_in(from))
                if (mentioned.contains(variable)) return true;
            return false;
        };
        return shares(one, other) || shares(other, one) ||
               assignments_in(one).contains(other_counter) ||
               assignments_in(other).contains(counter);
    }

    void append(Statement& loop, const Statement& other) const {
        Block body = other.body;
        std::vector<Expr> by = all_variables(p_);
        by[static_cast<size_t>(other.first[0].variable)] =
            p_.variable(static_cast<size_t>(loop.first[0].variable));
        replace_variables(body, by, true);
        for (Statement& statement : body)
            if (statement.line == 0) statement.line = other.line;
        loop.body.insert(loop.body.end(), body.begin(), body.end());
    }

    // x[i] += a; …; v = x[i] to v = x[i] + a, of an element that nothing else reads, and so with
    // x[i] = a.
    // Of one element: whether there was one.
    bool forward(Block& block, size_t place) {
        Block& body = block[place].body;
        for (size_t i = 0; i < body.size(); ++i) {
            const Statement write = body[i];
            if (!is_write(write) || !is_last_read(block, place, write) ||
                !is_of_iteration(block[place], write))
                continue;
            for (size_t k = i + 1; k < body.size(); ++k) {
                Statement& load = body[k];
                const bool is_it = load.kind == Kind::load && load.array == write.array &&
                                   is_same(load.index, write.index);
                if (is_it && !mentions_behind(body, k, write.array)) {
                    if (write.kind == Kind::store || is_only_write(write.array)) {
                        load = Statement::assign(load.variable, write.values[0], load.line);
                    } else {
                        const int before = p_.add_variable("before", write.values[0].dtype());
                        const Expr sum = p_.variable(static_cast<size_t>(before)) + write.values[0];
                        const Statement made = Statement::assign(load.variable, sum, load.line);
                        load.variable = before;
                        body.insert(body.begin() + static_cast<Place>(k) + 1, made);
                    }
                    body.erase(body.begin() + static_cast<Place>(i));
                    return true;
                }
                if (mentions_array(load, write.array) || changes(load, write)) break;
            }
        }
        return false;
    }

    // Whether no iteration of the loop mentions an element that another one writes: all that it has
    // of the array is this one.
    bool is_of_iteration(const Statement& loop, const Statement& write) const {
        const auto counter = stepped_by(loop);
        return counter && has_own_elements(p_, loop.body, *counter, write.array) &&
               std::all_of(loop.body.begin(), loop.body.end(), [&](const Statement& each) {
                   return each.array != write.array || is_same(each.index, write.index);
               });
    }

    // Whether zeros are added to, by one statement. 0 + -0 is no -0: an array of the function,
    // whose values have the bits that it gives them, is none.
    bool is_only_write(int array) const {
        if (names_.contains(p_.arrays[static_cast<size_t>(array)].name)) return false;
        size_t writes = 0;
        for (const Statement* statement : all_statements(p_.body)) {
            if (statement->array != array) continue;
            if (statement->kind == Kind::allocate && !statement->is_zeroed) return false;
            writes += is_write(*statement);
        }
        return writes == 1;
    }

    static bool mentions_behind(const Block& body, size_t place, int array) {
        return mentions_array(Block(body.begin() + static_cast<Place>(place) + 1, body.end()),
                              array);
    }

    // Whether the statement changes what the other reads.
    static bool changes(const Statement& statement, const Statement& other) {
        std::vector<Expr> values = other.values;
        values.insert(values.end(), other.index.begin(), other.index.end());
        return reads_any(values, assignments_in({statement}));
    }

    // Whether nothing reads a written element but the loop of this place, once; its write may stand
    // in another loop before.
    bool is_last_read(const Block& block, size_t place, const Statement& write) const {
        return is_last_read(block, place, place, write);
    }
    bool is_last_read(const Block& block, size_t place, size_t before,
                      const Statement& write) const {
        const int array = write.array;
        if (p_.arrays[static_cast<size_t>(array)].role != Role::local) return false;
        const auto in = [array](const Block& part) {
            size_t allocations = 0, others = 0;
            for (const Statement* statement : all_statements(part)) {
                if (statement->array != array) continue;
                ++(statement->kind == Kind::allocate ? allocations : others);
            }
            return std::make_pair(allocations, others);
        };
        const Block own(block.begin() + static_cast<Place>(before),
                        block.begin() + static_cast<Place>(place) + 1);
        const Block rest(block.begin() + static_cast<Place>(place) + 1, block.end());
        const auto everywhere = in(p_.body);
        if (everywhere.first != 1) return false;
        if (is_allocated(block, array))
            return in(block).second == everywhere.second && in(rest).second == 0;
        // Or the array lives longer, and each of its elements in one iteration.
        return in(own).second == everywhere.second && has_element_each(block[place], write);
    }

    static bool is_allocated(const Block& block, int array) {
        return std::any_of(block.begin(), block.end(), [array](const Statement& each) {
            return each.kind == Kind::allocate && each.array == array;
        });
    }

    // Whether the index tells all iterations apart since the array was allocated.
    bool has_element_each(const Statement& loop, const Statement& write) const {
        std::vector<const Statement*> loops = {&loop};
        for (size_t i = around_.size(); i-- > 0;) {
            loops.push_back(around_[i].loop);
            if (!is_allocated(*around_[i].block, write.array)) continue;
            std::set<size_t> axes;
            for (const Statement* each : loops) {
                const auto counter = stepped_by(*each);
                if (!counter) return false;
                for (size_t axis = 0; axis < write.index.size(); ++axis)
                    if (offset_from(*counter, write.index[axis])) axes.insert(axis);
            }
            // Each axis speaks of one counter.
            return axes.size() == loops.size();
        }
        return false;
    }

    struct Around {
        const Block* block;
        const Statement* loop;  // of the block
    };
    std::vector<Around> around_;
    Procedure p_;
    const std::set<std::string>& names_;
    std::map<int, int> mentions_;
};

// Of an addition to the element that all counters lead to, each through an axis: the axis that is
// left, and the number that leads through it. Without one, that behind the last and 0.
std::optional<std::pair<size_t, int64_t>> number_of(const Statement& addition,
                                                    const std::vector<Expr>& shape,
                                                    const std::vector<Range>& around) {
    if (addition.kind != Kind::add || addition.index.size() != shape.size()) return {};
    std::set<size_t> led;
    for (const Range& each : around)
        for (size_t axis = 0; axis < shape.size(); ++axis)
            if (offset_from(each.counter, addition.index[axis]) == 0 &&
                is_integer_constant(each.low, 0) && is_same({each.high}, {shape[axis]}))
                led.insert(axis);
    if (led.size() != around.size() || led.size() + 1 < shape.size()) return {};
    size_t left = 0;
    while (led.contains(left)) ++left;
    if (left == shape.size()) return std::pair(left, int64_t{0});
    const Expr& number = addition.index[left];
    if (number.op() != Op::constant) return {};
    return std::pair(left, static_cast<int64_t>(number.value()));
}

// The additions that give each element of an array its first value, one for each, by loops over
// all of its axes, but for one that their numbers go through; of these loops the first is given.
std::vector<Statement*> first_additions(const Procedure& procedure, Statement& loop, int array,
                                        std::vector<Range> around) {
    const auto range = range_of(loop);
    if (!range || ends_early(loop) ||
        !has_own_elements(procedure, loop.body, range->counter, array))
        return {};
    around.push_back(*range);
    const std::vector<Expr>& shape = procedure.arrays[static_cast<size_t>(array)].shape;
    std::vector<Statement*> found;
    std::set<std::pair<size_t, int64_t>> numbers;
    for (Statement& statement : loop.body) {
        if (!mentions_array(statement, array)) continue;
        if (statement.kind == Kind::loop && found.empty())
            return first_additions(procedure, statement, array, around);
        const auto number = number_of(statement, shape, around);
        if (!number) return {};
        found.push_back(&statement);
        numbers.insert(*number);
        if (number->first == shape.size()) return found;  // whatever follows finds it
    }
    // Each number from 0 to before the extent of the one axis.
    const auto count = static_cast<int64_t>(found.size());
    if (numbers.empty() || numbers.size() != found.size()) return {};
    const size_t axis = numbers.begin()->first;
    const bool are_all = numbers.rbegin()->first == axis && numbers.begin()->second == 0 &&
                         numbers.rbegin()->second == count - 1;
    return are_all && is_integer_constant(shape[axis], count) ? found : std::vector<Statement*>();
}

void store_first(const Procedure& procedure, Block& block, const std::set<std::string>& names) {
    for (size_t i = 0; i < block.size(); ++i) {
        for (Block* inner : {&block[i].body, &block[i].otherwise})
            store_first(procedure, *inner, names);
        if (block[i].kind != Kind::allocate || !block[i].is_zeroed) continue;
        const int array = block[i].array;
        if (names.contains(procedure.arrays[static_cast<size_t>(array)].name)) continue;
        const auto next = std::find_if(
            block.begin() + static_cast<Place>(i) + 1, block.end(),
            [array](const Statement& statement) { return mentions_array(statement, array); });
        if (next == block.end() || next->kind != Kind::loop) continue;
        // Of an output, whoever returns before would find what was there.
        if (leaves(Block(block.begin() + static_cast<Place>(i), next))) continue;
        const std::vector<Statement*> additions = first_additions(procedure, *next, array, {});
        for (Statement* const addition : additions) addition->kind = Kind::store;
        if (!additions.empty()) block[i].is_zeroed = false;
    }
}

}  // namespace

Procedure with_loops_together(Procedure procedure, const std::set<std::string>& names) {
    Procedure made = Joiner(std::move(procedure), names).run();
    const Procedure whole = made;
    store_first(whole, made.body, names);
    return made;
}

}  // namespace composit::ir::procedure
