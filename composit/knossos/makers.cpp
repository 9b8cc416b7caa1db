// Arrays of numbers, shapes and ranges.
#include "composit/knossos/makers.h"

#include <algorithm>
#include <set>

namespace composit::knossos {
namespace {

// What an array is filled with; nothing for other functions.
std::optional<double> filled_by(const std::string& function) {
    if (function == "numpy.zeros" || function == "numpy.empty") return 0.0;
    return function == "numpy.ones" ? std::optional(1.0) : std::nullopt;
}

void check_given(const std::string& function, size_t given, const Named& named, size_t count,
                 const char* wanted) {
    if (given != count || !named.empty())
        throw Mismatch(last_name(function) + " of other arguments",
                       std::string("Give it ") + wanted + ".");
}

Value as_kind(Kind kind, double value) {
    if (kind == Kind::floating) return value;
    return kind == Kind::integer ? Value(static_cast<int64_t>(value)) : Value(value != 0);
}

}  // namespace

std::optional<std::vector<int64_t>> Range::known() const {
    const auto size = known_size();
    if (!size) return std::nullopt;
    std::vector<int64_t> made;
    for (int64_t k = 0; k < *size; ++k) made.push_back(*begin.integer() + k * step);
    return made;
}

std::optional<int64_t> Range::known_size() const {
    const auto first = begin.integer(), last = end.integer();
    return first && last ? std::optional(length_of_range(*first, *last, step)) : std::nullopt;
}

bool Makers::has(const std::string& function) {
    static const std::set<std::string> others{"numpy.full",    "numpy.eye",   "numpy.identity",
                                              "numpy.arange",  "numpy.array", "numpy.asarray",
                                              "numpy.linspace"};
    return filled_by(function) || others.contains(function);
}

ArrayRef Makers::call(const std::string& function, std::vector<Value> given, Named named) {
    const auto dtype = taken(named, "dtype");
    const auto* kind = dtype ? dtype->as<Kind>() : nullptr;
    if (const auto value = filled_by(function)) {
        check_given(function, given.size(), named, 1, "a shape");
        return constant(shape_of(given[0]), kind ? *kind : Kind::floating, *value);
    }
    ArrayRef made;
    if (function == "numpy.full") {
        check_given(function, given.size(), named, 2, "a shape and a number");
        made = full(given);
    } else if (function == "numpy.eye" || function == "numpy.identity") {
        check_given(function, given.size(), named, 1, "one extent");
        made = identity(given);
    } else if (function == "numpy.arange") {
        if (given.empty() || given.size() > 3 || !named.empty())
            throw Mismatch("arange of other arguments", "Give it one to three integers.");
        made = arange(given);
    } else if (function == "numpy.linspace") {
        if (given.size() == 2)
            if (const auto count = taken(named, "num")) given.push_back(*count);
        if (given.size() == 2) given.push_back(50);
        check_given(function, given.size(), named, 3, "a start, a stop and how many");
        made = linspace(given);
    } else {
        check_given(function, given.size(), named, 1, "numbers in [ and ], or an array");
        made = array_of(given[0], function == "numpy.asarray");
    }
    return kind ? in_kind(made, *kind, function) : made;
}

ArrayRef Makers::in_kind(ArrayRef made, Kind kind, const std::string& function) {
    if (kind == made->kind) return made;
    if (kind < made->kind)
        throw Mismatch(last_name(function) + " of " + std::string(name(made->kind)) +
                           "s with the dtype " + std::string(name(kind)),
                       "Numbers that are " + std::string(name(kind)) + "s are required.");
    return elements_.elementwise(
        [this, kind](const std::vector<Value>& x) -> Value {
            return code_.operators.cast(x[0], kind);
        },
        {made});
}

std::vector<Value> Makers::shape_of(const Value& given) {
    const std::vector<Value> shape =
        given.tuple() ? given.tuple()->parts : std::vector<Value>{given};
    for (const Value& extent : shape)
        if (kind_of_number(extent) != Kind::integer)
            throw Mismatch("an extent that is no integer", "Integers are required.");
    std::vector<Value> made;
    for (const Value& extent : shape) made.push_back(integers_.extent(extent));
    return made;
}

ArrayRef Makers::constant(std::vector<Value> shape, Kind kind, double value) const {
    const Value number = as_kind(kind, value);
    return array(kind, std::move(shape), [number](const Index&) { return number; },
                 {.is_zero = value == 0});
}

ArrayRef Makers::full(const std::vector<Value>& given) {
    const ArrayRef zeros = constant(shape_of(given[0]), Kind::floating, 0.0);
    return elements_.elementwise([](const std::vector<Value>& x) { return x[1]; },
                                 {zeros, scalar(given[1])});
}

ArrayRef Makers::identity(const std::vector<Value>& given) {
    const auto at = [this](const Index& at) -> Value {
        const Value is_diagonal = code_.operators.compare("==", at[0], at[1]);
        return code_.operators.select(is_diagonal, 1.0, 0.0);
    };
    return array(Kind::floating, shape_of(tuple_of({given[0], given[0]})), at);
}

ArrayRef Makers::arange(const std::vector<Value>& given) {
    for (const Value& each : given)
        if (kind_of_number(each) != Kind::integer)
            throw Mismatch("arange of " + with_article(kind_of(each)),
                           "Integers are required: write start + step * np.arange(n), or "
                           "np.linspace.");
    const Value begin = given.size() == 1 ? Value(0) : given[0];
    const Value end = given.size() == 1 ? given[0] : given[1];
    const Value step = given.size() == 3 ? given[2] : Value(1);
    if (step.is(0)) throw Mismatch("arange with the step 0", "Another integer is required.");
    if (!step.integer()) return stepping(begin, end, step);
    return counted({begin, end, *step.integer()});
}

// As NumPy computes it: index * step + start, the last one is the stop itself. A step that has
// become zero is not divided before the product.
ArrayRef Makers::linspace(const std::vector<Value>& given) {
    const Operators& operators = code_.operators;
    if (kind_of_number(given[2]) != Kind::integer)
        throw Mismatch("linspace of a number of elements that is no integer",
                       "An integer is required.");
    const Expr start = code_.held(operators.cast(scalar(given[0]), Kind::floating), "bound");
    const Expr stop = code_.held(operators.cast(scalar(given[1]), Kind::floating), "bound");
    const Value count = integers_.extent(given[2]);
    Value parts = operators.binary("-", count, 1);
    const Value is_several = operators.compare(">", parts, 0);
    parts = operators.select(is_several, parts, 1);
    const Expr delta = code_.held(operators.binary("-", stop, start), "delta");
    const Expr step = code_.held(operators.binary("/", delta, parts), "step");
    const auto at = [&operators, start, stop, parts, delta, step](const Index& indices) {
        const Expr index = operators.cast(indices[0], Kind::floating);
        const Value early = operators.binary("*", operators.binary("/", index, parts), delta);
        Value moved = operators.binary("*", index, step);
        moved = operators.select(operators.compare("==", step, 0.0), early, moved);
        const Value is_last = operators.compare("==", indices[0], parts);
        return operators.select(is_last, stop, operators.binary("+", moved, start));
    };
    return array(Kind::floating, {count}, at);
}

ArrayRef Makers::array_of(const Value& given, bool shares) {
    if (const ArrayRef known = given.array()) {
        const StoredRef own = std::dynamic_pointer_cast<Stored>(known);
        if (own && own->lists > 0 && sharing_.fresh.contains(own->number))
            return std::make_shared<Stored>(own->number, own->name, own->kind, own->shape, own->at,
                                            false);
        const bool is_same = shares && known->lists == 0;
        return array(known->kind, known->shape, known->at,
                     {.reads = known->reads, .parts_of = is_same ? known->parts_of : Numbers{}});
    }
    if (!unnamed(given).tuple())
        throw Mismatch("an array without axes", "Use the number, or write [ and ] around it.");
    Kind kind = Kind::boolean;
    std::vector<Value> shape = shape_of_parts(given, kind);
    StoredRef made = storage_.fresh_array("array", kind, std::move(shape));
    Index place;
    store_parts(*made, given, place);
    return made;
}

// The shape of parts in parts, all of which are alike; the largest of their kinds.
std::vector<Value> Makers::shape_of_parts(const Value& given, Kind& kind) {
    const Value value = unnamed(given);
    if (const ArrayRef known = value.array()) {
        kind = std::max(kind, known->kind);
        return known->shape;
    }
    if (!value.tuple()) {
        kind = std::max(kind, kind_of_number(value));
        return {};
    }
    const std::vector<Value>& parts = value.tuple()->parts;
    if (parts.empty()) throw Mismatch("an array of nothing", "Write np.zeros(0).");
    std::vector<std::vector<Value>> shapes;
    for (const Value& part : parts) shapes.push_back(shape_of_parts(part, kind));
    for (size_t i = 1; i < shapes.size(); ++i) {
        if (shapes[i].size() != shapes[0].size())
            throw Mismatch("an array of parts of other shapes", "Equal shapes are required.");
        integers_.require_shape(shapes[0], shapes[i]);
    }
    std::vector<Value> shape{static_cast<int64_t>(parts.size())};
    shape.insert(shape.end(), shapes[0].begin(), shapes[0].end());
    return shape;
}

void Makers::store_parts(const Stored& target, const Value& given, Index& place) {
    const Value value = unnamed(given);
    if (const Tuple* tuple = value.tuple()) {
        for (size_t k = 0; k < tuple->parts.size(); ++k) {
            place.push_back(static_cast<int64_t>(k));
            store_parts(target, tuple->parts[k], place);
            place.pop_back();
        }
    } else if (const ArrayRef part = value.array()) {
        storage_.nest(part->shape, [&](const Index& at) {
            Index whole = place;
            whole.insert(whole.end(), at.begin(), at.end());
            storage_.store(target, whole, part->at(at));
        });
    } else {
        storage_.store(target, place, value);
    }
}

// ----- the integers of ranges

ArrayRef Makers::counted(const Range& of) {
    const Operators& operators = code_.operators;
    const Value begin = integers_.kept(of.begin, "start");
    const int64_t step = of.step, size = std::abs(step);
    Value count;
    if (const auto known = of.known_size()) {
        count = *known;
    } else if (begin.is(0) && step == 1) {
        count = integers_.extent(of.end);
    } else {
        const Value &low = step > 0 ? begin : of.end, &high = step > 0 ? of.end : begin;
        count = operators.binary("-", high, low);
        const Value is_positive = operators.compare(">", count, 0);
        if (size != 1) {
            count = operators.binary("+", count, size - 1);
            count = Expr::make(Op::divide, {code_.integer(count), code_.integer(size)});
        }
        count = integers_.extent(operators.select(is_positive, count, 0));
    }
    return array(Kind::integer, {count}, [this, begin, step](const Index& at) {
        return integers_.along(at[0], begin, step);
    });
}

ArrayRef Makers::stepping(const Value& from, const Value& end, const Value& by) {
    const Operators& operators = code_.operators;
    const Value begin = integers_.kept(from, "start"), step = integers_.kept(by, "step");
    const Value is_other = operators.compare("!=", step, 0);
    code_.expect(operators.cast(is_other, Kind::boolean), "ValueError",
                 "the step of a range is 0%s. Another one is required.");
    Value distance = begin.is(0) ? end : operators.binary("-", end, begin);
    const Value is_forwards = operators.compare(">", step, 0);
    const Value size = operators.select(is_forwards, step, operators.unary("-", step));
    distance = operators.select(is_forwards, distance, operators.unary("-", distance));
    // A quotient that is rounded down: -1 and less for a range of nothing.
    const Value steps = operators.binary("//", operators.binary("-", distance, 1), size);
    Value count =
        operators.select(operators.compare(">", distance, 0), operators.binary("+", steps, 1), 0);
    count = integers_.extent(count);
    return array(Kind::integer, {count}, [&operators, begin, step](const Index& at) {
        const Value moved = operators.binary("*", at[0], step);
        return begin.is(0) ? moved : operators.binary("+", begin, moved);
    });
}

}  // namespace composit::knossos
