"""Prints composit/ir/scalar/library_coefficients.h, which `make fmt` then lays out.

Each entry is a weighted minimax polynomial, or a quotient of two; its weight makes the error
relative to the function that it serves. Needs mpmath (faster with gmpy2); takes about two minutes.
"""

import mpmath as mp
from mpmath import mpf
from rational import fit_rational
from remez import hexadecimal, minimax, round_to

mp.mp.prec = 260
TINY = mpf("1e-9")  # polynomials in z = x * x start here: their functions divide by z
SINGLE, DOUBLE = 24, 53


def root(z):
    return mp.sqrt(z)


def scaled_erfc(x):
    return mp.erfc(x) * mp.exp(x * x)


def tail(kind, shift, offset):
    """The function of w = 2 x / (x + shift) - offset that tends to a constant for large x."""

    def value(w):
        v = (w + offset) / 2
        x = shift * v / (1 - v)
        if kind == "erfc":
            return (x + shift) * scaled_erfc(x)
        return (x + shift) * scaled_erfc(x / root(2)) / 2

    return value


def tail_entry(kind, shift, offset, highest, count, bits):
    function = tail(kind, shift, offset)
    end = 2 * mpf(highest) / (mpf(highest) + shift) - offset
    return function, reciprocal(function), -mpf(offset), end, count, bits


# The exponential of gelu counts in steps of ln(2) as float32 has it: its functions make up for it.
UNROUNDED = mp.log(2) / round_to(mp.log(2), SINGLE)


def gelu_entry(times, center, lowest, highest):
    """4 times(a) exp(t / 2) Phi(-a) - 1, t = a^2 UNROUNDED, in (a - center) / (a + 2.25)."""
    shift, center = mpf("2.25"), mpf(center)

    def value(u):
        a = (center + shift * u) / (1 - u)
        return 2 * times(a) * mp.erfc(a / root(2)) * mp.exp(a * a * UNROUNDED / 2) - 1

    low, high = [(mpf(a) - center) / (mpf(a) + shift) for a in (lowest, highest)]
    return value, lambda u: 1 / (1 + value(u)), low, high, 8, SINGLE


def gelu_root_part(a):
    """((2 Phi(-a))^(-1/4) - 1) / a."""
    return (mp.erfc(a / root(2)) ** mpf("-0.25") - 1) / a


def gelu_root_weight(a):
    """What an error of it does to a Phi(-a), beside the smaller of a and 1."""
    tail = mp.erfc(a / root(2))
    return 2 * a * tail ** mpf("1.25") * max(a, mpf(1))


def gelu_exponential_part(r):
    return mp.expm1(-r * UNROUNDED / 2) / r if r else -UNROUNDED / 2


def exponential_part(r):
    return (mp.expm1(r) - r) / r**2 if r else mpf(0.5)


def exp2_part(r):
    return (2**r - 1) / r if r else mp.log(2)


def logarithm_part(f):
    return (mp.log1p(f) - f + f * f / 2) / f**3


def reciprocal(function):
    return lambda x: abs(1 / function(x))


def entries():
    """(name, comment, function, weight, low, high, count, bits) of each polynomial."""
    half_ln2 = mp.log(2) / 2 * mpf("1.0001")
    low_log, high_log = root(mpf(0.5)) - 1, root(mpf(2)) - 1
    quarter = (mp.pi / 4 * mpf("1.0001")) ** 2
    erf_high = mpf("0.81")
    # A table: one entry, a few full lines.
    # fmt: off
    yield ("exp_float32", "(exp(r) - 1 - r) / r^2, |r| <= ln(2) / 2", exponential_part,
           lambda r: r * r / mp.exp(r), -half_ln2, half_ln2, 5, SINGLE)
    yield ("exp_float64", "the same", exponential_part,
           lambda r: r * r / mp.exp(r), -half_ln2, half_ln2, 10, DOUBLE)
    yield ("expm1_float32", "the same, relative to exp(r) - 1", exponential_part,
           lambda r: abs(r * r / mp.expm1(r)), -half_ln2, half_ln2, 6, SINGLE)
    yield ("expm1_float64", "the same", exponential_part,
           lambda r: abs(r * r / mp.expm1(r)), -half_ln2, half_ln2, 11, DOUBLE)
    yield ("tanh_float32", "(tanh(x) / x - 1) / z in z = x^2, |x| <= 0.625",
           lambda z: (mp.tanh(root(z)) / root(z) - 1) / z,
           lambda z: z * root(z) / mp.tanh(root(z)), TINY, mpf("0.625") ** 2, 5, SINGLE)
    yield ("log_float32", "(log(1 + f) - f + f^2 / 2) / f^3, sqrt(1/2) <= 1 + f <= sqrt(2)",
           logarithm_part, lambda f: abs(f**3 / mp.log1p(f)), low_log, high_log, 8, SINGLE)
    yield ("log_float64", "(log((1 + s) / (1 - s)) / s - 2) / z, z = s^2 <= (3 - sqrt(8))^2",
           lambda z: (2 * mp.atanh(root(z)) / root(z) - 2) / z, lambda z: z / 2,
           TINY, mpf("0.02945"), 7, DOUBLE)
    yield ("log_pair", "(atanh(s) - s - s^3 / 3) / s^5 in z = s^2, the same range",
           lambda z: (mp.atanh(root(z)) / root(z) - 1 - z / 3) / z**2, lambda z: z * z,
           mpf("1e-7"), mpf("0.02945"), 8, DOUBLE)
    yield ("sin_float32", "(sin(r) / r - 1) / z, z = r^2, |r| <= pi / 4",
           lambda z: (mp.sin(root(z)) / root(z) - 1) / z,
           lambda z: z * root(z) / mp.sin(root(z)), TINY, quarter, 3, SINGLE)
    yield ("sin_float64", "the same", lambda z: (mp.sin(root(z)) / root(z) - 1) / z,
           lambda z: z * root(z) / mp.sin(root(z)), TINY, quarter, 6, DOUBLE)
    yield ("cos_float32", "(cos(r) - 1 + z / 2) / z^2",
           lambda z: (mp.cos(root(z)) - 1 + z / 2) / z**2,
           lambda z: z * z / mp.cos(root(z)), TINY, quarter, 3, SINGLE)
    yield ("cos_float64", "the same", lambda z: (mp.cos(root(z)) - 1 + z / 2) / z**2,
           lambda z: z * z / mp.cos(root(z)), TINY, quarter, 6, DOUBLE)
    yield ("arctan_float64", "(arctan(t) / t - 1) / z, z = t^2, |t| <= sqrt(2) - 1",
           lambda z: (mp.atan(root(z)) / root(z) - 1) / z, lambda z: z,
           TINY, mpf("0.1717"), 11, DOUBLE)
    yield ("arcsin_float64", "(arcsin(x) / x - 1) / z, z = x^2, |x| <= 1/2",
           lambda z: (mp.asin(root(z)) / root(z) - 1) / z, lambda z: z,
           TINY, mpf("0.2501"), 13, DOUBLE)
    yield ("cbrt_float64", "cbrt(1 + f), sqrt(1/2) <= 1 + f <= sqrt(2): only a first approximation",
           lambda f: mp.cbrt(1 + f), lambda f: 1 / mp.cbrt(1 + f), low_log, high_log, 7, DOUBLE)
    yield ("lgamma_near_2", "lgamma(2 + e) / e, |e| <= 1/2", lambda e: mp.loggamma(2 + e).real / e,
           lambda e: abs(e / mp.loggamma(2 + e).real), mpf("-0.5"), mpf("0.5"), 19, DOUBLE)
    yield ("stirling", "a (lgamma(a) - (a - 1/2) log(a) + a - log(2 pi) / 2) in 1 / a^2, a >= 8",
           lambda z: (mp.loggamma(1 / root(z)) - (1 / root(z) - 0.5) * mp.log(1 / root(z))
                      + 1 / root(z) - mp.log(2 * mp.pi) / 2) / root(z),
           lambda z: mpf(1), mpf("1e-7"), mpf(1) / 64, 7, DOUBLE)
    yield ("erf_float32", "erf(x) / x - 1 in z = x^2, |x| <= 0.9",
           lambda z: mp.erf(root(z)) / root(z) - 1, lambda z: root(z) / mp.erf(root(z)),
           TINY, erf_high, 6, SINGLE)
    yield ("erf_tail_float32", "log2(1 - erf(x)), 0.9 <= x <= 3.95, relative to erf",
           lambda x: mp.log(mp.erfc(x), 2), lambda x: mp.log(2) * mp.erfc(x) / mp.erf(x),
           mpf("0.9"), mpf("3.95"), 7, SINGLE)
    yield ("exp2_float32", "(2^r - 1) / r, |r| <= 1/2", exp2_part, lambda r: abs(r) / 2**r,
           mpf("-0.50001"), mpf("0.50001"), 6, SINGLE)
    yield ("erf_float64", "erf(x) / x - 1 in z = x^2, |x| <= 0.9",
           lambda z: mp.erf(root(z)) / root(z) - 1, lambda z: root(z) / mp.erf(root(z)),
           TINY, erf_high, 12, DOUBLE)
    yield ("gelu_root_float32", "((2 Phi(-a))^(-1/4) - 1) / a, Phi normal, a <= 6, so that a "
           "Phi(-a) is close beside min(a, 1)", gelu_root_part, gelu_root_weight, TINY, mpf(6), 12,
           SINGLE)
    yield ("gelu_near_float32", "4 m(a) - 1, m(a) = exp(t / 2) Phi(-a), Phi normal, t = a^2 ln(2) "
           "/ float32(ln(2)), in (a - 0.5) / (a + 2.25), a <= 1.375, relative to 4 m(a)",
           *gelu_entry(lambda a: mpf(1), "0.5", "0", "1.375"))
    yield ("gelu_far_float32", "4 a m(a) - 1 in (a - 2) / (a + 2.25), 1.375 <= a <= 14.6, "
           "relative to 4 a m(a)", *gelu_entry(lambda a: a, "2", "1.375", "14.6"))
    yield ("gelu_exp_float32", "(exp(-t / 2) - 1) / r, t = r ln(2) / float32(ln(2)), "
           "|r| <= ln(2), relative to exp(-t / 2)", gelu_exponential_part,
           lambda r: abs(r) / mp.exp(-r * UNROUNDED / 2), -2 * half_ln2, 2 * half_ln2, 6, SINGLE)
    yield ("normal_tail_float64",
           "(x + 5.5) exp(x^2 / 2) Phi(-x) in w = 2 x / (x + 5.5) - 0.875, x <= 39",
           *tail_entry("normal", 5.5, 0.875, "39", 23, DOUBLE))
    yield ("erfc_float64", "(x + 4) exp(x^2) erfc(x) in w = 2 x / (x + 4) - 1, x <= 27.7",
           *tail_entry("erfc", 4, 1, "27.7", 23, DOUBLE))
    # fmt: on


def quantile_over_difference(t):
    """z / q for the probability q + 1/2 of the normal distribution below z, t = q^2."""
    q = root(t)
    return root(mpf(2)) * mp.erfinv(2 * q) / q


def quantile_near_half(r):
    """The same but for its value at t = 0, over t = 0.425^2 - r."""
    t = mpf("0.180625") - r
    return (quantile_over_difference(t) - root(2 * mp.pi)) / t


def weight_near_half(r):
    t = mpf("0.180625") - r
    return t / quantile_over_difference(t)


def quantile_in_tail(s):
    """z for the probability exp(-s^2) above z, by Newton's method on the logarithm."""
    z = root(mpf(2)) * s
    for _ in range(100):
        tail = mp.erfc(z / root(mpf(2))) / 2
        density = mp.exp(-z * z / 2) / root(2 * mp.pi)
        step = (mp.log(tail) + s * s) * tail / density
        z += step
        if abs(step) < mpf(2) ** -240 * abs(z):
            return z
    raise ArithmeticError(f"Newton's method does not end at {s}")


def quotients():
    """(name, comment, function, weight, low, high) of each quotient."""
    # fmt: off
    yield ("normal_quantile_near", "(z / q - sqrt(2 pi)) / q^2 where q + 1/2 of a normal "
           "distribution lies below z, in r = 0.425^2 - q^2, relative to z", quantile_near_half,
           weight_near_half, mpf(0), mpf("0.180625") - TINY)
    yield ("normal_quantile_tail", "sqrt(2) s - z where exp(-s^2) of a normal distribution lies "
           "above z, in s - 1.6, s <= 5, relative to z", *tail_quotient("1.6", "3.4"))
    yield ("normal_quantile_far", "the same in s - 5, s <= 27.4", *tail_quotient("5", "22.4"))
    # fmt: on


def tail_quotient(start, length):
    slope = round_to(root(mpf(2)), DOUBLE)  # as the library has it

    def function(t):
        return slope * (t + mpf(start)) - quantile_in_tail(t + mpf(start))

    def weight(t):
        return 1 / quantile_in_tail(t + mpf(start))

    return function, weight, mpf(0), mpf(length)


def print_array(name, values):
    print(f"inline constexpr double {name}[] = {{")
    texts = [hexadecimal(v) for v in values]
    for start in range(0, len(texts), 3):
        print("    " + ", ".join(texts[start : start + 3]) + ",")
    print("};\n")


def main():
    print(
        "// Coefficients of the library's polynomials, lowest power first.\n"
        "//\n"
        "// Computed by tools/coefficients/compute.py, which states each approximation;\n"
        "// not to be edited by hand. `error` is that of the polynomial alone, relative to its\n"
        "// function.\n"
        "#pragma once\n\n"
        "namespace composit::ir::scalar::coefficients {\n"
    )
    for name, comment, function, weight, low, high, count, bits in entries():
        values, error = minimax(function, weight, low, high, count, bits)
        print(f"// {comment}; error 2^{mp.nstr(mp.log(error, 2), 4)}")
        print_array(name, values)
    for name, comment, function, weight, low, high in quotients():
        parts, error = fit_rational(function, weight, low, high, (8, 7))
        print(f"// {comment}; error 2^{mp.nstr(mp.log(error, 2), 4)}")
        for part, values in zip(("above", "below"), parts):
            print_array(f"{name}_{part}", [round_to(v, DOUBLE) for v in values])
    print("}  // namespace composit::ir::scalar::coefficients")


if __name__ == "__main__":
    main()
