// with_borders_filled: tables that are filled with a value, of which loops behind overwrite a part.
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
using scalar::Op;

// What gives all elements of an array the same value.
struct WholeFill {
    int array = -1;
    Expr value;
    SourceLine line;
};

// Loops, one within the other, one for each axis of an array, of which each iteration stores an
// element of its own.
struct BoxNest {
    struct Level {
        Count count;
        size_t next = 0;  // where in the body the loop within stands, or what stores
        size_t axis = 0;
        int64_t offset = 0;  // from the counter to the index
    };
    std::vector<Level> levels;
    std::vector<Expr> low, high;  // of each axis: from low, below high
};

// Whether it can be computed anywhere: nothing that parameters hold makes it fail.
bool never_fails(const Expr& value) {
    const auto all = scalar::topological_order({value});
    return std::all_of(all.begin(), all.end(), [](const Expr& each) {
        switch (each.op()) {
            case Op::argument:
            case Op::constant:
            case Op::add:
            case Op::subtract:
            case Op::multiply:
            case Op::select:
            case Op::less:
            case Op::less_equal:
            case Op::greater:
            case Op::greater_equal: return true;
            default: return false;
        }
    });
}

// The index of the element that a statement gives a value in any case: branches do, if both sides
// do.
std::optional<std::vector<Expr>> index_given(const Statement& statement, int array) {
    if (statement.kind == Kind::store && statement.array == array) return statement.index;
    if (statement.kind != Kind::branch) return {};
    std::optional<std::vector<Expr>> given;
    for (const Block* side : {&statement.body, &statement.otherwise}) {
        std::optional<std::vector<Expr>> own;
        for (const Statement& each : *side)
            if (!own) own = index_given(each, array);
        if (!own || (given && !scalar::structurally_equal(*given, *own))) return {};
        given = own;
    }
    return given;
}

class BorderFiller {
  public:
    explicit BorderFiller(Procedure procedure) : p_(std::move(procedure)), facts_(p_) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    using Place = std::ptrdiff_t;

    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            walk(block[i].otherwise);
            const auto fill = fill_of(block[i]);
            const auto nest = fill ? nest_behind(block, i, fill->array) : std::nullopt;
            if (nest) i = replace(block, i, *fill, *nest);
        }
    }

    const std::vector<Expr>& shape_of(int array) const {
        return p_.arrays[static_cast<size_t>(array)].shape;
    }

    // Arrays of literal extents are small ones, mostly: they are filled at once.
    bool is_table(int array) const {
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        const auto is_fixed = [this](const Expr& extent) { return facts_.is_fixed(extent); };
        const auto is_literal = [](const Expr& extent) { return extent.op() == Op::constant; };
        return known.shape.size() > 1 && !known.grows &&
               std::all_of(known.shape.begin(), known.shape.end(), is_fixed) &&
               !std::all_of(known.shape.begin(), known.shape.end(), is_literal);
    }

    std::optional<WholeFill> fill_of(const Statement& statement) const {
        if (statement.kind == Kind::allocate) {
            if (!statement.is_zeroed || !is_table(statement.array)) return {};
            const DType dtype = p_.arrays[static_cast<size_t>(statement.array)].dtype;
            return WholeFill{statement.array, Expr::constant(dtype, 0), statement.line};
        }
        const Statement* store = &statement;
        while (store->kind == Kind::loop && store->body.size() == 1) store = &store->body[0];
        if (store == &statement || store->kind != Kind::store || !is_table(store->array) ||
            reads_any(store->values, assignments_in({statement})))
            return {};
        const WholeFill fill{store->array, store->values[0], store->line};
        const std::vector<Expr>& shape = shape_of(fill.array);
        if (store->index.size() == 1) {  // in one loop
            const auto count = count_by_one(statement);
            if (!count || store != &statement.body[0] ||
                !is_variable(store->index[0], count->counter))
                return {};
            const Range range = range_of(*count);
            return is_integer_constant(range.low, 0) &&
                           facts_.distance(range.high, element_count(shape)) == 0
                       ? std::optional(fill)
                       : std::nullopt;
        }
        const auto nest = nest_of(statement, fill.array);
        if (!nest) return {};
        for (size_t axis = 0; axis < shape.size(); ++axis)
            if (!is_integer_constant(nest->low[axis], 0) ||
                facts_.distance(nest->high[axis], shape[axis]) != 0)
                return {};
        return fill;
    }

    // The first nest behind a fill, if nothing reads what the fill gives the nest's elements.
    std::optional<BoxNest> nest_behind(const Block& block, size_t fill, int array) const {
        std::optional<BoxNest> nest;
        size_t end = fill + 1;
        for (; end < block.size() && !nest; ++end)
            if (mentions_array(block[end], array)) nest = nest_of(block[end], array);
        if (!nest || !reads_behind(block[end - 1], array, *nest, 0)) return {};
        for (size_t i = fill + 1; i + 1 < end; ++i) {
            if (may_go_elsewhere(block[i])) return {};
            const Block one{block[i]};
            for (const Statement* each : all_statements(one))
                if (each->array == array && each->kind != Kind::store &&
                    (!is_read(*each) || !is_outside(each->index, *nest)))
                    return {};
        }
        return nest;
    }

    std::optional<BoxNest> nest_of(const Statement& loop, int array) const {
        const size_t rank = shape_of(array).size();
        BoxNest nest;
        if (loop.kind != Kind::loop || may_exit(loop.body) || !find_levels(loop, array, nest))
            return {};
        nest.low.resize(rank);
        nest.high.resize(rank);
        for (const BoxNest::Level& level : nest.levels) {
            const Range range = range_of(level.count);
            if (!facts_.is_fixed(range.low) || !facts_.is_fixed(range.high)) return {};
            const Expr by = integer(-level.offset);
            const Expr low = minus(facts_.resolved(range.low), by);
            const Expr high = minus(facts_.resolved(range.high), by);
            if (!never_fails(low) || !never_fails(high)) return {};
            nest.low[level.axis] = low;
            nest.high[level.axis] = high;
        }
        return nest;
    }

    // Whether each axis has a level that leads along it.
    static bool lead_along(std::vector<BoxNest::Level>& levels, const std::vector<Expr>& index) {
        if (index.size() != levels.size()) return false;
        std::vector<char> led(levels.size(), 0);
        for (BoxNest::Level& level : levels) {
            const bool is_found = find_axis(level, index);
            if (!is_found || led[level.axis]) return false;
            led[level.axis] = 1;
        }
        return true;
    }

    static bool find_axis(BoxNest::Level& level, const std::vector<Expr>& index) {
        for (size_t axis = 0; axis < index.size(); ++axis)
            if (const auto offset = offset_from(level.count.counter, index[axis])) {
                level.axis = axis;
                level.offset = *offset;
                return true;
            }
        return false;
    }

    // Finds the loops from this one to the statement that gives elements a value.
    bool find_levels(const Statement& loop, int array, BoxNest& nest) const {
        const auto count = count_by_one(loop);
        if (!count) return false;
        nest.levels.push_back({*count});
        const size_t own = nest.levels.size();
        for (size_t i = 0; i < loop.body.size(); ++i) {
            nest.levels[own - 1].next = i;
            if (own == shape_of(array).size()) {
                const auto index = index_given(loop.body[i], array);
                if (index && lead_along(nest.levels, *index)) return true;
            } else if (loop.body[i].kind == Kind::loop && mentions_array(loop.body[i], array)) {
                if (find_levels(loop.body[i], array, nest)) return true;
                nest.levels.resize(own);
            }
        }
        return false;
    }

    static bool is_read(const Statement& statement) {
        return statement.kind == Kind::load || statement.kind == Kind::add;
    }

    // Whether an element is none of the nest's, wherever that has any.
    bool is_outside(const std::vector<Expr>& index, const BoxNest& nest) const {
        if (index.size() != nest.low.size()) return false;
        for (size_t axis = 0; axis < index.size(); ++axis) {
            const Expr place = facts_.resolved(index[axis]);
            if (facts_.is_fixed(place) && (facts_.is_at_least(nest.low[axis], one_more(place)) ||
                                           facts_.is_at_least(place, nest.high[axis])))
                return true;
        }
        return false;
    }

    // Whether all that the loop of a level reads of the array was stored before, or is outside.
    bool reads_behind(const Statement& loop, int array, const BoxNest& nest, size_t level) const {
        const bool is_innermost = level + 1 == nest.levels.size();
        const size_t next = nest.levels[level].next;
        for (size_t i = 0; i < loop.body.size(); ++i) {
            if (i == next && !is_innermost) {
                if (!reads_behind(loop.body[i], array, nest, level + 1)) return false;
                continue;
            }
            const Block one{loop.body[i]};
            for (const Statement* each : all_statements(one)) {
                if (each->array != array || each->kind == Kind::store) continue;
                if (!is_read(*each)) return false;
                if (!is_stored(each->index, nest, level, i > next) &&
                    !is_outside(each->index, nest))
                    return false;
            }
        }
        return true;
    }

    // The element is that of an earlier iteration, or of this one, `behind` what stores it.
    static bool is_stored(const std::vector<Expr>& index, const BoxNest& nest, size_t level,
                          bool behind) {
        if (index.size() != nest.low.size()) return false;
        for (size_t i = 0; i <= level; ++i) {
            const BoxNest::Level& each = nest.levels[i];
            const auto offset = offset_from(each.count.counter, index[each.axis]);
            if (!offset) return false;
            const bool is_same = *offset == each.offset;
            if (!is_same) return (*offset < each.offset) == (each.count.step > 0);
        }
        return behind;
    }

    // The place of the last statement that stands for the fill.
    size_t replace(Block& block, size_t place, const WholeFill& fill, const BoxNest& nest) {
        fill_ = fill;
        low_.clear();
        high_.clear();
        Block made;
        if (block[place].kind == Kind::allocate) {
            made.push_back(block[place]);
            made[0].is_zeroed = false;
        }
        // Where a nest has no iterations its bounds may lie anywhere: all is filled then.
        const Expr zero = integer(0);
        for (size_t axis = 0; axis < nest.low.size(); ++axis) {
            const Expr extent = extent_of(axis);
            low_.push_back(named(greater(lesser(nest.low[axis], extent), zero), "low", made));
            high_.push_back(
                named(greater(lesser(nest.high[axis], extent), low_[axis]), "high", made));
        }
        const Block borders = borders_from(0, {});
        made.insert(made.end(), borders.begin(), borders.end());
        block.erase(block.begin() + static_cast<Place>(place));
        block.insert(block.begin() + static_cast<Place>(place), made.begin(), made.end());
        facts_ = IntegerFacts(p_);
        return place + made.size() - 1;
    }

    Expr extent_of(size_t axis) const { return facts_.resolved(shape_of(fill_.array)[axis]); }

    Expr lesser(const Expr& a, const Expr& b) const {
        if (facts_.is_at_least(b, a)) return a;
        return facts_.is_at_least(a, b) ? b : select(a < b, a, b);
    }
    Expr greater(const Expr& a, const Expr& b) const {
        if (facts_.is_at_least(a, b)) return a;
        return facts_.is_at_least(b, a) ? b : select(a < b, b, a);
    }

    Expr named(const Expr& value, const char* name, Block& made) {
        if (value.op() != Op::select) return value;
        const int variable = p_.add_variable(name, DType::int64);
        facts_ = IntegerFacts(p_);
        made.push_back(Statement::assign(variable, value, fill_.line));
        return p_.variable(static_cast<size_t>(variable));
    }

    // What is outside along this axis or a later one, of what is within along those before.
    Block borders_from(size_t axis, const std::vector<Expr>& index) {
        Block out;
        if (axis == low_.size()) return out;
        for (Block side : {filled(axis, index, integer(0), low_[axis]),
                           filled(axis, index, high_[axis], extent_of(axis))})
            out.insert(out.end(), side.begin(), side.end());
        const Block within = along(index, low_[axis], high_[axis],
                                   [&](const auto& here) { return borders_from(axis + 1, here); });
        out.insert(out.end(), within.begin(), within.end());
        return out;
    }

    // All elements from low to high along an axis, along all of those behind.
    Block filled(size_t axis, const std::vector<Expr>& index, const Expr& low, const Expr& high) {
        return along(index, low, high, [&](const std::vector<Expr>& here) {
            if (axis + 1 < low_.size())
                return filled(axis + 1, here, integer(0), extent_of(axis + 1));
            return Block{Statement::write(Kind::store, fill_.array, here, fill_.value, fill_.line)};
        });
    }

    template <class Body>
    Block along(std::vector<Expr> index, const Expr& low, const Expr& high, const Body& body) {
        if (facts_.is_at_least(low, high)) return {};
        if (facts_.distance(high, low) == 1) {
            index.push_back(low);
            return body(index);
        }
        const int counter = p_.add_variable("k", DType::int64);
        const Expr here = p_.variable(static_cast<size_t>(counter));
        index.push_back(here);
        Block within = body(index);
        if (within.empty()) return {};
        return {counting_up(here, low, high, std::move(within), fill_.line)};
    }

    Procedure p_;
    IntegerFacts facts_;
    WholeFill fill_;  // which is replaced
    std::vector<Expr> low_, high_;
};

}  // namespace

Procedure with_borders_filled(Procedure procedure) {
    return BorderFiller(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
