// Elements combined in order.
#include "composit/knossos/reductions.h"

#include "composit/base/text.h"

#include <algorithm>
#include <limits>
#include <set>

namespace composit::knossos {
namespace {

bool is_extremum(const std::string& function) {
    return function == "numpy.max" || function == "numpy.min";
}

bool is_python_extremum(const std::string& function) {
    return function == "max" || function == "min";
}

// Whether a row is known to have few elements: loops over columns are as fast then.
bool is_short(const Value& extent) {
    const auto known = extent.integer();
    return known && *known < 8;
}

// Indices with one more at an axis.
Index with_index(const Index& indices, size_t axis, const Value& index) {
    Index made = indices;
    made.insert(made.begin() + static_cast<std::ptrdiff_t>(axis), index);
    return made;
}

std::vector<Value> without(std::vector<Value> shape, size_t axis) {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return shape;
}

}  // namespace

bool Reductions::has(const std::string& function) {
    static const std::set<std::string> all{"numpy.sum", "numpy.mean", "numpy.max", "numpy.min",
                                           "numpy.prod"};
    return all.contains(function);
}

bool Reductions::is_of_truths(const std::string& function) {
    return function == "numpy.any" || function == "numpy.all" || function == "numpy.count_nonzero";
}

Value Reductions::call(const std::string& function, const std::vector<Value>& arguments,
                       const Value& keepdims) {
    const auto* keeps = keepdims.as<bool>();
    if (!keeps) throw Mismatch("keepdims that is computed", "Write True or False.");
    const Value made =
        is_of_truths(function) ? truths(function, arguments) : reduced(function, arguments);
    return *keeps ? Value(with_axes(made, arguments)) : made;
}

Value Reductions::fold(const std::string& function, Kind kind, const std::vector<Value>& shape,
                       const Array::At& at, const StoredRef& plain) {
    const Operators& operators = code_.operators;
    if (kind == Kind::boolean)
        throw Mismatch(last_name(function) + " of bools", "Numbers are required.");
    if (function == "numpy.mean") {
        const Value total = fold("numpy.sum", kind, shape, at);
        return operators.binary("/", total, size_of(shape));
    }
    if (plain && is_python_extremum(function)) return extreme(function, plain);
    const bool is_product = function == "numpy.prod";
    const bool is_total = is_product || function == "numpy.sum" || function == "sum";
    const Expr here = code_.hidden(is_product ? "product" : is_total ? "total" : "extremum", kind);
    Value start;
    if (is_total) {
        start = is_product ? 1 : 0;
    } else {
        expect_some(shape);
        const bool has_some = std::none_of(shape.begin(), shape.end(),
                                           [](const Value& extent) { return extent.is(0); });
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (kind == Kind::floating && is_extremum(function) && has_some)
            start = function == "numpy.max" ? -infinity : infinity;
        else
            start = at(Index(shape.size(), Value(0)));
    }
    code_.assign(here.index(), operators.cast(start, kind));
    storage_.nest(shape, [&](const Index& indices) {
        const Value value = at(indices);
        Value made;
        if (is_total)
            made = operators.binary(is_product ? "*" : "+", here, value);
        else if (is_extremum(function))
            made =
                function_of(operators, function == "numpy.max" ? "numpy.maximum" : "numpy.minimum",
                            {here, value});
        else
            made = function_of(operators, function, {here, value});
        code_.assign(here.index(), operators.cast(made, kind));
    });
    return here;
}

Value Reductions::reduced(const std::string& function, const std::vector<Value>& arguments) {
    ArrayRef array = arguments.empty() ? nullptr : arguments[0].array();
    const std::string called = last_name(function);
    if (!array || arguments.size() > 2)
        throw Mismatch(called + " of several arguments", "Reduce the array alone.");
    const Value axis = arguments.size() > 1 ? arguments[1] : Value();
    if (array->kind == Kind::boolean && is_extremum(function)) {
        if (axis.is_nothing()) {
            expect_some(array->shape);
        } else {
            const int place = literal_axis(axis, array->rank());
            expect_some({array->shape[static_cast<size_t>(place)]});
        }
        return truths(function == "numpy.max" ? "numpy.any" : "numpy.all", arguments);
    }
    if (array->kind == Kind::boolean)
        array = elements_.elementwise(
            [this](const std::vector<Value>& x) -> Value {
                return code_.operators.cast(x[0], Kind::integer);
            },
            {array});
    if (axis.is_nothing()) {
        const bool is_pythons = function == "sum" || is_python_extremum(function);
        if (is_pythons && array->shape.size() != 1)
            throw Mismatch(text(called, " of an array of ", array->rank(), " axes"),
                           "Write np." + called + ".");
        const StoredRef plain = std::dynamic_pointer_cast<Stored>(array);
        if (!plain || is_python_extremum(function))  // whose own word says all of it
            return fold(function, array->kind, array->shape, array->at, plain);
        return within_call_of_library(code_, called, [&] {
            return fold(function, array->kind, array->shape, array->at, plain);
        });
    }
    const size_t place = static_cast<size_t>(literal_axis(axis, array->rank()));
    const Value extent = array->shape[place];
    const auto at = [this, function, array, place, extent](const Index& indices) {
        return fold(function, array->kind, {extent}, [&](const Index& own) {
            return array->at(with_index(indices, place, own[0]));
        });
    };
    std::vector<Value> rest = without(array->shape, place);
    if (rest.empty()) return at({});
    const Kind kind = function == "numpy.mean" ? Kind::floating : array->kind;
    return knossos::array(kind, std::move(rest), at, {.reads = array->reads});
}

// any, all and count_nonzero, by how many elements are true.
Value Reductions::truths(const std::string& function, const std::vector<Value>& arguments) {
    const Operators& operators = code_.operators;
    const ArrayRef array = arguments[0].array();
    if (!array) throw Mismatch(last_name(function) + " of a number", "Write bool(…).");
    std::vector<Value> given = arguments;
    given[0] = elements_.elementwise(
        [&operators](const std::vector<Value>& x) -> Value {
            return operators.cast(operators.truth(scalar(x[0])), Kind::integer);
        },
        {array});
    const Value count = reduced("numpy.sum", given);
    if (function == "numpy.count_nonzero") return count;
    const bool is_all = function == "numpy.all";
    Value wanted = 0;
    if (is_all) {
        const bool has_axis = arguments.size() > 1 && !arguments[1].is_nothing();
        const int axis = has_axis ? literal_axis(arguments[1], array->rank()) : 0;
        wanted =
            size_of(has_axis ? std::vector{array->shape[static_cast<size_t>(axis)]} : array->shape);
    }
    const char* symbol = is_all ? "==" : ">";
    if (!count.array()) return operators.compare(symbol, count, wanted);
    return elements_.elementwise(
        [&operators, symbol, wanted](const std::vector<Value>& x) {
            return operators.compare(symbol, x[0], wanted);
        },
        {count});
}

// What a reduction made, with an axis of one element for each that it has reduced.
ArrayRef Reductions::with_axes(const Value& made, const std::vector<Value>& arguments) {
    const ArrayRef array = arguments[0].array(), reduced = made.array();
    if (!reduced)
        return knossos::array(kind_of_number(made), std::vector<Value>(array->shape.size(), 1),
                              [made](const Index&) { return made; });
    const size_t axis = static_cast<size_t>(literal_axis(arguments[1], array->rank()));
    return knossos::array(
        reduced->kind, with_index(reduced->shape, axis, 1),
        [reduced, axis](const Index& at) { return reduced->at(without(at, axis)); },
        {.reads = reduced->reads});
}

void Reductions::expect_some(const std::vector<Value>& shape) {
    for (const Value& extent : shape) {
        if (extent.is_number()) continue;
        const Value holds = code_.operators.compare(">", extent, 0);
        code_.expect(*holds.expr(), "ValueError",
                     "there is no element%s. At least one is required.");
    }
}

// max or min of a stored array of one axis: the element at the place where it is, which is the
// first of several. Its gradient goes to that element.
Value Reductions::extreme(const std::string& function, const StoredRef& array) {
    const char* symbol = function == "max" ? ">" : "<";
    const Expr best = place_of_best(array, [&](const Value& now, const Value& before) {
        return code_.operators.compare(symbol, now, before);
    });
    return array->at({best});
}

Expr Reductions::place_of_best(const StoredRef& array,
                               const std::function<Value(const Value&, const Value&)>& is_better) {
    const Value extent = array->shape[0];
    expect_some({extent});
    const Expr best = code_.hidden("at", Kind::integer);
    integers_.bounds[best.index()] = {0, extent};
    code_.assign(best.index(), code_.integer(0));
    storage_.nest({extent}, [&](const Index& indices) {
        const Value here = array->at(indices);
        const Value condition = is_better(here, array->at({best}));
        std::vector<Statement> found{
            Statement::assign(best.index(), code_.integer(indices[0]), code_.line)};
        code_.add(Statement::branch(code_.operators.cast(condition, Kind::boolean),
                                    std::move(found), {}, code_.line));
    });
    return best;
}

Value Reductions::product(const Value& left, const Value& right) {
    ArrayRef a = left.array(), b = right.array();
    if (!a || !b) throw Mismatch("@ of a number", "Write *.");
    if (b->shape.size() > 2)
        throw Mismatch(text("a product with an array of ", b->rank(), " axes on the right"),
                       "A vector or a matrix is required, or a loop.");
    integers_.require_same(last_extent(*a), first_extent(*b));
    const Value extent = last_extent(*a);
    const bool is_float = a->kind == Kind::floating || b->kind == Kind::floating;
    const Kind kind = is_float ? Kind::floating : Kind::integer;
    std::vector<Value> shape(a->shape.begin(), a->shape.end() - 1);
    shape.insert(shape.end(), b->shape.begin() + 1, b->shape.end());
    const bool has_columns = b->shape.size() > 1;
    if (has_columns && is_float && !is_short(b->shape[1]))
        return sums_of_rows(a, b, std::move(shape));
    if (has_columns) a = elements_.read_often(a);
    if (a->shape.size() > 1) b = elements_.read_often(b);
    const auto at = [this, a, b, kind, extent](const Index& indices) {
        const auto middle = indices.begin() + (a->rank() - 1);
        return fold("numpy.sum", kind, {extent}, [&](const Index& k) {
            Index row(indices.begin(), middle), column{k[0]};
            row.push_back(k[0]);
            column.insert(column.end(), middle, indices.end());
            const Value factor = a->at(row);
            return code_.operators.binary("*", factor, b->at(column));
        });
    };
    if (shape.empty()) return at({});
    return array(kind, std::move(shape), at, {.reads = reads_of({a, b})});
}

// a @ b of a matrix b, row by row: elements of a row are neighbours, those of a column are not.
// Each sum has the order, and so the bits, that it has down its column.
ArrayRef Reductions::sums_of_rows(const ArrayRef& a, const ArrayRef& b, std::vector<Value> shape) {
    const Operators& operators = code_.operators;
    StoredRef made = storage_.fresh_array("sums", Kind::floating, std::move(shape), true);
    storage_.nest(a->shape, [&](const Index& indices) {
        const Expr factor = code_.held(scalar(a->at(indices)), "factor");
        storage_.nest({b->shape[1]}, [&](const Index& column) {
            const Value value = operators.binary("*", factor, b->at({indices.back(), column[0]}));
            std::vector<Expr> places;
            for (size_t i = 0; i + 1 < indices.size(); ++i)
                places.push_back(code_.integer(indices[i]));
            places.push_back(code_.integer(column[0]));
            code_.add(Statement::write(Statement::Kind::add, made->number, std::move(places),
                                       operators.cast(value, Kind::floating), code_.line));
        });
    });
    return made;
}

int Reductions::literal_axis(const Value& axis, int rank) const {
    const auto known = axis.plain_integer();
    if (!known || *known < -rank || *known >= rank)
        throw Mismatch("the axis " + text_of(axis), "A literal axis of the array is required.");
    return static_cast<int>((*known + rank) % rank);
}

Value Reductions::size_of(const std::vector<Value>& extents) const {
    Value count = 1;
    for (const Value& extent : extents)
        count = count.is(1) ? extent : code_.operators.binary("*", count, extent);
    return count;
}

}  // namespace composit::knossos
