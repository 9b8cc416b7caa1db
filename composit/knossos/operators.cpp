// Operators of numbers and expressions.
#include "composit/knossos/operators.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace composit::knossos {
namespace {

constexpr int64_t exact_in_double = int64_t{1} << 53;

bool is_one_of(std::string_view symbol, std::initializer_list<std::string_view> symbols) {
    return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

struct SymbolOf {
    std::string_view symbol;
    Op operation;
};

std::optional<Op> found(std::initializer_list<SymbolOf> table, std::string_view symbol) {
    for (const auto& [name, operation] : table)
        if (name == symbol) return operation;
    return std::nullopt;
}

std::optional<Op> plain(std::string_view symbol) {
    return found({{"+", Op::add}, {"-", Op::subtract}, {"*", Op::multiply}, {"/", Op::divide}},
                 symbol);
}

std::optional<Op> of_bits(std::string_view symbol) {
    return found({{"&", Op::bit_and}, {"|", Op::bit_or}, {"^", Op::bit_xor}}, symbol);
}

Op compared(std::string_view symbol) {
    return *found({{"<", Op::less},
                   {"<=", Op::less_equal},
                   {">", Op::greater},
                   {">=", Op::greater_equal},
                   {"==", Op::equal},
                   {"!=", Op::not_equal}},
                  symbol);
}

std::string_view row_of(std::string_view symbol) {
    if (symbol == "//") return "floor_divide";
    if (symbol == "%") return "remainder";
    if (symbol == "<<") return "left_shift";
    return symbol == ">>" ? "right_shift" : "";
}

template <class T>
std::optional<bool> comparison(std::string_view symbol, T a, T b) {
    if (symbol == "<") return a < b;
    if (symbol == "<=") return a <= b;
    if (symbol == ">") return a > b;
    if (symbol == ">=") return a >= b;
    if (symbol == "==") return a == b;
    if (symbol == "!=") return a != b;
    return std::nullopt;
}

bool is_exact(const Value& value) {
    const auto whole = value.integer();
    return value.as<double>() || (whole && std::abs(*whole) <= exact_in_double);
}

std::optional<Value> of_integers(std::string_view symbol, int64_t a, int64_t b) {
    int64_t made = 0;
    if (symbol == "+" && !__builtin_add_overflow(a, b, &made)) return Value(made);
    if (symbol == "-" && !__builtin_sub_overflow(a, b, &made)) return Value(made);
    if (symbol == "*" && !__builtin_mul_overflow(a, b, &made)) return Value(made);
    if (symbol == "&") return Value(a & b);
    if (symbol == "|") return Value(a | b);
    if (symbol == "^") return Value(a ^ b);
    if (b <= 0) return std::nullopt;
    const int64_t remainder = a % b, rest = remainder < 0 ? remainder + b : remainder;
    if (symbol == "%") return Value(rest);
    if (symbol == "//") return Value((a / b) - (a % b < 0 ? 1 : 0));
    return std::nullopt;
}

// Where Python's result is that of the machine's arithmetic; nothing for others.
std::optional<Value> in_machine_numbers(std::string_view symbol, const Value& a, const Value& b) {
    const auto x = a.integer(), y = b.integer();
    if (x && y && symbol != "/") {
        if (const auto made = comparison(symbol, *x, *y)) return Value(*made);
        const bool are_bools = a.as<bool>() && b.as<bool>();
        const auto made = of_integers(symbol, *x, *y);
        if (made && are_bools && of_bits(symbol)) return Value(made->integer() != 0);
        return made;
    }
    if (!is_exact(a) || !is_exact(b)) return std::nullopt;
    const double p = *a.number(), q = *b.number();
    if (const auto made = comparison(symbol, p, q)) return Value(*made);
    if (symbol == "+") return Value(p + q);
    if (symbol == "-") return Value(p - q);
    if (symbol == "*") return Value(p * q);
    if (symbol == "/" && q != 0) return Value(p / q);
    return std::nullopt;
}

}  // namespace

std::optional<double> known_float(const Value& value) {
    const auto number = value.number();
    user_check<OverflowError>(!value.as<Large>() || std::isfinite(*number),
                              "int too large to convert to float");
    return number;
}

Expr call_row(std::string_view name, std::vector<Expr> operands) {
    return Expr::call(ir::scalar::row(name), std::move(operands));
}

Value known_in_machine_numbers(const std::string& name, const std::vector<Value>& numbers) {
    const std::string symbol = name.starts_with("numpy.") ? name.substr(6) : name;
    std::optional<Value> made;
    if (numbers.size() == 2) {
        const Value &a = numbers[0], &b = numbers[1];
        made = in_machine_numbers(symbol, a, b);
        const bool is_of_numpy = symbol != name;
        if (!made && is_of_numpy && symbol == "/") made = *a.number() / *b.number();
        if (!made && symbol == "**") made = std::pow(*a.number(), *b.number());
        if (symbol == "maximum") made = *a.number() >= *b.number() ? a : b;
        if (symbol == "minimum") made = *a.number() <= *b.number() ? a : b;
    }
    if (numbers.size() == 1) {
        const Value& x = numbers[0];
        if (symbol == "-" && x.integer()) made = -*x.integer();
        if (symbol == "-" && x.as<double>()) made = -*x.number();
        if (symbol == "absolute") made = std::fabs(*x.number());
        if (symbol == "square") made = *x.number() * *x.number();
        if (symbol == "sqrt") made = std::sqrt(*x.number());
    }
    if (made) return *made;
    std::string given;
    for (const Value& each : numbers) given += (given.empty() ? "" : ", ") + text_of(each);
    throw Mismatch(text(name, " of numbers that are known (", given, ")"),
                   "Numbers whose result int64 or float64 holds are required.");
}

Operators::Operators(DType dtype, bool has_arrays, KnownFunction known)
    : dtype(dtype), has_arrays(has_arrays), known_(std::move(known)) {}

DType Operators::dtype_of(Kind kind) const {
    if (kind == Kind::floating) return dtype;
    return kind == Kind::integer ? DType::int64 : DType::boolean;
}

Value Operators::of_numbers(const std::string& name, const std::vector<Value>& numbers) const {
    return known_(name, numbers);
}

Expr Operators::cast(const Value& value, Kind kind) const {
    const DType wanted = dtype_of(kind);
    if (const Expr* expression = value.expr()) return Expr::cast(*expression, wanted);
    const double number = *scalar(value).number();
    if (kind == Kind::floating) return Expr::constant(wanted, *known_float(value));
    if (value.as<Large>() || !(number >= -0x1p63 && number <= 0x1p63))
        throw Mismatch("the integer " + text_of(value) + " does not fit in int64",
                       "Write a float.");
    const auto whole = value.integer();
    if (!whole || std::abs(number) <= static_cast<double>(exact_in_double))
        return Expr::constant(wanted, number);
    const int64_t low = *whole & 0xffffffff, high = *whole >> 32;
    const Expr shifted = Expr::make(
        Op::multiply,
        {Expr::constant(wanted, static_cast<double>(high)), Expr::constant(wanted, 0x1p32)});
    return Expr::make(Op::add, {shifted, Expr::constant(wanted, static_cast<double>(low))});
}

Promoted Operators::promoted(const Value& a, const Value& b, Kind least) const {
    const Kind kind = std::max({kind_of_number(a), kind_of_number(b), least});
    return {cast(a, kind), cast(b, kind), kind};
}

Value Operators::truth(const Value& value) const {
    const Kind kind = kind_of_number(value);
    if (const auto* large = value.as<Large>(); large) return true;
    if (value.is_number()) return *value.number() != 0;
    if (kind == Kind::boolean) return value;
    return Expr::make(Op::not_equal, {*value.expr(), cast(0, kind)});
}

Value Operators::binary(std::string_view symbol, const Value& a, const Value& b) const {
    const Kind x_kind = kind_of_number(a), y_kind = kind_of_number(b);
    if (a.is_number() && b.is_number()) {
        if (const auto made = in_machine_numbers(symbol, a, b)) return *made;
        return of_numbers(std::string(symbol), {a, b});
    }
    const bool are_bools = x_kind == Kind::boolean && y_kind == Kind::boolean;
    if (has_arrays && are_bools && is_one_of(symbol, {"+", "-", "*"}))
        throw Mismatch(
            text(symbol, " of two bools, which is another thing for Python's than for ", "NumPy's"),
            "Write int(a), or and, or, not.");
    if (are_bools && of_bits(symbol))
        return Expr::make(*of_bits(symbol), {cast(a, Kind::boolean), cast(b, Kind::boolean)});
    if (symbol == "**") return power(a, b);
    const auto [x, y, kind] = promoted(a, b, symbol == "/" ? Kind::floating : Kind::integer);
    if (const auto operation = plain(symbol)) return Expr::make(*operation, {x, y});
    const std::string_view row = row_of(symbol);
    if (!row.empty()) {
        if (kind == Kind::floating && is_one_of(symbol, {"<<", ">>"}))
            throw Mismatch(text(symbol, " of a float"), "Bits are those of integers.");
        return call_row(row, {x, y});
    }
    if (kind == Kind::floating)
        throw Mismatch(text(symbol, " of a float"), "Bits are those of integers and bools.");
    return Expr::make(*of_bits(symbol), {x, y});
}

Value Operators::of_elements(std::string_view symbol, const Value& a, const Value& b) const {
    const bool are_bools = kind_of_number(a) == Kind::boolean && kind_of_number(b) == Kind::boolean;
    if (are_bools && is_one_of(symbol, {"+", "-", "*"})) {
        if (symbol == "-") throw Mismatch("- of arrays of bools", "Write ^, or np.logical_xor.");
        return Expr::make(symbol == "+" ? Op::bit_or : Op::bit_and,
                          {cast(a, Kind::boolean), cast(b, Kind::boolean)});
    }
    if (a.is_number() && b.is_number()) return of_numbers("numpy." + std::string(symbol), {a, b});
    return binary(symbol, a, b);
}

Value Operators::of_element(std::string_view symbol, const Value& value) const {
    if (kind(value) != Kind::boolean) return unary(symbol, value);
    if (symbol == "~") return Expr::make(Op::bit_not, {cast(value, Kind::boolean)});
    throw Mismatch(text(symbol, " of an array of bools"), "Write ~, or np.where.");
}

namespace {

// An integer's power, which wraps as products do.
Expr repeated(const Operators& operators, Expr x, int64_t exponent) {
    Expr result;
    while (exponent != 0) {
        if (exponent & 1) result = result ? Expr::make(Op::multiply, {result, x}) : x;
        exponent >>= 1;
        if (exponent != 0) x = Expr::make(Op::multiply, {x, x});
    }
    return result ? result : operators.cast(1, Kind::integer);
}

}  // namespace

Value Operators::power(const Value& a, const Value& b) const {
    const auto exponent = b.integer();
    const Kind kind_of_a = kind_of_number(a);
    if ((exponent || b.as<Large>()) && !a.expr()) return of_numbers("**", {a, b});
    if (exponent && kind_of_a != Kind::floating && *exponent >= 0)
        return repeated(*this, cast(a, Kind::integer), *exponent);
    if (kind_of_a != Kind::floating && kind_of_number(b) != Kind::floating && !b.is_number())
        throw Mismatch("an integer to the power of an integer that is not a literal",
                       "Whether the result is an integer must be known: write float(x) ** n, or "
                       "int(float(x) ** n).");
    const Expr x = cast(a, Kind::floating), y = cast(b, Kind::floating);
    if (b.is(0)) return cast(1.0, Kind::floating);
    if (b.is(-1)) return Expr::make(Op::divide, {cast(1.0, Kind::floating), x});
    if (b.is(1)) return x;
    if (b.is(2)) return call_row("square", {x});
    if (b.is(3)) return call_row("cube", {x});
    if (b.is(4)) return call_row("fourth", {x});
    if (b.number() == 1.5) return call_row("three_halves", {x});
    return call_row("power", {x, y});
}

Value Operators::unary(std::string_view symbol, const Value& value) const {
    Kind kind = kind_of_number(value);
    if (symbol == "not") {
        const Value holds = truth(value);
        if (const auto* known = holds.as<bool>()) return !*known;
        return Expr::make(Op::bit_not, {*holds.expr()});
    }
    if (value.is_number()) {
        const auto whole = value.integer();
        if (symbol == "+") return whole ? Value(*whole) : value;
        if (symbol == "-" && whole && *whole != std::numeric_limits<int64_t>::min()) return -*whole;
        if (symbol == "-" && value.as<double>()) return -*value.number();
        if (symbol == "~" && value.plain_integer()) return ~*whole;
        return of_numbers(std::string(symbol), {value});
    }
    Expr x = *value.expr();
    if (kind == Kind::boolean) {
        if (has_arrays)
            throw Mismatch(
                text(symbol, " of a bool, which is another thing for Python's than for NumPy's"),
                "Write not, or int(b).");
        kind = Kind::integer;
        x = cast(value, kind);
    }
    if (symbol == "+") return x;
    if (symbol == "~" && kind == Kind::floating)
        throw Mismatch("~ of a float", "Bits are those of integers.");
    return Expr::make(symbol == "-" ? Op::negate : Op::bit_not, {x});
}

Value Operators::compare(std::string_view symbol, const Value& a, const Value& b) const {
    if (a.is_number() && b.is_number()) {
        if (const auto made = in_machine_numbers(symbol, a, b)) return *made;
        return of_numbers(std::string(symbol), {a, b});
    }
    const auto [x, y, kind] = promoted(a, b);
    return Expr::make(compared(symbol), {x, y});
}

Value Operators::both(const Value& a, const Value& b, Op operation) const {
    const bool is_and = operation == Op::bit_and;
    const auto *x = a.as<bool>(), *y = b.as<bool>();
    if (x && y) return is_and ? *x && *y : *x || *y;
    if (x) return *x == is_and ? b : Value(!is_and);
    if (y) return *y == is_and ? a : Value(!is_and);
    return Expr::make(operation, {cast(a, Kind::boolean), cast(b, Kind::boolean)});
}

Value Operators::select(const Value& condition, const Value& a, const Value& b) const {
    if (const auto* known = condition.as<bool>()) return *known ? a : b;
    const Tuple *left = a.tuple(), *right = b.tuple();
    if (left && right && left->parts.size() == right->parts.size()) {
        std::vector<Value> parts;
        for (size_t i = 0; i < left->parts.size(); ++i)
            parts.push_back(select(condition, left->parts[i], right->parts[i]));
        return tuple_of(std::move(parts));
    }
    const bool are_numbers = a.is_number() && b.is_number();
    if (are_numbers && a.content().index() == b.content().index() && text_of(a) == text_of(b))
        return a;
    const auto [x, y, kind] = promoted(a, b, Kind::boolean);
    const auto is_integer_variable = [](const Value& value) {
        return value.expr() && knossos::kind(value) == Kind::integer;
    };
    if (kind == Kind::floating && (is_integer_variable(a) || is_integer_variable(b)))
        throw Mismatch("one side of the choice is an int, the other a float",
                       "Write float(…) around the int.");
    return Expr::make(Op::select, {cast(condition, Kind::boolean), x, y});
}

}  // namespace composit::knossos
