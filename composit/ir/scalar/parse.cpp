// Recursive descent over the lexer's tokens.
#include "composit/ir/scalar/parse.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/ir/lexer.h"
#include "composit/ir/print.h"
#include "composit/ir/scalar/row.h"

#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace composit::ir::scalar {
namespace {

constexpr int deepest = 200;  // terms within terms

// A term, or a constant whose dtype is that of its neighbours.
struct Term {
    Expr value;
    std::optional<Token> constant;
};

class Parser {
  public:
    Parser(std::string_view text, DType floating) : lexer_(text), floating_(floating) {}

    Function run() {
        Function function;
        lexer_.expect("(", "before the parameters");
        while (!lexer_.is(")")) {
            if (!function.parameters.empty()) lexer_.expect(",", "between parameters");
            const Token at = lexer_.token();
            const std::string name = take_name("The name of a parameter");
            lexer_.expect(":", "after the name of a parameter");
            const DType dtype = take_dtype();
            const auto index = static_cast<int>(function.parameters.size());
            if (!names_.emplace(name, Expr::argument(index, dtype, name)).second)
                Lexer::fail_at(at, text("there are two parameters ", name,
                                        ". Other names are "
                                        "required."));
            function.parameter_names.push_back(name);
            function.parameters.push_back(dtype);
        }
        lexer_.expect(")", "after the parameters");
        lexer_.expect("->", "after the parameters");
        function.results = body();
        if (lexer_.token().kind != TokenKind::end) lexer_.fail_here("The end of the text");
        return function;
    }

  private:
    // let name: dtype = term, …; then a result, or several in parentheses.
    std::vector<Expr> body() {
        while (lexer_.accept("let")) {
            const std::string name = take_name("A name");
            lexer_.expect(":", "after the name");
            const DType dtype = take_dtype();
            lexer_.expect("=", "before the value");
            const Token at = lexer_.token();
            const Expr value = of_dtype(term(), dtype);
            if (value.dtype() != dtype)
                Lexer::fail_at(
                    at, text("the value has dtype ", value.dtype(), ". ", dtype, " is required."));
            names_[name] = arity_of(value.op()) == 0 ? value : value.named(name);
            lexer_.accept(";");
        }
        std::vector<Expr> results;
        if (!lexer_.accept("(")) return {typed(term())};
        do results.push_back(typed(term()));
        while (lexer_.accept(","));
        lexer_.expect(")", "after the results");
        return results;
    }

    std::string take_name(std::string_view what) {
        if (lexer_.token().kind != TokenKind::word) lexer_.fail_here(what);
        return std::string(lexer_.take().spelling);
    }

    std::optional<DType> dtype_of(std::string_view word) const {
        if (word == "float") return floating_;
        if (word == "int") return DType::int64;
        return find_dtype(word);
    }

    DType take_dtype() {
        const std::optional<DType> dtype = dtype_of(lexer_.token().spelling);
        if (!dtype) lexer_.fail_here("A dtype (float32, int64, …)");
        lexer_.take();
        return *dtype;
    }

    // ----- constants

    static bool is_constant(const Token& token) {
        return token.kind == TokenKind::number || token.spelling == "inf" ||
               token.spelling == "nan";
    }

    template <class Number>
    static bool reads(std::string_view text, Number& value) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size();
    }

    static Expr constant(const Token& token, DType dtype) {
        const std::string_view text = token.spelling;
        const auto refuse = [&] {
            Lexer::fail_at(token, composit::text("found ", quoted(text), ". A number of dtype ",
                                                 dtype, " is required."));
        };
        if (is_integer(dtype)) {
            if (uint64_t wide = 0; dtype == DType::uint64 && reads(text, wide))
                return Expr::constant_bits(dtype, {wide, 0});
            int64_t value = 0;
            if (!reads(text, value)) refuse();
            const Expr made = Expr::constant_integer(dtype, value);
            const bool fits = dtype == DType::int64 || (dtype != DType::uint64 &&
                                                        made.value() == static_cast<double>(value));
            if (!fits) refuse();
            return made;
        }
        if (!is_floating(dtype)) refuse();
        if (float single = 0; dtype == DType::float32 && reads(text, single))
            return Expr::constant(dtype, single);
        double value = 0;
        if (!reads(text, value)) refuse();
        return Expr::constant(dtype, value);
    }

    Expr of_dtype(const Term& term, DType dtype) const {
        return term.constant ? constant(*term.constant, dtype) : term.value;
    }

    static Expr typed(const Term& term) {
        if (term.constant)
            Lexer::fail_at(*term.constant,
                           text("nothing says the dtype of ", term.constant->spelling, ". float64(",
                                term.constant->spelling, ") is required."));
        return term.value;
    }

    // ----- terms

    Term term() {
        const Token at = lexer_.token();
        if (is_constant(at)) return {{}, lexer_.take()};
        if (at.kind != TokenKind::word) lexer_.fail_here("A term");
        if (++depth_ > deepest)
            Lexer::fail_at(at, text("more than ", deepest,
                                    " terms within one another. `let` is "
                                    "required."));
        lexer_.take();
        Term made{word(at), {}};
        --depth_;
        return made;
    }

    Expr word(const Token& at) {
        const std::string name(at.spelling);
        if (name == "true" || name == "false")
            return Expr::constant(DType::boolean, name == "true" ? 1 : 0);
        if (name == "bitcast" && lexer_.is("<")) return bitcast();
        if (name == "loop" && lexer_.is("(")) return loop();
        if (name == "lookup" && lexer_.is("("))
            Lexer::fail_at(at, "tables are not written whole. A function without is required.");
        if (name == "numpy" && lexer_.accept("."))
            return of_row(lexer_.token(), take_name("A row"));
        if (!lexer_.is("(")) {
            const auto found = names_.find(name);
            if (found == names_.end())
                Lexer::fail_at(at, text("there is no ", name,
                                        " here. A parameter, or a name that "
                                        "let gave, is required."));
            return found->second;
        }
        if (const std::optional<DType> dtype = dtype_of(name)) return of_dtype_named(*dtype);
        for (int i = 0; i < op_count; ++i) {
            const Op op = static_cast<Op>(i);
            if (scalar::name(op) == name && arity_of(op) > 0 && op != Op::cast)
                return of_operation(at, op);
        }
        return of_row(at, name);
    }

    // float32(0.5), complex64(bits(1, 2)), float32(x)
    Expr of_dtype_named(DType dtype) {
        lexer_.expect("(", "after a dtype");
        Expr made;
        if (is_constant(lexer_.token())) {
            made = constant(lexer_.take(), dtype);
        } else if (lexer_.accept("bits")) {
            lexer_.expect("(", "before bits");
            const uint64_t low = take_bits();
            lexer_.expect(",", "between bits");
            made = Expr::constant_bits(dtype, {low, take_bits()});
            lexer_.expect(")", "after bits");
        } else {
            const Token at = lexer_.token();
            made = typed(term());
            if (is_complex(made.dtype()) || is_complex(dtype))
                Lexer::fail_at(at, text("a cast from ", made.dtype(), " to ", dtype,
                                        ". Real dtypes are required."));
            made = Expr::cast(made, dtype);
        }
        lexer_.expect(")", "after what has the dtype");
        return made;
    }

    uint64_t take_bits() {
        uint64_t value = 0;
        if (!reads(lexer_.token().spelling, value)) lexer_.fail_here("A number from 0 to 2^64 - 1");
        lexer_.take();
        return value;
    }

    Expr bitcast() {
        lexer_.expect("<", "before the dtype");
        const Token at = lexer_.token();
        const DType dtype = take_dtype();
        lexer_.expect(">", "after the dtype");
        lexer_.expect("(", "before what is cast");
        const Expr value = typed(term());
        lexer_.expect(")", "after what is cast");
        if (size_of(value.dtype()) != size_of(dtype) || dtype == DType::boolean)
            Lexer::fail_at(at, text("the bits of ", value.dtype(), " are not those of ", dtype,
                                    ". A dtype of the same size is required."));
        return Expr::bitcast(value, dtype);
    }

    std::vector<Expr> operands() {
        std::vector<Term> terms;
        lexer_.expect("(", "before operands");
        while (!lexer_.is(")")) {
            if (!terms.empty()) lexer_.expect(",", "between operands");
            terms.push_back(term());
        }
        lexer_.expect(")", "after operands");
        std::optional<DType> dtype;
        for (const Term& each : terms)
            if (!dtype && !each.constant && each.value.dtype() != DType::boolean)
                dtype = each.value.dtype();
        std::vector<Expr> values;
        for (const Term& each : terms)
            values.push_back(dtype ? of_dtype(each, *dtype) : typed(each));
        return values;
    }

    Expr of_operation(const Token& at, Op op) {
        const std::vector<Expr> given = operands();
        if (static_cast<int>(given.size()) != arity_of(op))
            Lexer::fail_at(at, text(at.spelling, " of ", given.size(), " operands. ", arity_of(op),
                                    " are required."));
        if (const std::string wrong = misfit(op, given); !wrong.empty())
            Lexer::fail_at(at, wrong + ". Operands of one dtype, which it takes, are required.");
        return made_at(at, [&] { return Expr::make(op, given); });
    }

    Expr of_row(const Token& at, const std::string& name) {
        const RowRef row = find_row(name);
        if (!row)
            Lexer::fail_at(at, text("there is no function ", name,
                                    ". One of the table or an operation is required."));
        const std::vector<Expr> given = operands();
        if (static_cast<int>(given.size()) != row->arity)
            Lexer::fail_at(
                at, text(name, " of ", given.size(), " operands. ", row->arity, " are required."));
        return made_at(at, [&] { return Expr::call(row, given); });
    }

    // What operations say of their operands, with the place.
    template <class Make>
    static Expr made_at(const Token& at, const Make& make) {
        try {
            return make();
        } catch (const Error& error) {
            const std::string said = error.what();
            Lexer::fail_at(at, said.ends_with('.') ? said
                                                   : said +
                                                         ". Operands of one dtype, which it "
                                                         "takes, are required.");
        }
    }

    // loop(a = x, b = y; while not_equal(b, 0); (b, remainder(a, b)); at most 93)[0]
    Expr loop() {
        const Token at = lexer_.token();
        lexer_.expect("(", "before a loop's state");
        std::vector<std::string> own;
        std::vector<Expr> initial;
        do {
            own.push_back(take_name("The name of a loop's value"));
            lexer_.expect("=", "before the initial value");
            initial.push_back(typed(term()));
        } while (lexer_.accept(","));
        lexer_.expect(";", "after the state");
        lexer_.expect("while", "before the condition");
        auto outside = std::exchange(names_, {});
        auto made = std::make_shared<Loop>();
        for (size_t i = 0; i < own.size(); ++i) {
            const std::string shown = own[i] == text("s", i) ? std::string() : own[i];
            made->state.push_back(Expr::argument(static_cast<int>(i), initial[i].dtype(), shown));
            names_[own[i]] = made->state.back();
        }
        made->condition = body()[0];
        lexer_.expect(";", "after the condition");
        made->steps = body();
        lexer_.expect(";", "after the steps");
        names_ = std::move(outside);
        lexer_.expect("at", "before the limit");
        lexer_.expect("most", "before the limit");
        made->limit = lexer_.take_integer("The limit of a loop");
        lexer_.expect(")", "after a loop");
        lexer_.expect("[", "before the number of a value");
        const Token place = lexer_.token();
        const int64_t index = lexer_.take_integer("The number of a value");
        lexer_.expect("]", "after the number of a value");
        if (index < 0 || static_cast<size_t>(index) >= own.size())
            Lexer::fail_at(place, text("value ", index, " of a loop of ", own.size(),
                                       ". The number of one is required."));
        return made_at(at, [&] {
            // It checks all of this, and simplifies, which here is left as it is written.
            (void)scalar::loop(
                initial, [&](const auto& state) { return substitute({made->condition}, state)[0]; },
                [&](const auto& state) { return substitute(made->steps, state); }, made->limit);
            return Expr::loop(made, initial, static_cast<int>(index));
        });
    }

    Lexer lexer_;
    DType floating_;
    std::map<std::string, Expr> names_;
    int depth_ = 0;
};

std::string shown(const Expr& expr) {
    return expr.op() == Op::argument ? expr.name() : print(expr);
}

void check_divisor(const Expr& expr) {
    const Expr& divisor = expr.operand(1);
    const bool is_safe = divisor.op() == Op::constant && divisor.bits()[0] != 0 &&
                         (!is_signed_integer(divisor.dtype()) || divisor.value() != -1);
    user_check(is_safe, "parse: ", name(expr.op()), " of integers by ", shown(divisor),
               ", which may be 0. A number other than 0 and -1, or ",
               expr.op() == Op::divide ? "floor_divide" : "numpy.remainder", ", is required.");
}

void check_shift(const Expr& expr) {
    const Expr& count = expr.operand(1);
    const int width = 8 * size_of(expr.dtype());
    const bool is_safe = count.op() == Op::constant && count.value() >= 0 && count.value() < width;
    user_check(is_safe, "parse: ", name(expr.op()), " of ", expr.dtype(), " by ", shown(count),
               ". A number from 0 to ", width - 1, ", or ",
               expr.op() == Op::shift_left ? "left_shift" : "right_shift", ", is required.");
}

// How many iterations the loops take together, at most; the largest number where it is more.
int64_t iterations_of(const std::vector<Expr>& results) {
    constexpr int64_t largest = std::numeric_limits<int64_t>::max();
    int64_t sum = 0;
    std::set<LoopRun> seen;
    for (const Expr& expr : topological_order(results)) {
        if (expr.op() != Op::loop || !seen.insert(run_of(expr)).second) continue;
        std::vector<Expr> inner = expr.loop()->steps;
        inner.push_back(expr.loop()->condition);
        const int64_t each = iterations_of(inner), limit = expr.loop()->limit;
        const int64_t rest = largest - sum;
        if (each == largest || limit > rest / (each + 1)) return largest;
        sum += limit * (each + 1);
    }
    return sum;
}

}  // namespace

Function parse(std::string_view text, DType floating) {
    const DefaultFloatingPoint floating_point;
    return Parser(text, floating).run();
}

void check_defined(const Function& function, int64_t most_iterations) {
    for (const Expr& expr : all_expressions(function.results)) {
        if (!is_integer(expr.dtype())) continue;
        if (expr.op() == Op::divide || expr.op() == Op::remainder) check_divisor(expr);
        if (expr.op() == Op::shift_left || expr.op() == Op::shift_right) check_shift(expr);
    }
    const int64_t iterations = iterations_of(function.results);
    user_check(iterations <= most_iterations, "parse: loops of up to ", iterations,
               " iterations. At most ", most_iterations, " are required, or another limit.");
}

}  // namespace composit::ir::scalar
