// Functions along an axis.
#include "composit/knossos/accumulations.h"

#include "composit/base/text.h"

#include <cmath>
#include <set>

namespace composit::knossos {
namespace {

void check_axis(const std::string& function, const Array& array) {
    if (array.shape.size() != 1)
        throw Mismatch(text(last_name(function), " of an array of ", array.rank(), " axes"),
                       "One axis is required: write a loop over rows.");
}

}  // namespace

bool Accumulations::has(const std::string& function) {
    static const std::set<std::string> all{"numpy.cumsum", "numpy.cumprod", "numpy.diff",
                                           "numpy.argmax", "numpy.argmin",  "numpy.linalg.norm"};
    return all.contains(function);
}

Value Accumulations::call(const std::string& function, const std::vector<Value>& arguments,
                          Named named) {
    const ArrayRef array = arguments.empty() ? nullptr : arguments[0].array();
    if (function == "numpy.linalg.norm" && array) return norm_of(arguments, std::move(named));
    if (arguments.size() != 1 || !named.empty() || !array)
        throw Mismatch(last_name(function) + " of other arguments", "Give it one array.");
    if (function == "numpy.diff") return differences(array);
    if (function == "numpy.cumsum" || function == "numpy.cumprod")
        return accumulated(function, array);
    return place(function, array);
}

// Sums, or products, of the elements up to each.
ArrayRef Accumulations::accumulated(const std::string& function, const ArrayRef& array) {
    check_axis(function, *array);
    const bool is_sum = function == "numpy.cumsum";
    const Kind kind = array->kind == Kind::floating ? Kind::floating : Kind::integer;
    StoredRef made = storage_.fresh_array(is_sum ? "sums" : "products", kind, array->shape);
    const Expr here = code_.hidden(is_sum ? "total" : "product", kind);
    // The first sum is the first element: of -0.0 it is -0.0.
    Value none = 1;
    if (is_sum) none = kind == Kind::floating ? Value(-0.0) : Value(0);
    code_.assign(here.index(), code_.operators.cast(none, kind));
    storage_.nest(array->shape, [&](const Index& indices) {
        const Value total = code_.operators.binary(is_sum ? "+" : "*", here, array->at(indices));
        code_.assign(here.index(), *total.expr());
        storage_.store(*made, indices, here);
    });
    return made;
}

ArrayRef Accumulations::differences(const ArrayRef& array) {
    if (array->kind == Kind::boolean) throw Mismatch("diff of bools", "Numbers are required.");
    last_extent(*array);
    std::vector<Subscript> later(array->shape.size()), earlier(array->shape.size());
    later.back() = Subscript::slice(1, {}, {});
    earlier.back() = Subscript::slice({}, -1, {});
    const Value a = slices_.indexed(array, later), b = slices_.indexed(array, earlier);
    return elements_.elementwise(
        [this](const std::vector<Value>& x) { return code_.operators.binary("-", x[0], x[1]); },
        {a, b});
}

// Where the largest or smallest element is: the first of several, or the first NaN.
Value Accumulations::place(const std::string& function, const ArrayRef& given) {
    check_axis(function, *given);
    const StoredRef array = storage_.stored(given, "values");
    if (array->shape[0].is(0))
        throw Mismatch(last_name(function) + " of no elements", "One is required.");
    const Operators& operators = code_.operators;
    const Kind kind = array->kind;
    const char* symbol = function == "numpy.argmax" ? "<=" : ">=";
    return reductions_.place_of_best(array, [&](Value now, Value before) -> Value {
        if (kind == Kind::boolean) {
            now = operators.cast(now, Kind::integer);
            before = operators.cast(before, Kind::integer);
        }
        Expr made = Expr::make(Op::bit_not, {*operators.compare(symbol, now, before).expr()});
        if (kind == Kind::floating) {
            const Expr is_number_yet =
                Expr::make(Op::bit_not, {call_row("isnan", {*before.expr()})});
            made = Expr::make(Op::bit_and, {made, is_number_yet});
        }
        return made;
    });
}

// np.linalg.norm of all elements, or along a literal axis.
Value Accumulations::norm_of(std::vector<Value> given, Named named) {
    for (const char* parameter : {"ord", "axis"}) {
        const size_t place = parameter[0] == 'o' ? 1 : 2;
        if (const auto value = taken(named, parameter)) {
            given.resize(std::max(given.size(), place + 1));
            given[place] = *value;
        }
    }
    const bool has_others = given.size() > 3 || !named.empty();
    given.resize(3);
    const ArrayRef x = given[0].array();
    const Value &order = given[1], &axis = given[2];
    const bool is_largest = order.number() && std::isinf(*order.number()) && *order.number() > 0;
    const bool is_known = order.is_nothing() || order.is(1) || order.is(2) || is_largest;
    if (has_others || !is_known)
        throw Mismatch("a norm of other arguments",
                       "An array, the order 1, 2 or np.inf, and a literal axis are known.");
    if (axis.is_nothing() && !order.is_nothing() && x->shape.size() != 1)
        throw Mismatch("a norm of a matrix of this order", "Leave the order out, or name an axis.");
    if (order.is(1) || is_largest) {
        std::vector<Value> reduced{elements_.of_function("numpy.absolute", {x})};
        if (!axis.is_nothing()) reduced.push_back(axis);
        return reductions_.call(is_largest ? "numpy.max" : "numpy.sum", reduced);
    }
    const bool is_whole = axis.is_nothing() || x->shape.size() == 1;
    if (std::dynamic_pointer_cast<Stored>(x) && is_whole)
        return within_call_of_library(
            code_, "norm", [&]() -> Value { return code_.held(norm(x->shape, x->at), "norm"); });
    if (is_whole) return norm(x->shape, x->at);
    const int place = reductions_.literal_axis(axis, x->rank());
    std::vector<Value> rest = x->shape;
    const Value extent = rest[static_cast<size_t>(place)];
    rest.erase(rest.begin() + place);
    const auto at = [this, x, place, extent](const Index& indices) {
        return norm({extent}, [&](const Index& own) {
            Index whole = indices;
            whole.insert(whole.begin() + place, own[0]);
            return x->at(whole);
        });
    };
    return array(Kind::floating, std::move(rest), at, {.reads = x->reads});
}

// sqrt(dot(x, x)) of elements, as NumPy computes it where no order is said.
Value Accumulations::norm(const std::vector<Value>& shape, const Array::At& at) {
    const Operators& operators = code_.operators;
    const auto square = [&](const Index& indices) {
        const Expr element = operators.cast(at(indices), Kind::floating);
        return operators.binary("*", element, element);
    };
    const Value folded = reductions_.fold("numpy.sum", Kind::floating, shape, square);
    const Expr total = operators.cast(folded, Kind::floating);
    // At 0 the norm has the slope 0: its square has, and the root is not taken.
    const Value is_positive = operators.compare(">", total, 0.0);
    return operators.select(is_positive, Expr::make(Op::square_root, {total}), total);
}

}  // namespace composit::knossos
