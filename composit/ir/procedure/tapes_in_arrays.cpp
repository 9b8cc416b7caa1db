#include "composit/ir/procedure/tapes_in_arrays.h"

#include "composit/ir/procedure/integer_facts.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Place = std::ptrdiff_t;

struct TapeMentions {
    int allocations = 0, writes = 0, loads = 0, others = 0;
};

// counter + offset, or from - counter.
struct TapePlace {
    Expr from;
    int64_t offset = 0;
};

bool gives_value(const Statement& statement, int variable) {
    if (is_assignment(statement) && statement.variable == variable) return true;
    return assignments_in(statement.body).contains(variable) ||
           assignments_in(statement.otherwise).contains(variable) ||
           assignments_in(statement.first).contains(variable);
}

bool any_gives_value(const Block& block, size_t from, size_t end, int variable) {
    return std::any_of(block.begin() + static_cast<Place>(from),
                       block.begin() + static_cast<Place>(end),
                       [variable](const Statement& each) { return gives_value(each, variable); });
}

class TapesInArrays {
  public:
    explicit TapesInArrays(const Procedure& procedure)
        : p_(procedure), facts_(procedure), assigned_(assignments_in(procedure.body)) {
        for (const Statement* each : all_statements(procedure.body)) {
            if (each->array < 0) continue;
            TapeMentions& of = mentions_[each->array];
            ++(each->kind == Kind::allocate ? of.allocations
               : is_write(*each)            ? of.writes
               : each->kind == Kind::load   ? of.loads
                                            : of.others);
        }
    }

    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            walk(block[i].otherwise);
            if (block[i].kind != Kind::loop || may_exit(block[i].body)) continue;
            const auto count = count_by_one(block[i]);
            if (!count) continue;
            for (size_t k = 0; k < block[i].body.size();)
                if (read_elsewhere(block, i, k, *count))
                    block[i].body.erase(block[i].body.begin() + static_cast<Place>(k));
                else
                    ++k;
        }
    }

    // Nothing mentions the tapes any more.
    void leave_out_tapes(Block& block) const {
        std::erase_if(block, [this](const Statement& each) { return gone_.contains(each.array); });
        for (Statement& each : block) {
            leave_out_tapes(each.body);
            leave_out_tapes(each.otherwise);
        }
    }

  private:
    // A store of a variable to an element of an array of one axis.
    bool is_of_variable(const Statement& store) const {
        return store.kind == Kind::store && store.index.size() == 1 &&
               store.values[0].op() == scalar::Op::argument &&
               p_.arrays[static_cast<size_t>(store.array)].shape.size() == 1;
    }

    std::optional<TapePlace> place_of(const Expr& index, int counter) const {
        if (const auto offset = offset_from(counter, index)) return TapePlace{{}, *offset};
        const bool counts_down =
            index.op() == scalar::Op::subtract && is_variable(index.operand(1), counter);
        if (!counts_down || !facts_.is_fixed(index.operand(0))) return {};
        return TapePlace{index.operand(0), 0};
    }

    bool is_local(int array, int writes) const {
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        const TapeMentions& of = mentions_.at(array);
        return known.role == ArrayVariable::Role::local && !known.grows && of.allocations == 1 &&
               of.writes == writes && of.others == 0;
    }

    // Whether the store of this place in a loop's body is to a tape that nobody needs; what reads
    // the tape reads the other array then.
    bool read_elsewhere(Block& block, size_t loop, size_t place, const Count& count) {
        const Block& body = block[loop].body;
        const Statement& store = body[place];
        if (!is_of_variable(store) || !is_local(store.array, 1)) return false;
        const auto own = place_of(store.index[0], count.counter);
        const int variable = store.values[0].index(), tape = store.array;
        if (!own || any_gives_value(body, 0, place, variable)) return false;
        for (size_t k = place + 1; k < body.size(); ++k) {
            if (!is_of_variable(body[k]) || !is_variable(body[k].values[0], variable)) continue;
            const int array = body[k].array;
            const auto other = offset_from(count.counter, body[k].index[0]);
            if (!other || array == tape || !is_local(array, 2) ||
                any_gives_value(body, k + 1, body.size(), variable) ||
                !begins_with(block, loop, array, minus(count.begin, integer(count.step - *other)),
                             variable))
                continue;
            const TapeReading reading{tape, array, *own, range_of(count), *other - count.step};
            if (!read(block, loop + 1, reading, false)) continue;
            read(block, loop + 1, reading, true);
            gone_.insert(tape);
            return true;
        }
        return false;
    }

    // Whether the array has the variable's value at `first` when the loop begins.
    bool begins_with(const Block& block, size_t loop, int array, const Expr& first,
                     int variable) const {
        for (size_t i = loop; i-- > 0;) {
            const Statement& each = block[i];
            if (each.array == array && each.kind == Kind::store && each.index.size() == 1)
                return facts_.distance(each.index[0], first) == 0 && facts_.is_fixed(first) &&
                       is_value_of(block, i, loop, variable);
            if (mentions_array(each, array)) return false;
        }
        return false;
    }

    // Whether what the store of this place stores is what the variable is when the loop begins.
    bool is_value_of(const Block& block, size_t store, size_t loop, int variable) const {
        const Expr& value = block[store].values[0];
        if (is_variable(value, variable)) return !any_gives_value(block, store + 1, loop, variable);
        if (reads_any({value}, assigned_)) return false;
        for (size_t i = loop; i-- > 0;) {
            if (!gives_value(block[i], variable)) continue;
            return block[i].kind == Kind::assign &&
                   scalar::structurally_equal({block[i].values[0]}, {value});
        }
        return false;
    }

    struct TapeReading {
        int tape, array;
        TapePlace own;     // where an iteration keeps what it begins with
        Range iterations;  // of the loop that does
        int64_t before;    // where the array has that, less the counter
    };

    // Whether all loads of the tape stand behind `from`, in loops that reach what was written
    // alone; `reads`: they read the array then.
    bool read(Block& block, size_t from, const TapeReading& reading, bool reads) {
        int found = 0;
        std::vector<Range> around;
        for (size_t i = from; i < block.size(); ++i)
            if (!read_in(block[i], reading, reads, around, found)) return false;
        return found == mentions_.at(reading.tape).loads;
    }

    bool read_in(Statement& statement, const TapeReading& reading, bool reads,
                 std::vector<Range>& around, int& found) {
        if (statement.array == reading.tape) {
            const Expr place = statement.kind == Kind::load && statement.index.size() == 1
                                   ? place_in_array(statement.index[0], reading, around)
                                   : Expr();
            if (!place) return false;
            ++found;
            if (reads) {
                statement.array = reading.array;
                statement.index[0] = place;
            }
            return true;
        }
        const auto count = statement.kind == Kind::loop ? count_by_one(statement) : std::nullopt;
        if (count) around.push_back(range_of(*count));
        bool is_right = true;
        for (Block* inner : {&statement.body, &statement.otherwise})
            for (Statement& each : *inner)
                is_right = is_right && read_in(each, reading, reads, around, found);
        if (count) around.pop_back();
        return is_right;
    }

    // None where some element is none that the loop has kept.
    Expr place_in_array(const Expr& index, const TapeReading& reading,
                        const std::vector<Range>& around) const {
        const Range& kept = reading.iterations;
        for (const Range& each : around) {
            const auto place = place_of(index, each.counter);
            if (!place || bool(place->from) != bool(reading.own.from)) continue;
            // How far the iteration that kept it is from the counter.
            const auto distance = place->from ? facts_.distance(reading.own.from, place->from)
                                              : std::optional(place->offset - reading.own.offset);
            if (!distance || !are_fixed({each.low, each.high, kept.low, kept.high}) ||
                !facts_.is_at_least(moved(each.low, *distance), kept.low) ||
                !facts_.is_at_least(kept.high, moved(each.high, *distance)))
                continue;
            return moved(p_.variable(static_cast<size_t>(each.counter)),
                         *distance + reading.before);
        }
        return {};
    }

    static Expr moved(const Expr& value, int64_t by) { return minus(value, integer(-by)); }

    bool are_fixed(const std::vector<Expr>& values) const {
        return std::all_of(values.begin(), values.end(),
                           [this](const Expr& each) { return facts_.is_fixed(each); });
    }

    const Procedure& p_;
    const IntegerFacts facts_;
    const std::map<int, int> assigned_;
    std::map<int, TapeMentions> mentions_;
    std::set<int> gone_;
};

}  // namespace

Procedure with_tapes_in_arrays(Procedure procedure) {
    Block body = procedure.body;
    TapesInArrays tapes(procedure);
    tapes.walk(body);
    tapes.leave_out_tapes(body);
    procedure.body = std::move(body);
    return procedure;
}

}  // namespace composit::ir::procedure
