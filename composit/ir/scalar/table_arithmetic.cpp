// The table's arithmetic: sums, products, quotients, and what is exactly rounded besides.
#include "composit/ir/scalar/convert.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/library_parts.h"
#include "composit/ir/scalar/table.h"

#include <limits>

namespace composit::ir::scalar {
namespace {

// Divisors that C's division takes: 0, and -1 where the quotient may overflow, are replaced by 1.
Expr safe_divisor(const Expr& b) {
    const Expr is_zero = equal(b, 0);
    return select(is_signed_integer(b.dtype()) ? is_zero | equal(b, -1) : is_zero, 1.0, b);
}

// Whether an integer is zero, found by a division that raises the processor's flag if it is; so
// does a sum if `overflows`, which may be empty.
Expr is_zero_and_signals(const Expr& b, const Expr& overflows = {}) {
    const Expr one = Expr::constant(DType::float32, 1);
    const Expr inverse = one / Expr::cast(b, DType::float32);
    if (!overflows) return absolute(inverse) > 2.0;
    return absolute(inverse + select(overflows, parts::signaling_nan(one), 0.0)) > 2.0;
}

// Of the least integer and -1: the one quotient that does not fit.
Expr overflows_when_divided(const Expr& a, const Expr& b) {
    if (!is_signed_integer(a.dtype())) return {};
    const auto least = static_cast<int64_t>(UINT64_MAX << (8 * size_of(a.dtype()) - 1));
    return equal(a, Expr::constant_integer(a.dtype(), least)) & equal(b, -1);
}

Expr truncated_quotient(const Expr& a, const Expr& b) {
    const Expr is_zero = is_zero_and_signals(b, overflows_when_divided(a, b));
    const Expr quotient = select(is_zero, 0.0, a / safe_divisor(b));
    return is_signed_integer(b.dtype()) ? select(equal(b, -1), -a, quotient) : quotient;
}

Expr truncated_remainder(const Expr& a, const Expr& b) {
    if (is_float(a)) return Expr::make(Op::remainder, {a, b});
    return select(is_zero_and_signals(b), 0.0, Expr::make(Op::remainder, {a, safe_divisor(b)}));
}

Expr has_other_sign(const Expr& remainder, const Expr& b) {
    return not_equal(remainder, 0) & not_equal(remainder < 0, b < 0);
}

// Python's %: the sign of the divisor, even on zeros.
Expr floor_remainder(const Expr& a, const Expr& b) {
    const Expr remainder = truncated_remainder(a, b);
    if (is_unsigned_integer(a.dtype())) return remainder;
    if (!is_float(a)) return select(has_other_sign(remainder, b), remainder + b, remainder);
    const Expr adjusted = select(has_other_sign(remainder, b), remainder + b, remainder);
    // By zero fmod gives NaN, which must stay; comparing with NaN does that.
    return select(equal(remainder, 0), copysign(zero_like(b), b), adjusted);
}

Expr float_floor_quotient(const Expr& a, const Expr& b) {
    const Expr remainder = Expr::make(Op::remainder, {a, b});
    const Expr exact = (a - remainder) / b;  // an integer but for rounding
    const Expr lowered = select(has_other_sign(remainder, b), exact - 1.0, exact);
    const Expr below = floor(lowered);
    const Expr nearest = select(lowered - below > 0.5, below + 1.0, below);
    const Expr quotient = a / b;
    return select(equal(b, 0), quotient,
                  select(equal(lowered, 0), copysign(zero_like(a), quotient), nearest));
}

Expr floor_quotient(const Expr& a, const Expr& b) {
    if (is_float(a)) return float_floor_quotient(a, b);
    const Expr quotient = truncated_quotient(a, b);
    if (is_unsigned_integer(a.dtype())) return quotient;
    const Expr remainder = truncated_remainder(a, b);
    return select(has_other_sign(remainder, b), quotient - 1, quotient);
}

// 1 / 0 is what the conversion of infinity to the integer dtype gives.
Expr reciprocal_value(const Expr& x) {
    if (!is_integer(x.dtype())) return 1.0 / x;
    const Expr infinity = Expr::constant(DType::float64, std::numeric_limits<double>::infinity());
    const Bits at_zero = evaluate({convert(infinity, x.dtype())}, {})[0];
    const bool is_signed = is_signed_integer(x.dtype());
    const Expr is_unit = equal(is_signed ? absolute(x) : x, 1);
    return select(is_zero_and_signals(x), Expr::constant_bits(x.dtype(), at_zero),
                  select(is_unit, x, 0.0));
}

Expr sign_value(const Expr& x) {
    if (is_unsigned_integer(x.dtype())) return select(equal(x, 0), 0.0, one_like(x));
    const Expr not_positive = select(x < 0, Expr::constant(x.dtype(), -1), zero_like(x));
    const Expr sign = select(x > 0, 1.0, not_positive);
    return is_float(x) ? select(equal(x, x), sign, x) : sign;  // NaN stays
}

Expr magnitude(const Expr& x) { return is_bool(x) ? x : absolute(x); }

// NumPy divides in the dtype itself, which rounds pi first.
double degree_factor(DType dtype, bool to_degrees) {
    const double pi = 3.14159265358979323846;
    if (dtype == DType::float64) return to_degrees ? 180.0 / pi : pi / 180.0;
    const float pi32 = static_cast<float>(pi);
    return to_degrees ? 180.0f / pi32 : pi32 / 180.0f;
}

Expr to_degrees(const Expr& x) { return x * degree_factor(x.dtype(), true); }
Expr to_radians(const Expr& x) { return x * degree_factor(x.dtype(), false); }

// x * 2^n rounded once. float32 is scaled in double, which holds every product; float64 in three
// steps, of which all but the last are exact, or certain to underflow (2^-969 = 2^-1022 * 2^53
// leaves the subnormals to the last one).
Expr load_exponent(const Expr& x, const Expr& exponent) {
    const auto power_of_two = [](const Expr& n) {
        return Expr::bitcast((Expr::cast(n, DType::int64) + 1023) << 52, DType::float64);
    };
    const auto clamp = [](const Expr& n, int limit_low, int limit_high) {
        return select(n < limit_low, limit_low, select(n > limit_high, limit_high, n));
    };
    if (x.dtype() != DType::float64) {
        const Expr scaled =
            Expr::cast(x, DType::float64) * power_of_two(clamp(exponent, -400, 400));
        return Expr::cast(scaled, x.dtype());
    }
    Expr result = x;
    Expr n = clamp(exponent, -3000, 3000);
    for (int step = 0; step < 2; ++step) {
        const Expr is_large = n > 1023;
        const Expr is_small = n < -1022;
        result = result * select(is_large, 0x1p1023, select(is_small, 0x1p-969, one_like(x)));
        n = select(is_large, n - 1023, select(is_small, n + 969, n));
    }
    return result * power_of_two(clamp(n, -1022, 1023));
}

}  // namespace

std::vector<Row> arithmetic_rows() {
    using namespace types;
    return {
        {"absolute",
         {"abs"},
         1,
         types::magnitude,
         {{0.5, 3}},
         "|x|; the least integer is its own absolute value",
         [](X x) { return scalar::magnitude(x[0]); },
         [](X x, Y) { return Exprs{call("sign", {x[0]})}; }},
        {"add",
         {},
         2,
         any,
         {},
         "x1 + x2; on bool: or",
         [](X x) { return is_bool(x[0]) ? x[0] | x[1] : x[0] + x[1]; },
         [](X x, Y) { return Exprs{one_like(x[0]), one_like(x[1])}; }},
        {"deg2rad",
         {"radians"},
         1,
         floating,
         {},
         "x pi / 180",
         [](X x) { return to_radians(x[0]); },
         [](X x, Y) { return Exprs{to_radians(one_like(x[0]))}; }},
        {"divide",
         {"true_divide"},
         2,
         true_division,
         {{-3, 3}, {0.5, 3}},
         "x1 / x2, of integers in float64",
         [](X x) { return x[0] / x[1]; },
         [](X x, Y y) { return Exprs{1.0 / x[1], -y / x[1]}; }},
        {"divmod_quotient",
         {},
         2,
         real_arithmetic,
         {{-3, 3}, {0.5, 3}},
         "the first result of divmod: floor_divide",
         [](X x) { return floor_quotient(x[0], x[1]); },
         {},
         true},
        {"divmod_remainder",
         {},
         2,
         real_arithmetic,
         {{2.1, 2.9}, {0.8, 0.9}},
         "the second result of divmod: remainder",
         [](X x) { return floor_remainder(x[0], x[1]); },
         [](X x, Y) { return Exprs{one_like(x[0]), -call("floor_divide", {x[0], x[1]})}; }},
        {"fabs",
         {},
         1,
         floating,
         {{0.5, 3}},
         "|x| of floats",
         [](X x) { return absolute(x[0]); },
         [](X x, Y) { return Exprs{call("sign", {x[0]})}; }},
        {"floor_divide",
         {},
         2,
         real_arithmetic,
         {{-3, 3}, {0.5, 3}},
         "the largest integer <= x1 / x2; integers by 0 give 0",
         [](X x) { return floor_quotient(x[0], x[1]); },
         {},
         true},
        {"fmod",
         {},
         2,
         real_arithmetic,
         {{2.1, 2.9}, {0.8, 0.9}},
         "the remainder of x1 / x2 with the sign of x1; integers by 0 give 0",
         [](X x) { return truncated_remainder(x[0], x[1]); },
         [](X x, Y) { return Exprs{one_like(x[0]), -trunc(x[0] / x[1])}; }},
        {"heaviside",
         {},
         2,
         floating,
         {{0.5, 3}},
         "0 where x1 < 0, x2 where x1 == 0, 1 where x1 > 0",
         [](X x) {
             const Expr not_negative = select(x[0] > 0, 1.0, select(equal(x[0], 0), x[1], x[0]));
             return select(x[0] < 0, 0.0, not_negative);
         },
         [](X x, Y) { return Exprs{Expr(), select(equal(x[0], 0), 1.0, zero_like(x[1]))}; }},
        {"ldexp",
         {},
         2,
         types::load_exponent,
         {},
         "x1 2^x2, rounded once",
         [](X x) { return scalar::load_exponent(x[0], x[1]); },
         [](X x, Y) { return Exprs{call("ldexp", {one_like(x[0]), x[1]}), Expr()}; },
         false,
         [](X x, Y, Y g, int i) { return i == 0 ? call("ldexp", {g, x[1]}) : Expr(); }},
        {"multiply",
         {},
         2,
         any,
         {},
         "x1 * x2; on bool: and",
         [](X x) { return is_bool(x[0]) ? x[0] & x[1] : x[0] * x[1]; },
         [](X x, Y) { return Exprs{x[1], x[0]}; }},
        {"negative",
         {},
         1,
         numeric,
         {},
         "-x",
         [](X x) { return -x[0]; },
         [](X x, Y) { return Exprs{-one_like(x[0])}; }},
        {"positive",
         {},
         1,
         numeric,
         {},
         "x itself",
         [](X x) { return x[0]; },
         [](X x, Y) { return Exprs{one_like(x[0])}; }},
        {"rad2deg",
         {"degrees"},
         1,
         floating,
         {},
         "x 180 / pi",
         [](X x) { return to_degrees(x[0]); },
         [](X x, Y) { return Exprs{to_degrees(one_like(x[0]))}; }},
        {"reciprocal",
         {},
         1,
         arithmetic,
         {{0.5, 3}},
         "1 / x; of integers truncated",
         [](X x) { return reciprocal_value(x[0]); },
         [](X, Y y) { return Exprs{-y * y}; }},
        {"remainder",
         {"mod"},
         2,
         real_arithmetic,
         {{2.1, 2.9}, {0.8, 0.9}},
         "x1 - floor(x1 / x2) x2, with the sign of x2; integers by 0 give 0",
         [](X x) { return floor_remainder(x[0], x[1]); },
         [](X x, Y) { return Exprs{one_like(x[0]), -call("floor_divide", {x[0], x[1]})}; }},
        {"sign",
         {},
         1,
         numeric,
         {{0.5, 3}},
         "-1, 0 or 1; +0 for both zeros; NaN for NaN",
         [](X x) { return sign_value(x[0]); },
         {},
         true},
        {"sqrt",
         {},
         1,
         inexact,
         {{0.5, 3}},
         "the square root, correctly rounded",
         [](X x) { return square_root(x[0]); },
         [](X, Y y) { return Exprs{0.5 / y}; }},
        {"square",
         {},
         1,
         arithmetic,
         {},
         "x * x",
         [](X x) { return x[0] * x[0]; },
         [](X x, Y) { return Exprs{2.0 * x[0]}; }},
        {"subtract",
         {},
         2,
         numeric,
         {},
         "x1 - x2",
         [](X x) { return x[0] - x[1]; },
         [](X x, Y) { return Exprs{one_like(x[0]), -one_like(x[1])}; }},
    };
}

}  // namespace composit::ir::scalar
