// What operators mean.
#include "composit/knossos/arithmetic.h"

#include <set>

namespace composit::knossos {
namespace {

bool is_ordering(const std::string& comparison) {
    static const std::set<std::string> known{"<", "<=", ">", ">=", "==", "!="};
    return known.contains(comparison);
}

Value joined_tuples(const Tuple& a, const Tuple& b) {
    std::vector<Value> parts = a.parts;
    parts.insert(parts.end(), b.parts.begin(), b.parts.end());
    return tuple_of(std::move(parts), a.is_list);
}

Value repeated(const Tuple& tuple, int64_t count) {
    constexpr int64_t most_parts = 1 << 20;  // a graph of more would not be read by anybody
    std::vector<Value> parts;
    const auto size = static_cast<int64_t>(tuple.parts.size());
    if (size == 0) return tuple_of(std::move(parts), tuple.is_list);
    if (count > most_parts / size)
        throw Mismatch(text("a tuple of more than ", most_parts, " parts"), "Write np.zeros(n).");
    for (int64_t i = 0; i < count; ++i)
        parts.insert(parts.end(), tuple.parts.begin(), tuple.parts.end());
    return tuple_of(std::move(parts), tuple.is_list);
}

bool is_integer_expression(const Value& value) {
    return value.expr() && kind(value) == Kind::integer;
}

}  // namespace

const std::string& symbol_in_place(const Syntax& augmented) {
    if (augmented.name == "@")
        throw Mismatch("a product of matrices", "Write the sums of products.");
    return augmented.name;
}

Value Arithmetic::of_binary(const SyntaxRef& part) {
    const Value left = expressions.value(part->at(Field::left));
    const Value right = expressions.value(part->at(Field::right));
    const std::string& symbol = part->name;
    const Tuple *a = left.tuple(), *b = right.tuple();
    if (symbol == "+" && a && b) return joined_tuples(*a, *b);
    if (symbol == "*" && a) {
        if (const auto count = right.plain_integer()) return repeated(*a, *count);
        if (is_integer_expression(right) && a->parts.size() == 1)
            return list_of(a->parts[0], *right.expr());
    }
    if (symbol == "@") return arrays.reductions.product(left, right);
    if (left.array() || right.array()) return arrays.binary(symbol, left, right);
    // Of natural numbers, Python's quotient and remainder are those of C++.
    const bool divides = symbol == "//" || symbol == "%";
    const bool is_positive = divides && right.plain_integer().value_or(0) > 0;
    if (is_positive && is_integer_expression(left) && arrays.integers.is_natural(left))
        return Expr::make(symbol == "//" ? Op::divide : Op::remainder,
                          {*left.expr(), arrays.code.integer(right)});
    return arrays.operators.binary(symbol, left, right);
}

// [value] * count
Value Arithmetic::list_of(const Value& value, const Expr& count) {
    const Integers& known = arrays.integers;
    const Value positive = arrays.operators.compare(">", count, 0);
    const bool is_extent = known.is_of_parameters(known.resolved(count)) || known.is_natural(count);
    const Value extent = is_extent ? Value(count) : arrays.operators.select(positive, count, 0);
    const Value number = arrays.integers.kept(scalar(value), "item");
    return array(kind_of_number(number), {arrays.integers.extent(extent)},
                 [number](const Index&) { return number; }, {.lists = 1});
}

Value Arithmetic::of_unary(const SyntaxRef& part) {
    const Value value = expressions.value(part->at(Field::value));
    if (value.array() && part->name != "not") return arrays.unary(part->name, value);
    return arrays.operators.unary(part->name, value);
}

Value Arithmetic::of_comparison(const SyntaxRef& part) {
    const Operators& operators = arrays.operators;
    const auto others = part->all(Field::right);
    const std::string& first = part->comparisons.front();
    if (others.size() == 1 && is_ordering(first)) {
        const Value a = expressions.value(part->at(Field::left));
        const Value b = expressions.value(others[0]);
        if (a.array() || b.array()) return arrays.compare(first, a, b);
        return operators.compare(first, scalar(a), scalar(b));
    }
    if (others.size() == 1 && (first == "in" || first == "not in")) {
        const Value values = expressions.value(others[0]);
        if (const Tuple* tuple = values.tuple())
            return is_among(expressions.value(part->at(Field::left)), *tuple, first == "in");
    }
    Value result = true;
    Value left = scalar(expressions.value(part->at(Field::left)));
    for (size_t i = 0; i < others.size(); ++i) {
        const Value right = scalar(expressions.value(others[i]));
        if (!is_ordering(part->comparisons[i]))
            throw Mismatch("`is`, and `in` what is no tuple", "Compare numbers with == and <.");
        result = operators.both(result, operators.compare(part->comparisons[i], left, right));
        left = right;
    }
    return result;
}

Value Arithmetic::is_among(const Value& value, const Tuple& values, bool is_wanted) {
    const Operators& operators = arrays.operators;
    Value found = false;
    for (const Value& each : values.parts) {
        const Value is_equal = operators.compare("==", scalar(value), scalar(each));
        found = operators.both(found, is_equal, Op::bit_or);
    }
    return is_wanted ? found : operators.unary("not", found);
}

}  // namespace composit::knossos
