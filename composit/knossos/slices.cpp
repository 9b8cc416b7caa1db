// Parts of arrays.
#include "composit/knossos/slices.h"

#include "composit/base/text.h"

#include <algorithm>
#include <limits>

namespace composit::knossos {
namespace {

// What is fixed of an axis: a place, a run of places, or an axis that is new.
struct Fixed {
    Subscript::Kind kind;
    Value begin;
    int64_t step = 1;
};

// A bound that is known; one that int64 does not hold lies beyond all axes.
int64_t known_bound(const Value& value) {
    if (const auto* large = value.as<Large>())
        return (large->digits.starts_with('-') ? -1 : 1) * (int64_t{1} << 61);
    return *value.integer();
}

// Python's slice(start, stop, step).indices(extent).
std::pair<int64_t, int64_t> bounds_within(const Subscript& index, int64_t step, int64_t extent) {
    const int64_t lower = step < 0 ? -1 : 0, upper = step < 0 ? extent - 1 : extent;
    const auto bound = [&](const Value& given, int64_t otherwise) {
        if (given.is_nothing()) return otherwise;
        const int64_t value = known_bound(given);
        if (value < 0) return std::max(value + extent, lower);
        return std::min(value, upper);
    };
    return {bound(index.start, step < 0 ? upper : lower),
            bound(index.stop, step < 0 ? lower : upper)};
}

// Of how many elements an axis must be for a bound of a slice to lie within.
int64_t needed(int64_t bound, int64_t step) {
    const int64_t before = step < 0 ? 1 : 0;  // downwards, bounds may lie before the first element
    return bound < 0 ? -bound - before : bound + before;
}

int64_t floor_divided(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// The line that a part of a stored array is.
std::optional<Line> line_of(const ArrayRef& array, const std::vector<Fixed>& fixed) {
    const StoredRef own = std::dynamic_pointer_cast<Stored>(array);
    if (!own) return std::nullopt;
    int axis = -1;
    for (size_t i = 0; i < fixed.size(); ++i) {
        if (fixed[i].kind == Subscript::Kind::new_axis) return std::nullopt;
        if (fixed[i].kind != Subscript::Kind::slice) continue;
        if (axis >= 0) return std::nullopt;
        axis = static_cast<int>(i);
    }
    if (axis < 0) return std::nullopt;
    const Fixed& kept = fixed[static_cast<size_t>(axis)];
    const auto begin = kept.begin.integer();
    return begin ? std::optional(Line{own->number, axis, *begin, kept.step}) : std::nullopt;
}

}  // namespace

Value Slices::indexed(const ArrayRef& array, std::vector<Subscript> given) {
    const auto is_new = [](const Subscript& each) {
        return each.kind == Subscript::Kind::new_axis;
    };
    const size_t rank = array->shape.size();
    const size_t count =
        given.size() - static_cast<size_t>(std::count_if(given.begin(), given.end(), is_new));
    if (count > rank)
        throw Mismatch(text(count, " indices of an array of ", rank, " axes"),
                       "At most one for each axis is possible.");
    if (array->lists > 0 && count < given.size())
        throw Mismatch("a new axis of a list", "Write np.array([…]) around the list.");
    given.resize(given.size() + rank - count);
    std::vector<Fixed> fixed;
    std::vector<Value> shape;
    size_t axis = 0;
    for (const Subscript& index : given) {
        if (is_new(index)) {
            shape.push_back(1);
            fixed.push_back({index.kind, {}});
            continue;
        }
        const Value& extent = array->shape[axis++];
        if (index.kind == Subscript::Kind::whole) {
            shape.push_back(extent);
            fixed.push_back({Subscript::Kind::slice, 0, 1});
        } else if (index.kind == Subscript::Kind::slice) {
            const Run run = sliced(index, extent);
            shape.push_back(run.count);
            fixed.push_back({index.kind, run.begin, run.step});
        } else {
            fixed.push_back({index.kind, integers_.place(index.place, extent)});
        }
    }
    if (shape.empty()) {
        Index places;
        for (const Fixed& each : fixed) places.push_back(each.begin);
        return array->at(places);
    }
    // A list's elements may be lists; a part of a list of numbers is a list of its own.
    const bool is_slice = given.empty() || given[0].kind == Subscript::Kind::whole ||
                          given[0].kind == Subscript::Kind::slice;
    ArrayOrigin origin;
    origin.reads = array->reads;
    origin.lists = array->lists > 0 ? array->lists - (is_slice ? 0 : 1) : 0;
    const bool is_own = origin.lists > 0 && rank == 1;
    if (!is_own) origin.parts_of = array->parts_of;
    if (const auto line = line_of(array, fixed)) origin.elsewhere = Elsewhere{*line};
    const auto at = [this, array, fixed](const Index& indices) {
        Index places;
        size_t next = 0;
        for (const Fixed& each : fixed) {
            if (each.kind == Subscript::Kind::new_axis)
                ++next;
            else if (each.kind == Subscript::Kind::slice)
                places.push_back(integers_.along(indices[next++], each.begin, each.step));
            else
                places.push_back(each.begin);
        }
        return array->at(places);
    };
    return knossos::array(array->kind, std::move(shape), at, std::move(origin));
}

// Where the extent is no literal the bounds are asserted to lie within: what NumPy would cut short
// has no extent to be known.
Slices::Run Slices::sliced(const Subscript& index, const Value& extent) {
    for (const Value* bound : {&index.start, &index.stop, &index.step})
        if (!bound->is_nothing() && kind(*bound) != Kind::integer)
            throw Mismatch("a slice whose bounds are no integers", "Integers are required.");
    if (!index.step.is_nothing() && !index.step.is_number())
        throw Mismatch("a slice whose step is not literal", "Write a loop.");
    const int64_t step = index.step.is_nothing() ? 1 : known_bound(index.step);
    if (step == 0) throw Mismatch("a slice of step 0", "Another step is required.");
    if (index.start.expr() || index.stop.expr()) return between(index, step, extent);
    if (const auto size = extent.integer()) {
        const auto [begin, end] = bounds_within(index, step, *size);
        return {begin, step, length_of_range(begin, end, step)};
    }
    // Bounds that count from the end, and by how much.
    struct Bound {
        bool is_from_end;
        int64_t by;
    };
    Bound first = step > 0 ? Bound{false, 0} : Bound{true, -1};
    Bound last = step > 0 ? Bound{true, 0} : Bound{false, -1};
    int64_t least = 0;  // how many elements the axis has for NumPy to find both bounds in it
    if (!index.start.is_nothing()) {
        const int64_t start = known_bound(index.start);
        first = {start < 0, start};
        least = needed(start, step);
    }
    if (!index.stop.is_nothing()) {
        const int64_t stop = known_bound(index.stop);
        last = {stop < 0, stop};
        least = std::max(least, needed(stop, step));
    }
    const int64_t size = std::abs(step), between = (last.by - first.by) * (step > 0 ? 1 : -1);
    Value count;
    if (first.is_from_end == last.is_from_end) {
        const int64_t known = std::max<int64_t>(-floor_divided(-between, size), 0);
        if (known == 0) least = 0;
        count = known;
    } else if (first.is_from_end != (step < 0)) {
        throw Mismatch(text("a slice from ", text_of(index.start), " to ", text_of(index.stop),
                            " with the step ", step, ", of an axis whose extent is not literal"),
                       "Write a loop.");
    } else {
        least = std::max(least, -between);
        count = integers_.moved(extent, between + size - 1);
        if (size != 1) count = Expr::make(Op::divide, {code_.integer(count), code_.integer(size)});
    }
    const auto known = integers_.least(extent);
    if (least > 0 && (!known || *known < least)) {
        const Expr enough =
            Expr::make(Op::greater_equal, {code_.integer(extent), code_.integer(least)});
        code_.expect(enough, "ValueError",
                     text("the axis has {} elements%s. At least ", least, " are required."),
                     {code_.integer(extent)});
    }
    const Value begin = first.is_from_end ? integers_.moved(extent, first.by) : Value(first.by);
    return {begin, step, count};
}

// The same of bounds that are computed, which are asserted to lie within, in order.
Slices::Run Slices::between(const Subscript& index, int64_t step, const Value& extent) {
    if (step < 0)
        throw Mismatch("a slice to smaller indices whose bounds are computed", "Write a loop.");
    const Value begin = index.start.is_nothing() ? Value(0) : bound(index.start, extent);
    const Value end = index.stop.is_nothing() ? extent : bound(index.stop, extent);
    const Linear start = linear(integers_.resolved(begin)), stop = linear(integers_.resolved(end));
    Value count;
    if (!start.base)
        count = integers_.moved(end, -start.constant);
    else if (stop.base && same(start.base, stop.base))
        count = stop.constant - start.constant;
    else
        count = Expr::make(Op::subtract, {code_.integer(end), code_.integer(begin)});
    const std::vector<Expr> told{code_.integer(begin), code_.integer(end), code_.integer(extent)};
    const Value limits[] = {0, begin, end, extent};
    for (size_t i = 0; i < 3; ++i) {
        const Value &lower = limits[i], &upper = limits[i + 1];
        if (is_in_order(lower, upper)) continue;
        const Expr holds = Expr::make(Op::less_equal, {code_.integer(lower), code_.integer(upper)});
        code_.expect(holds, "ValueError",
                     "a slice from {} to {} of an axis of {}%s. Bounds within it, in order, are "
                     "required.",
                     told);
    }
    if (step != 1) {
        count = integers_.plus(count, step - 1);
        if (const auto known = count.integer())
            count = floor_divided(*known, step);
        else
            count = Expr::make(Op::divide, {integers_.settled(count), code_.integer(step)});
    }
    return {begin, step, count.is_number() ? count : Value(integers_.settled(count))};
}

// A bound of a slice, from the front.
Value Slices::bound(const Value& value, const Value& extent) {
    if (value.is_number()) {
        const int64_t known = known_bound(value);
        return known >= 0 ? Value(known) : integers_.moved(extent, known);
    }
    if (integers_.is_natural(value)) return value;
    return integers_.from_front(integers_.settled(value), extent);
}

// Whether one is known not to be above the other.
bool Slices::is_in_order(const Value& lower, const Value& upper) const {
    if (const auto known = lower.integer()) {
        const auto least = integers_.least(upper);
        return least && *least >= *known;
    }
    const Linear a = linear(integers_.resolved(lower)), b = linear(integers_.resolved(upper));
    if (a.base && b.base && same(a.base, b.base)) return a.constant <= b.constant;
    return integers_.is_natural(lower) && integers_.is_within(integers_.moved(lower, -1), upper);
}

}  // namespace composit::knossos
