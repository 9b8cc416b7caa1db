// What rows mean for complex operands, where their definition's operations do not say it; and the
// rows about parts.
#include "composit/ir/scalar/complex_functions.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/table.h"

#include <limits>

namespace composit::ir::scalar {
namespace {

using complex::Z;
using Zs = const std::vector<Z>&;

Expr infinity_like(const Expr& x) {
    return Expr::constant(x.dtype(), std::numeric_limits<double>::infinity());
}
Expr nan_like(const Expr& x) {
    return Expr::constant(x.dtype(), std::numeric_limits<double>::quiet_NaN());
}
Expr is_infinite(const Expr& x) { return equal(absolute(x), infinity_like(x)); }
Expr is_finite(const Expr& x) { return absolute(x) < infinity_like(x); }

Z magnitude(Zs x) { return {call("hypot", {x[0].re, x[0].im}), {}}; }

// x / |x|; 1, -1, i or -i where one part alone is infinite.
Z direction(Zs x) {
    const Expr &re = x[0].re, &im = x[0].im;
    const Expr size = call("hypot", {re, im});
    const Expr no_number = not_equal(size, size) | (is_infinite(re) & is_infinite(im));
    const auto part = [&](const Expr& own) {
        const Expr at_infinity = select(is_infinite(own), copysign(one_like(own), own), 0.0);
        const Expr quotient = select(equal(size, 0), 0.0, own / size);
        return select(no_number, nan_like(own), select(is_infinite(size), at_infinity, quotient));
    };
    return {part(re), part(im)};
}

// By the larger part, as divide.
Z reciprocal(Zs x) {
    const Expr &re = x[0].re, &im = x[0].im;
    const Expr by_re = absolute(im) <= absolute(re);
    const Expr large = select(by_re, re, im), small = select(by_re, im, re);
    const Expr ratio = small / large;
    const Expr divisor = large + small * ratio;
    return {select(by_re, one_like(re), ratio) / divisor,
            select(by_re, -ratio, Expr::constant(re.dtype(), -1)) / divisor};
}

Z larger(const Z& a, const Z& b) {
    return complex::select(complex::is_nan(a) | complex::compare(Op::greater_equal, a, b), a, b);
}
Z smaller(const Z& a, const Z& b) {
    return complex::select(complex::is_nan(a) | complex::compare(Op::less_equal, a, b), a, b);
}
Z larger_number(Zs x) {
    return complex::select(complex::is_nan(x[1]) | complex::compare(Op::greater_equal, x[0], x[1]),
                           x[0], x[1]);
}
Z smaller_number(Zs x) {
    return complex::select(complex::is_nan(x[1]) | complex::compare(Op::less_equal, x[0], x[1]),
                           x[0], x[1]);
}

Expr imaginary_unit(DType dtype) {
    const uint64_t one = bits_of(real_part_of(dtype), 1)[0];
    return Expr::constant_bits(dtype,
                               dtype == DType::complex64 ? Bits{one << 32, 0} : Bits{0, one});
}

// ----- gradients of what is not holomorphic, by PyTorch's convention
Expr conj(const Expr& x) { return call("conjugate", {x}); }
Expr complex_of(const Expr& re, const Expr& im) { return call("as_complex", {re, im}); }

Expr pull_back_absolute(X x, Y, Y g, int) {
    return call("sign", {x[0]}) * Expr::cast(g, x[0].dtype());
}

// What turns, not what lengthens: (g - y Re(conj(y) g)) / |x|; 0 at 0.
Expr pull_back_sign(X x, Y y, Y g, int) {
    const Expr along = Expr::cast(call("real", {conj(y) * g}), g.dtype());
    const Expr size = Expr::cast(call("absolute", {x[0]}), g.dtype());
    return select(equal(x[0], 0), 0.0, (g - y * along) / size);
}

// Of the parts' rows: the operand is complex, or it is real and receives a real gradient.
Expr pull_back_real(X x, Y, Y g, int) { return Expr::cast(g, x[0].dtype()); }
Expr pull_back_imag(X, Y, Y g, int) { return complex_of(zero_like(g), g); }
Expr pull_back_conjugate(X, Y, Y g, int) { return conj(g); }
Expr pull_back_as_complex(X, Y, Y g, int i) { return call(i == 0 ? "real" : "imag", {g}); }

ComplexRules from_value(std::function<Z(Zs)> value) { return {std::move(value), {}}; }

// A function of float64 parts; float32 ones are computed there, too, and rounded once.
Z in_double(const Z& z) {
    return {Expr::cast(z.re, DType::float64), Expr::cast(z.im, DType::float64)};
}
Z rounded(const Z& z, DType dtype) { return {Expr::cast(z.re, dtype), Expr::cast(z.im, dtype)}; }

ComplexRules function(Z (*f)(const Z&)) {
    return from_value([f](Zs x) { return rounded(f(in_double(x[0])), x[0].re.dtype()); });
}
Z power_of(Zs x) { return complex::power(x[0], x[1]); }

struct NamedRules {
    std::string_view row;
    ComplexRules rules;
};

const std::vector<NamedRules>& all_rules() {
    static const auto& rules = *new std::vector<NamedRules>{
        {"absolute", {magnitude, pull_back_absolute}},
        {"sign", {direction, pull_back_sign}},
        {"reciprocal", from_value(reciprocal)},
        {"maximum", from_value([](Zs x) { return larger(x[0], x[1]); })},
        {"minimum", from_value([](Zs x) { return smaller(x[0], x[1]); })},
        {"fmax", from_value(larger_number)},
        {"fmin", from_value(smaller_number)},
        {"clip", from_value([](Zs x) { return smaller(larger(x[0], x[1]), x[2]); })},
        {"isfinite",
         from_value([](Zs x) { return Z{is_finite(x[0].re) & is_finite(x[0].im), {}}; })},
        {"isinf",
         from_value([](Zs x) { return Z{is_infinite(x[0].re) | is_infinite(x[0].im), {}}; })},
        {"isnan", from_value([](Zs x) { return Z{complex::is_nan(x[0]), {}}; })},
        {"exp", function(complex::exp)},
        {"exp2", function(complex::exp2)},
        {"expm1", function(complex::expm1)},
        {"log", function(complex::log)},
        {"log2", function(complex::log2)},
        {"log10", function(complex::log10)},
        {"log1p", function(complex::log1p)},
        {"sqrt", function(complex::sqrt)},
        {"power", from_value(power_of)},
        {"float_power", from_value(power_of)},
        {"sinh", function(complex::sinh)},
        {"cosh", function(complex::cosh)},
        {"tanh", function(complex::tanh)},
        {"sin", function(complex::sin)},
        {"cos", function(complex::cos)},
        {"tan", function(complex::tan)},
        {"arcsinh", function(complex::arcsinh)},
        {"arccosh", function(complex::arccosh)},
        {"arctanh", function(complex::arctanh)},
        {"arcsin", function(complex::arcsin)},
        {"arccos", function(complex::arccos)},
        {"arctan", function(complex::arctan)},
        {"rint", from_value([](Zs x) { return Z{rint(x[0].re), rint(x[0].im)}; })},
    };
    return rules;
}

}  // namespace

void add_complex_rules(std::vector<Row>& rows) {
    for (const NamedRules& entry : all_rules())
        for (Row& row : rows)
            if (row.name == entry.row) row.complex = entry.rules;
}

std::vector<Row> complex_rows() {
    using namespace types;
    return {
        {"as_complex",
         {},
         2,
         of_parts,
         {},
         "the complex number with real part x1 and imaginary part x2",
         // Never asked for: its rules are for parts alone.
         [](X x) { return Expr::cast(x[0], promote(x[0].dtype(), DType::complex64)); },
         [](X, Y y) { return Exprs{one_like(y), imaginary_unit(y.dtype())}; },
         false,
         {},
         {[](Zs x) { return Z{x[0].re, x[1].re}; }, pull_back_as_complex}},
        {"conjugate",
         {"conj"},
         1,
         arithmetic,
         {},
         "the complex conjugate; real numbers as they are",
         [](X x) { return x[0]; },
         [](X x, Y) { return Exprs{one_like(x[0])}; },
         false,
         {},
         {[](Zs x) { return Z{x[0].re, -x[0].im}; }, pull_back_conjugate}},
        {"imag",
         {},
         1,
         types::magnitude,
         {},
         "the imaginary part; 0 of real numbers",
         [](X x) { return zero_like(x[0]); },
         [](X, Y) { return Exprs{Expr()}; },
         false,
         {},
         {[](Zs x) { return Z{x[0].im, {}}; }, pull_back_imag}},
        {"real",
         {},
         1,
         types::magnitude,
         {},
         "the real part; real numbers as they are",
         [](X x) { return x[0]; },
         [](X x, Y) { return Exprs{one_like(x[0])}; },
         false,
         {},
         {[](Zs x) { return Z{x[0].re, {}}; }, pull_back_real}},
    };
}

}  // namespace composit::ir::scalar
