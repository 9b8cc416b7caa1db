#include "composit/ir/procedure/idle_zeros.h"

#include "composit/ir/procedure/integer_facts.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

// From low to before high; none where high is not above low.
struct WrittenPart {
    Expr low, high;
};

// Which elements of one array have a value, as one statement goes after the other.
class WrittenParts {
  public:
    WrittenParts(const Procedure& procedure, const IntegerFacts& facts, int array,
                 bool with_additions)
        : p_(procedure),
          facts_(facts),
          array_(array),
          shape_(procedure.arrays[static_cast<size_t>(array)].shape),
          count_(element_count(shape_)),
          with_additions_(with_additions) {}

    // False: the zeros may be read.
    bool add(Statement& statement) {
        if (statement.kind == Kind::loop) {
            if (add_nest(statement)) return true;
            const size_t additions = first_additions_.size();
            const bool is_right = add_loop(statement);
            if (!is_right) first_additions_.resize(additions);
            return is_right;
        }
        if (statement.kind == Kind::load) return is_written(statement);
        if (!is_write(statement)) return false;
        const Expr place = place_of(statement);
        if (!place || !facts_.is_fixed(place)) return false;
        const WrittenPart part{place, one_more(place)};
        if (statement.kind == Kind::add && !is_known(part) && !store_instead(statement, part))
            return false;
        give(part);
        return true;
    }

    bool are_all() const { return is_whole_ || is_known({integer(0), count_}); }
    // The additions that find zeros.
    const std::vector<Statement*>& first_additions() const { return first_additions_; }

  private:
    // The index of a statement of one axis that counts from the beginning.
    Expr place_of(const Statement& statement) const {
        if (statement.index.size() != 1) return {};
        const Expr index = facts_.resolved(statement.index[0]);
        const auto wrapped = wrapped_index(index);
        if (!wrapped) return index;
        // n - 1 of an array of n is negative only where there is no element.
        const bool counts_up = facts_.is_at_least(wrapped->from, integer(0)) ||
                               facts_.distance(count_, wrapped->from) == 1;
        return counts_up ? wrapped->from : Expr();
    }

    bool is_known(const WrittenPart& part) const {
        return std::any_of(known_.begin(), known_.end(), [&](const WrittenPart& each) {
            return facts_.is_at_least(part.low, each.low) &&
                   facts_.is_at_least(each.high, part.high);
        });
    }

    bool is_apart(const WrittenPart& part) const {
        return std::all_of(known_.begin(), known_.end(), [&](const WrittenPart& each) {
            return facts_.is_at_least(part.low, each.high) ||
                   facts_.is_at_least(each.low, part.high);
        });
    }

    // From a to before b and from c to before d are together from a to before d where b is at least
    // c, whichever of them is empty.
    void give(const WrittenPart& part) {
        std::vector<WrittenPart> made{part};
        for (const WrittenPart& each : known_) {
            if (facts_.is_at_least(each.high, part.low)) made.push_back({each.low, part.high});
            if (facts_.is_at_least(part.high, each.low)) made.push_back({part.low, each.high});
        }
        for (const WrittenPart& one : made)
            for (const WrittenPart& each : known_)
                if (facts_.is_at_least(one.high, each.low) && made.size() < most_parts)
                    joined_.push_back({one.low, each.high});
        known_.insert(known_.end(), made.begin(), made.end());
        known_.insert(known_.end(), joined_.begin(), joined_.end());
        joined_.clear();
        if (known_.size() > most_parts) known_.erase(known_.begin(), known_.end() - most_parts);
    }

    bool store_instead(Statement& addition, const WrittenPart& part) {
        if (!with_additions_ || is_scattered_ || !is_apart(part)) return false;
        first_additions_.push_back(&addition);
        return true;
    }

    bool is_written(const Statement& statement) const {
        const Expr place = place_of(statement);
        return place && facts_.is_fixed(place) && is_known({place, one_more(place)});
    }

    // A loop that reads what is written, and one whose iterations each give one element a value.
    bool add_loop(Statement& loop) {
        const auto count = count_by_one(loop);
        if (!count || may_exit(loop.body)) return false;
        const Range range = range_of(*count);
        if (!facts_.is_fixed(range.low) || !facts_.is_fixed(range.high)) return false;
        const bool is_up = count->step > 0;
        const size_t first = first_write(loop, range.counter);
        const bool writes = first < loop.body.size();
        const int64_t own = writes ? *offset_of(loop.body[first], range.counter) : 0;
        const WrittenPart part{moved(range.low, own), moved(range.high, own)};
        if (writes && loop.body[first].kind == Kind::add) {
            const Block before(loop.body.begin(), loop.body.begin() + static_cast<Place>(first));
            if (mentions_array(before, array_) || !has_only(loop, first, range.counter, own) ||
                !store_instead(loop.body[first], part))
                return false;
        }
        for (size_t i = 0; i < loop.body.size(); ++i) {
            if (i == first || !mentions_array(loop.body[i], array_)) continue;
            const Block one{loop.body[i]};
            for (const Statement* each : all_statements(one)) {
                if (each->array != array_) continue;
                if (each->kind == Kind::store) {
                    is_scattered_ = true;
                    continue;
                }
                if (each->kind != Kind::load && each->kind != Kind::add) return false;
                const auto offset = offset_of(*each, range.counter);
                if (!offset && !is_written(*each)) return false;
                if (!offset) continue;
                if (writes && *offset == own && i > first) continue;
                // Of earlier iterations, but for what the first ones find.
                const bool is_earlier = writes && (is_up ? *offset < own : *offset > own);
                const WrittenPart whole{moved(range.low, *offset), moved(range.high, *offset)};
                const WrittenPart found = is_up
                                              ? WrittenPart{moved(range.low, *offset), part.low}
                                              : WrittenPart{part.high, moved(range.high, *offset)};
                if (!is_known(whole) && !(is_earlier && is_known(found))) return false;
            }
        }
        if (writes) give(part);
        return true;
    }

    std::optional<int64_t> offset_of(const Statement& statement, int counter) const {
        const Expr place = place_of(statement);
        return place ? offset_from(counter, place) : std::nullopt;
    }

    // The first statement of each iteration itself that gives an element of its own a value.
    size_t first_write(const Statement& loop, int counter) const {
        for (size_t i = 0; i < loop.body.size(); ++i)
            if (loop.body[i].array == array_ && is_write(loop.body[i]) &&
                offset_of(loop.body[i], counter))
                return i;
        return loop.body.size();
    }

    bool has_only(const Statement& loop, size_t first, int counter, int64_t own) const {
        const auto all = all_statements(loop.body);
        return std::all_of(all.begin(), all.end(), [&](const Statement* each) {
            return each->array != array_ || each == &loop.body[first] ||
                   offset_of(*each, counter) == own;
        });
    }

    static Expr moved(const Expr& value, int64_t by) {
        return by == 0 ? value : minus(value, integer(-by));
    }

    // Loops over all axes, whose iterations have elements of their own.
    bool add_nest(Statement& loop) {
        if (shape_.size() < 2) return false;
        std::vector<Range> around;
        Statement* const first = first_of_nest(loop, around);
        if (first == nullptr) return false;
        if (first->kind == Kind::add) {
            if (!with_additions_ || is_scattered_ || !known_.empty()) return false;
            first_additions_.push_back(first);
        }
        return is_whole_ = true;
    }

    Statement* first_of_nest(Statement& loop, std::vector<Range>& around) const {
        const auto count = count_by_one(loop);
        if (!count || may_exit(loop.body) ||
            !has_own_elements(p_, loop.body, count->counter, array_))
            return nullptr;
        around.push_back(range_of(*count));
        const auto first =
            std::find_if(loop.body.begin(), loop.body.end(),
                         [this](const Statement& each) { return mentions_array(each, array_); });
        if (first == loop.body.end()) return nullptr;
        if (first->kind == Kind::loop) return first_of_nest(*first, around);
        return is_write(*first) && leads_everywhere(*first, around) ? &*first : nullptr;
    }

    // Whether each axis has a loop that goes through it.
    bool leads_everywhere(const Statement& write, const std::vector<Range>& around) const {
        if (write.index.size() != shape_.size() || around.size() != shape_.size()) return false;
        std::vector<char> led(around.size(), 0);
        for (size_t axis = 0; axis < shape_.size(); ++axis)
            for (size_t i = 0; i < around.size(); ++i) {
                const Range& each = around[i];
                if (offset_from(each.counter, write.index[axis]) != 0 || led[i]) continue;
                if (!is_integer_constant(each.low, 0) ||
                    facts_.distance(each.high, shape_[axis]) != 0)
                    return false;
                led[i] = 1;
                break;
            }
        return std::all_of(led.begin(), led.end(), [](char each) { return each != 0; });
    }

    using Place = std::ptrdiff_t;
    static constexpr size_t most_parts = 32;

    const Procedure& p_;
    const IntegerFacts& facts_;
    const int array_;
    const std::vector<Expr>& shape_;
    const Expr count_;
    const bool with_additions_;
    std::vector<WrittenPart> known_, joined_;
    std::vector<Statement*> first_additions_;
    bool is_whole_ = false;
    bool is_scattered_ = false;  // elements of which no part tells may have a value as well
};

class IdleZeros {
  public:
    IdleZeros(const Procedure& procedure, bool outputs_alone)
        : p_(procedure), facts_(procedure), outputs_alone_(outputs_alone) {}

    void walk(Block& block) const {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            walk(block[i].otherwise);
            if (block[i].kind == Kind::allocate && block[i].is_zeroed) leave_out(block, i);
        }
    }

  private:
    void leave_out(Block& block, size_t place) const {
        const int array = block[place].array;
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        const bool is_fixed =
            std::all_of(known.shape.begin(), known.shape.end(),
                        [this](const Expr& extent) { return facts_.is_fixed(extent); });
        if (known.grows || !is_fixed) return;
        if (outputs_alone_ && known.role != ArrayVariable::Role::output) return;
        WrittenParts parts(p_, facts_, array, !outputs_alone_);
        for (size_t i = place + 1; i < block.size() && !parts.are_all(); ++i) {
            if (may_go_elsewhere(block[i])) return;
            if (mentions_array(block[i], array) && !parts.add(block[i])) return;
        }
        if (!parts.are_all()) return;
        block[place].is_zeroed = false;
        for (Statement* const each : parts.first_additions()) {
            const Expr& value = each->values[0];
            each->kind = Kind::store;
            each->values[0] = Expr::constant(value.dtype(), 0) + value;
        }
    }

    const Procedure& p_;
    const IntegerFacts facts_;
    const bool outputs_alone_;
};

}  // namespace

Procedure without_idle_zeros(Procedure procedure, bool outputs_alone) {
    Block body = procedure.body;
    IdleZeros(procedure, outputs_alone).walk(body);
    procedure.body = std::move(body);
    return procedure;
}

}  // namespace composit::ir::procedure
