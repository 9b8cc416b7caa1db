// Functions of numbers.
#include "composit/knossos/functions.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::knossos {
namespace {

using Arguments = std::vector<Value>;

// math's functions of floats, and the rows that compute them.
const std::map<std::string, std::string>& rows_of_math() {
    static const std::map<std::string, std::string> rows{
        {"exp", "exp"},           {"exp2", "exp2"},
        {"expm1", "expm1"},       {"log2", "log2"},
        {"log10", "log10"},       {"log1p", "log1p"},
        {"cbrt", "cbrt"},         {"sin", "sin"},
        {"cos", "cos"},           {"tan", "tan"},
        {"asin", "arcsin"},       {"acos", "arccos"},
        {"atan", "arctan"},       {"atan2", "arctan2"},
        {"sinh", "sinh"},         {"cosh", "cosh"},
        {"tanh", "tanh"},         {"asinh", "arcsinh"},
        {"acosh", "arccosh"},     {"atanh", "arctanh"},
        {"hypot", "hypot"},       {"erf", "erf"},
        {"erfc", "erfc"},         {"lgamma", "lgamma"},
        {"fmod", "fmod"},         {"degrees", "degrees"},
        {"radians", "radians"},   {"nextafter", "nextafter"},
        {"isnan", "isnan"},       {"isinf", "isinf"},
        {"isfinite", "isfinite"},
    };
    return rows;
}

const std::map<std::string, Op>& roundings() {
    static const std::map<std::string, Op> table{
        {"floor", Op::floor}, {"ceil", Op::ceil}, {"trunc", Op::trunc}};
    return table;
}

bool is_of_math(const std::string& name) {
    static const std::set<std::string> others{"gcd", "log", "sqrt", "fabs", "copysign"};
    if (!name.starts_with("math.")) return false;
    const std::string last = last_name(name);
    return rows_of_math().contains(last) || roundings().contains(last) || others.contains(last);
}

bool is_conversion(const std::string& name) {
    static const std::set<std::string> all{"float", "int", "bool", "abs", "round"};
    return all.contains(name);
}

Value as_float(const Operators& operators, const Value& value) {
    if (value.is_number() && !value.as<Large>()) return *value.number();
    return operators.cast(value, Kind::floating);
}

// A float as int64; those that do not fit (CPython's are of any size) are the least int64.
Expr integer_of(const Operators& operators, const Expr& value) {
    const Expr limit = operators.cast(0x1p63, Kind::floating);
    const Expr least = operators.cast(-0x1p63, Kind::floating);
    const Expr fits = Expr::make(Op::bit_and, {Expr::make(Op::greater_equal, {value, least}),
                                               Expr::make(Op::less, {value, limit})});
    return Expr::cast(Expr::make(Op::select, {fits, value, least}), DType::int64);
}

Value sum(const Operators& operators, const Arguments& given) {
    const bool has_start = given.size() == 2;
    if (given.size() != (has_start ? 2u : 1u) || !given[0].tuple())
        throw Mismatch("sum of what is no tuple", "Write sum(… for i in range(3)), or a loop.");
    Value total = has_start ? given[1] : Value(0);
    for (const Value& part : given[0].tuple()->parts) total = operators.binary("+", total, part);
    return total;
}

// The first of those that no other is less (greater) than, as Python chooses.
Value extremum(const Operators& operators, const std::string& name, Arguments given) {
    if (given.size() == 1 && !given[0].tuple())
        throw Mismatch(name + " of " + with_article(kind_of(given[0])) + " alone",
                       "Several values, or a tuple or array of them, are required.");
    if (given.size() == 1) given = Arguments(given[0].tuple()->parts);
    if (given.empty()) throw Mismatch(name + " of nothing", "A number is required.");
    Value best = scalar(given[0]);
    for (size_t i = 1; i < given.size(); ++i) {
        const Value value = scalar(given[i]);
        const Value better = operators.compare(name == "min" ? "<" : ">", value, best);
        if (const auto* known = better.as<bool>()) {
            best = *known ? value : best;
            continue;
        }
        const Kind one = kind_of_number(best), other = kind_of_number(value);
        Kind kind =
            one == Kind::floating || other == Kind::floating ? Kind::floating : Kind::integer;
        if (one == Kind::boolean && other == Kind::boolean) kind = Kind::boolean;
        best = operators.select(better, operators.cast(value, kind), operators.cast(best, kind));
    }
    return best;
}

Value converted(const Operators& operators, const std::string& name, const Arguments& given) {
    check_count(name, given.size(), {1});
    Value value = given[0];
    if (name == "float") return operators.cast(value, Kind::floating);
    if (name == "bool") return operators.truth(value);
    if (name == "abs") {
        if (kind(value) == Kind::boolean) value = operators.cast(value, Kind::integer);
        return Expr::make(Op::absolute, {*value.expr()});
    }
    if (kind(value) != Kind::floating) return operators.cast(value, Kind::integer);
    const Expr& x = *value.expr();
    return integer_of(operators, name == "round" ? Expr::make(Op::rint, {x}) : x);
}

Value divisor(const Operators& operators, const Arguments& given) {
    if (given.empty()) return 0;
    Value made = given[0];
    const size_t first = given.size() > 1 ? 1 : 0;
    for (size_t i = first; i < given.size(); ++i) {
        const auto [x, y, kind] = operators.promoted(made, given[i]);
        if (kind == Kind::floating) throw Mismatch("gcd of a float", "Integers are required.");
        made = call_row("gcd", {x, y});
    }
    return made;
}

Value of_math(const Operators& operators, const std::string& name, const Arguments& given) {
    if (const auto rounding = roundings().find(name); rounding != roundings().end()) {
        check_count(name, given.size(), {1});
        if (kind(given[0]) != Kind::floating) return operators.cast(given[0], Kind::integer);
        return integer_of(operators, Expr::make(rounding->second, {*given[0].expr()}));
    }
    if (name == "gcd") return divisor(operators, given);
    std::vector<Expr> values;
    for (const Value& each : given) values.push_back(operators.cast(each, Kind::floating));
    if (name == "log") {
        check_count(name, given.size(), {1, 2});
        for (Expr& each : values) each = call_row("log", {each});
        return values.size() == 1 ? values[0] : Expr::make(Op::divide, values);
    }
    for (const auto& [own, operation, count] :
         {std::tuple("sqrt", Op::square_root, 1), std::tuple("fabs", Op::absolute, 1),
          std::tuple("copysign", Op::copysign, 2)}) {
        if (name != own) continue;
        check_count(name, given.size(), {static_cast<size_t>(count)});
        return Expr::make(operation, values);
    }
    const std::string& row = rows_of_math().at(name);
    check_count(name, given.size(), {static_cast<size_t>(ir::scalar::row(row)->arity)});
    return call_row(row, values);
}

std::optional<Value> of_numpy(const Operators& operators, std::string name, Arguments given) {
    if (name == "round" || name == "around") {
        check_count(name, given.size(), {1});
        if (kind(given[0]) != Kind::floating) return given[0];
        name = "rint";
    }
    const ir::scalar::RowRef row = ir::scalar::find_row(name);
    if (!row) return std::nullopt;
    check_count(name, given.size(), {static_cast<size_t>(row->arity)});
    const bool are_known = std::none_of(given.begin(), given.end(),
                                        [](const Value& each) { return each.expr() != nullptr; });
    if (are_known) return operators.of_numbers("numpy." + name, given);
    if (name == "where") {
        Value a = given[1], b = given[2];
        const auto one = kind(a), other = kind(b);
        if ((one == Kind::integer && other == Kind::floating) ||
            (one == Kind::floating && other == Kind::integer)) {
            a = as_float(operators, a);
            b = as_float(operators, b);
        }
        return operators.select(operators.truth(given[0]), a, b);
    }
    Kind kind = Kind::boolean;
    for (const Value& each : given) kind = std::max(kind, kind_of_number(each));
    std::vector<Expr> values;
    for (const Value& each : given) values.push_back(operators.cast(each, kind));
    const Expr made = call_row(name, std::move(values));
    return operators.cast(made, kind_of_number(made));  // exp of an int is float64
}

// A reduction of one number.
Value reduced(const Operators& operators, const std::string& name, const Value& number) {
    if (name == "numpy.mean") return as_float(operators, number);
    if (kind(number) != Kind::boolean || (name != "numpy.sum" && name != "numpy.prod"))
        return number;
    return number.integer() ? Value(*number.integer()) : operators.cast(number, Kind::integer);
}

bool is_reduction(const std::string& name) {
    static const std::set<std::string> all{"numpy.sum", "numpy.mean", "numpy.max", "numpy.min",
                                           "numpy.prod"};
    return all.contains(name);
}

// (number, least, most) as numpy.clip does it, which asks for the most last.
Value clipped(const Operators& operators, const Arguments& given) {
    check_count("clip", given.size(), {3});
    const Value above = function_of(operators, "numpy.maximum", {given[0], given[1]});
    return function_of(operators, "numpy.minimum", {above, given[2]});
}

Value stopped(const Arguments& given) {
    check_count("stop_gradient", given.size(), {1});
    const Value& value = given[0];
    if (value.is_number() || kind(value) != Kind::floating) return value;
    return constant_of(*value.expr());
}

// Functions of tuples, too; nothing for others.
std::optional<Value> of_structures(const Operators& operators, const std::string& name,
                                   const Arguments& given) {
    const Tuple* tuple = given.size() == 1 ? given[0].tuple() : nullptr;
    if (name == "min" || name == "max") return extremum(operators, name, given);
    if (name == "sum") return sum(operators, given);
    if (name == "len") {
        if (tuple) return Value(static_cast<int64_t>(tuple->parts.size()));
        throw Mismatch("len of what is no tuple", "Write the number.");
    }
    if (name == "tuple" && tuple) return given[0];
    if (name != "divmod") return std::nullopt;
    check_count(name, given.size(), {2});
    const Value quotient = operators.binary("//", given[0], given[1]);
    return tuple_of({quotient, operators.binary("%", given[0], given[1])});
}

}  // namespace

Expr constant_of(const Expr& value) {
    static const auto& row = *new ir::scalar::RowRef([] {
        ir::scalar::Row made;
        made.name = "stop_gradient";
        made.types = ir::scalar::types::floating;
        made.value = [](const std::vector<Expr>& operands) { return operands[0]; };
        made.is_piecewise_constant = true;
        return std::make_shared<const ir::scalar::Row>(std::move(made));
    }());
    return Expr::call(row, {value});
}

std::string last_name(const std::string& function) {
    return function.substr(function.rfind('.') + 1);
}

void check_count(const std::string& function, size_t given, std::initializer_list<size_t> counts) {
    if (std::find(counts.begin(), counts.end(), given) != counts.end()) return;
    std::string wanted;
    for (const size_t each : counts)
        wanted += (wanted.empty() ? "" : " or ") + std::to_string(each);
    throw Mismatch(text(function, " of ", given, " argument", given == 1 ? "" : "s"),
                   text(wanted, wanted == "1" ? " is" : " are", " required."));
}

bool is_elementwise(const std::string& function) {
    if (!function.starts_with("numpy.")) return false;
    const std::string name = last_name(function);
    return name == "round" || name == "around" || ir::scalar::find_row(name) != nullptr;
}

std::optional<Value> call_function(const Operators& operators, const std::string& name,
                                   std::vector<Value> arguments) {
    if (const auto made = of_structures(operators, name, arguments)) return made;
    for (const Value& each : arguments) scalar(each);
    if (is_reduction(name) && arguments.size() == 1) return reduced(operators, name, arguments[0]);
    if (name == "stop_gradient") return stopped(arguments);
    if (name == "numpy.clip") return clipped(operators, arguments);
    if (name == "pow" || name == "math.pow") {
        check_count("pow", arguments.size(), {2});
        if (name == "math.pow")
            for (Value& each : arguments) each = as_float(operators, each);
        return operators.power(arguments[0], arguments[1]);
    }
    const bool is_own = is_conversion(name) || is_of_math(name);
    const bool are_known =
        !arguments.empty() && std::all_of(arguments.begin(), arguments.end(),
                                          [](const Value& each) { return each.is_number(); });
    if (is_own && are_known) return operators.of_numbers(name, arguments);
    if (is_conversion(name)) return converted(operators, name, arguments);
    if (is_of_math(name)) return of_math(operators, last_name(name), arguments);
    if (is_elementwise(name)) return of_numpy(operators, last_name(name), std::move(arguments));
    return std::nullopt;
}

Value function_of(const Operators& operators, const std::string& name,
                  std::vector<Value> arguments) {
    auto made = call_function(operators, name, std::move(arguments));
    internal_check(made.has_value(), "kernels cannot call ", name);
    return *std::move(made);
}

}  // namespace composit::knossos
