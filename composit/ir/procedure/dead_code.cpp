// without_dead_code: what no result, output or assertion needs is left out.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

// A set of places.
class Live {
  public:
    explicit Live(size_t count) : words_((count + 63) / 64) {}

    bool contains(size_t item) const { return (words_[item / 64] >> item % 64 & 1) != 0; }
    void insert(size_t item) { words_[item / 64] |= uint64_t{1} << item % 64; }
    void insert(const Live& other) {
        for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    }
    // Whether it was there.
    bool erase(size_t item) {
        const bool is_there = contains(item);
        words_[item / 64] &= ~(uint64_t{1} << item % 64);
        return is_there;
    }
    void clear() { std::fill(words_.begin(), words_.end(), 0); }
    bool operator==(const Live& other) const = default;

  private:
    std::vector<uint64_t> words_;
};

// Where variables and arrays stand in a set of what is live: an array has a place for whether it is
// used at all, and one for its elements; a small one of known extents has one for each element.
class Places {
  public:
    static constexpr size_t no_element = SIZE_MAX;

    explicit Places(const Procedure& procedure) : count_(procedure.variables.size()) {
        for (const ArrayVariable& array : procedure.arrays) {
            starts_.push_back(count_);
            strides_.emplace_back();
            size_t elements = 1;
            for (const Expr& extent : array.shape) {
                const bool is_small = !array.grows && extent.op() == scalar::Op::constant &&
                                      extent.value() >= 1 && extent.value() <= most;
                elements *= is_small ? static_cast<size_t>(extent.value()) : most + 1;
                elements = std::min(elements, most + 1);
            }
            if (elements > most || array.shape.empty())
                elements = 1;
            else
                for (const Expr& extent : array.shape)
                    strides_.back().push_back(static_cast<size_t>(extent.value()));
            count_ += 1 + elements;
        }
        starts_.push_back(count_);
    }

    size_t count() const { return count_; }
    size_t use_of(int array) const { return starts_[static_cast<size_t>(array)]; }
    size_t first_of(int array) const { return use_of(array) + 1; }
    size_t end_of(int array) const { return starts_[static_cast<size_t>(array) + 1]; }
    // Of an index of constants; no_element where other elements may be meant.
    size_t element_of(int array, const std::vector<Expr>& index) const {
        const std::vector<size_t>& extents = strides_[static_cast<size_t>(array)];
        if (extents.empty() || index.size() != extents.size()) return no_element;
        size_t place = 0;
        for (size_t axis = 0; axis < extents.size(); ++axis) {
            const Expr& at = index[axis];
            if (at.op() != scalar::Op::constant || at.value() < 0 ||
                at.value() >= static_cast<double>(extents[axis]))
                return no_element;
            place = place * extents[axis] + static_cast<size_t>(at.value());
        }
        return first_of(array) + place;
    }

  private:
    static constexpr size_t most = 32;

    size_t count_;
    std::vector<size_t> starts_;
    std::vector<std::vector<size_t>> strides_;  // extents, of arrays with a place for each element
};

// What a walk does and what it passes over.
struct Mode {
    bool looks;               // leaves everything in its place
    bool without_jumps;       // that leave the loop around
    bool without_assertions;  // in bodies of loops
};
constexpr Mode looking{true, false, false}, keeping{false, false, false};

// Of statements, those that are live: whether there are any; whether they do anything but move
// control within the loop around them.
struct Found {
    bool any = false, has_effect = false;

    void add(const Found& other) {
        any |= other.any;
        has_effect |= other.has_effect;
    }
};

// A value is live only where something live reads it, so that what reads only itself is dead. Loops
// are walked until nothing more becomes live; what was found behind the same is remembered, as
// loops within loops are walked again and again.
class Walker {
  public:
    Walker(const Procedure& procedure, bool keeps_assertions)
        : procedure_(procedure),
          keeps_assertions_(keeps_assertions),
          places_(procedure),
          nothing_(places_.count()) {}

    // Leaves the live statements.
    void keep_live(Block& block) {
        size_t known = 0;
        do {
            known = taken_.size();
            loops_.clear();
            Live live = nothing_;
            walk(block, live, nothing_, nothing_, looking);
        } while (taken_.size() != known);
        Live live = nothing_;
        walk(block, live, nothing_, nothing_, keeping);
    }

  private:
    bool is_output(int array) const {
        return procedure_.arrays[static_cast<size_t>(array)].role == Role::output;
    }

    // Whether something reads what the statement writes.
    bool is_live(const Statement& write, const Live& live) const {
        if (is_output(write.array)) return true;
        const size_t element = places_.element_of(write.array, write.index);
        return element == Places::no_element ? has_live_elements(write.array, live)
                                             : live.contains(element);
    }

    bool has_live_elements(int array, const Live& live) const {
        for (size_t i = places_.first_of(array); i < places_.end_of(array); ++i)
            if (live.contains(i)) return true;
        return false;
    }

    void read_element(const Statement& statement, Live& live) const {
        const size_t element = places_.element_of(statement.array, statement.index);
        live.insert(places_.use_of(statement.array));
        if (element != Places::no_element) return live.insert(element);
        for (size_t i = places_.first_of(statement.array); i < places_.end_of(statement.array); ++i)
            live.insert(i);
    }

    void forget_elements(int array, Live& live) const {
        for (size_t i = places_.first_of(array); i < places_.end_of(array); ++i) live.erase(i);
    }

    void read(const Statement& statement, Live& live) {
        const auto [place, is_new] = reads_.try_emplace(&statement);
        if (is_new)
            for (const Expr& expr :
                 scalar::topological_order(expressions_of(procedure_, statement)))
                if (expr.op() == scalar::Op::argument)
                    place->second.push_back(static_cast<size_t>(expr.index()));
        for (const size_t variable : place->second) live.insert(variable);
    }

    Found walk(Block& block, Live& live, const Live& at_stop, const Live& at_go_on, Mode mode) {
        Found found;
        Block kept;
        for (size_t i = block.size(); i-- > 0;) {
            const Found one = keep(block[i], live, at_stop, at_go_on, mode);
            found.add(one);
            if (one.any && !mode.looks) kept.push_back(std::move(block[i]));
        }
        if (mode.looks) return found;
        std::reverse(kept.begin(), kept.end());
        block = std::move(kept);
        return found;
    }

    Found keep(Statement& statement, Live& live, const Live& at_stop, const Live& at_go_on,
               Mode mode) {
        constexpr Found dead{}, moves_control{true, false}, is_needed{true, true};
        switch (statement.kind) {
            case Kind::assign:
            case Kind::load:
                if (!live.erase(static_cast<size_t>(statement.variable))) return dead;
                read(statement, live);
                if (statement.kind == Kind::load) read_element(statement, live);
                return is_needed;
            // What was appended last is taken first: all of an array's are, or none.
            case Kind::take:
                if (live.erase(static_cast<size_t>(statement.variable)))
                    taken_.insert(statement.array);
                if (!taken_.contains(statement.array)) return dead;
                read_element(statement, live);
                return is_needed;
            case Kind::store:
            case Kind::add:
            case Kind::append: {
                if (!is_live(statement, live)) return dead;
                const size_t element = places_.element_of(statement.array, statement.index);
                if (statement.kind == Kind::store && element != Places::no_element)
                    live.erase(element);
                live.insert(places_.use_of(statement.array));
                read(statement, live);
                return is_needed;
            }
            case Kind::allocate: {
                const bool is_used = live.erase(places_.use_of(statement.array));
                if (!is_used && !is_output(statement.array)) return dead;
                // Each element is given a value before it is read.
                if (!mode.looks && !is_output(statement.array) &&
                    !has_live_elements(statement.array, live))
                    statement.is_zeroed = false;
                forget_elements(statement.array, live);
                read(statement, live);
                return is_needed;
            }
            case Kind::leave:
                live.clear();
                read(statement, live);
                return is_needed;
            case Kind::expect:
                if (mode.without_assertions) return dead;
                read(statement, live);
                return {true, keeps_assertions_};
            case Kind::stop:
            case Kind::go_on:
                if (mode.without_jumps) return dead;
                live = statement.kind == Kind::stop ? at_stop : at_go_on;
                return moves_control;
            case Kind::branch: {
                Live other = live;
                Found found = walk(statement.body, live, at_stop, at_go_on, mode);
                found.add(walk(statement.otherwise, other, at_stop, at_go_on, mode));
                live.insert(other);
                if (found.any) read(statement, live);
                return found;
            }
            case Kind::loop: return keep_loop(statement, live, mode);
        }
        return is_needed;
    }

    // What was found of a loop, for what is live behind it.
    struct KnownLoop {
        Live behind, before;
        Found found;
    };

    Found keep_loop(Statement& loop, Live& live, Mode mode) {
        const std::pair<const Statement*, bool> key{&loop, mode.without_assertions};
        if (mode.looks)
            for (const KnownLoop& known : loops_[key])
                if (known.behind == live) {
                    live = known.before;
                    return known.found;
                }
        const Live behind = live;
        const Found found = find_in_loop(loop, live, mode);
        if (mode.looks) loops_[key].push_back({behind, live, found});
        return found;
    }

    Found find_in_loop(Statement& loop, Live& live, Mode mode) {
        const Live behind = live;
        // What is live where the condition is evaluated: first without what decides how often the
        // loop runs, which matters only if it does something. Assertions alone do not make a loop
        // worth running.
        Live at_condition = behind;
        if (!settle(loop, at_condition, behind, {true, true, !keeps_assertions_}).has_effect)
            return {};
        read(loop, at_condition);
        Found found = settle(loop, at_condition, behind, {true, false, mode.without_assertions});
        live = at_condition;
        if (!mode.looks) found = pass(loop, at_condition, behind, mode);
        walk(loop.first, live, nothing_, nothing_, mode.looks ? looking : keeping);
        found.any = true;
        return found;
    }

    // Walks until nothing more is live at the condition.
    Found settle(Statement& loop, Live& at_condition, const Live& behind, Mode mode) {
        for (;;) {
            Live before = at_condition;
            const Found found = pass(loop, before, behind, mode);
            before.insert(at_condition);
            if (before == at_condition) return found;
            at_condition = std::move(before);
        }
    }

    // The arrays of which each iteration has elements of its own.
    const std::vector<int>& own_arrays(const Statement& loop) {
        const auto [place, is_new] = own_arrays_.try_emplace(&loop);
        const auto counter = is_new ? stepped_by(loop) : std::nullopt;
        if (!counter) return place->second;
        std::set<int> written;
        for (const Statement* statement : all_statements(loop.body))
            if (is_write(*statement)) written.insert(statement->array);
        for (const int array : written)
            if (!is_output(array) && has_own_elements(procedure_, loop.body, *counter, array))
                place->second.push_back(array);
        return place->second;
    }

    // `live`: what is at the condition behind an iteration, and then before it.
    Found pass(Statement& loop, Live& live, const Live& behind, Mode mode) {
        // The iterations that follow do not read the elements of this one.
        for (const int array : own_arrays(loop))
            for (size_t i = places_.first_of(array); i < places_.end_of(array); ++i)
                if (!behind.contains(i)) live.erase(i);
        Found found =
            walk(loop.otherwise, live, nothing_, nothing_, mode.looks ? looking : keeping);
        const Live at_next = live;
        found.add(walk(loop.body, live, behind, at_next, mode));
        return found;
    }

    const Procedure& procedure_;
    const bool keeps_assertions_;
    const Places places_;
    const Live nothing_;
    std::unordered_map<const Statement*, std::vector<int>> own_arrays_;
    std::set<int> taken_;  // arrays of which something that is taken is live
    std::unordered_map<const Statement*, std::vector<size_t>> reads_;
    std::map<std::pair<const Statement*, bool>, std::vector<KnownLoop>> loops_;
};

void renumber(Block& block, const std::vector<Expr>& variables, const std::map<int, int>& arrays) {
    for (Statement& statement : block) {
        if (!statement.values.empty())
            statement.values = scalar::substitute(statement.values, variables);
        if (!statement.index.empty())
            statement.index = scalar::substitute(statement.index, variables);
        if (statement.variable >= 0)
            statement.variable = variables[static_cast<size_t>(statement.variable)].index();
        if (statement.array >= 0) statement.array = arrays.at(statement.array);
        renumber(statement.first, variables, arrays);
        renumber(statement.body, variables, arrays);
        renumber(statement.otherwise, variables, arrays);
    }
}

void leave_out_unmentioned(Procedure& procedure) {
    std::set<int> variables, arrays;
    const auto mention = [&](const std::vector<Expr>& values) {
        for (const Expr& expr : scalar::topological_order(values))
            if (expr.op() == scalar::Op::argument) variables.insert(expr.index());
    };
    for (const Statement* statement : all_statements(procedure.body)) {
        mention(expressions_of(procedure, *statement));
        if (statement->variable >= 0) variables.insert(statement->variable);
        if (statement->array >= 0) arrays.insert(statement->array);
    }
    for (size_t i = 0; i < procedure.parameters; ++i) variables.insert(static_cast<int>(i));
    for (size_t i = 0; i < procedure.arrays.size(); ++i)
        if (procedure.arrays[i].role != Role::local) arrays.insert(static_cast<int>(i));
    Procedure out = procedure;
    out.variables.clear();
    out.arrays.clear();
    std::vector<Expr> moved;
    for (size_t i = 0; i < procedure.variables.size(); ++i) {
        const bool is_kept = variables.contains(static_cast<int>(i));
        const size_t place = is_kept ? out.variables.size() : 0;
        if (is_kept) out.variables.push_back(procedure.variables[i]);
        moved.push_back(Expr::argument(static_cast<int>(place), procedure.variables[i].dtype,
                                       procedure.variables[i].name));
    }
    std::map<int, int> numbers;
    for (const int array : arrays) {
        numbers[array] = static_cast<int>(out.arrays.size());
        ArrayVariable copy = procedure.arrays[static_cast<size_t>(array)];
        if (!copy.shape.empty()) copy.shape = scalar::substitute(copy.shape, moved);
        out.arrays.push_back(std::move(copy));
    }
    for (int& each : out.head)
        each = each >= 0 ? moved[static_cast<size_t>(each)].index() : -1 - numbers.at(-1 - each);
    renumber(out.body, moved, numbers);
    procedure = std::move(out);
}

}  // namespace

Procedure without_dead_code(Procedure procedure, bool keeps_assertions) {
    const Procedure whole = procedure;
    Walker(whole, keeps_assertions).keep_live(procedure.body);
    leave_out_unmentioned(procedure);
    return procedure;
}

}  // namespace composit::ir::procedure
