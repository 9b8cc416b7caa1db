"""Prints composit/ir/scalar/library_gamma_zeros.h, which `make fmt` then lays out.

The zeros of lgamma below -2 and polynomials around them, one row per half of a unit interval.

1 / gamma has no poles. Around the one zero z of lgamma that a half interval holds,
|1 / gamma(z + s)| = 1 + s H(s) with a smooth H: its polynomial gives lgamma = -log1p(s H(s)) as
closely as s is known.
"""

import mpmath as mp
from mpmath import mpf
from remez import hexadecimal, minimax, round_to, solve_minimax

mp.mp.prec = 260
ROWS = 32  # row r is x in [-(r + 5) / 2, -(r + 4) / 2]; below, no double comes near a zero
BETWEEN = mpf("-2.625")  # rows 0 and 1 meet here, as the zeros do not lie far apart
HIGHEST = mpf("0.8")  # where |lgamma| is below this
COLUMNS = 14
ENOUGH = mpf(2) ** -58  # before coefficients are rounded


def reciprocal_gamma(x):
    return abs(mp.rgamma(x))


def bisect(condition, yes, no):
    """Where `condition` changes, `yes` and `no` being sides of it."""
    for _ in range(mp.mp.prec + 20):
        middle = (yes + no) / 2
        yes, no = (middle, no) if condition(middle) else (yes, middle)
    return yes


def row(number):
    """The zero of a row and the ends of the range around it where |lgamma| <= HIGHEST."""
    pole = -mpf((number + 5) // 2)
    middle = BETWEEN if number < 2 else -mpf(number + (5 if number % 2 == 0 else 4)) / 2

    def where(value):
        # 1 / |gamma| grows from 0 at the pole, in the first two rows to less than `value`.
        if reciprocal_gamma(middle) < value:
            return middle
        return bisect(lambda x: reciprocal_gamma(x) <= value, pole, middle)

    return where(mpf(1)), where(mp.exp(-HIGHEST)), where(mp.exp(HIGHEST))


def coefficients(zero, ends):
    slope = mp.diff(reciprocal_gamma, zero)

    def function(s):
        return (reciprocal_gamma(zero + s) - 1) / s if s else slope

    def weight(s):
        return abs(1 / function(s))

    low, high = sorted(end - zero for end in ends)
    count = 2
    while count < COLUMNS and solve_minimax(function, weight, low, high, count)[1] > ENOUGH:
        count += 1
    return minimax(function, weight, low, high, count, 53)


def print_row(zero, high, values):
    texts = [hexadecimal(high), hexadecimal(round_to(zero - high, 53))]
    polynomial = ", ".join(hexadecimal(v) for v in values)
    print("    {" + ", ".join(texts) + ", {" + polynomial + "}},")


def main():
    print(
        "// The zeros of lgamma below -2, and polynomials around them.\n"
        "//\n"
        "// Computed by tools/coefficients/lgamma_zeros.py; not to be edited by hand.\n"
        "#pragma once\n\n"
        "namespace composit::ir::scalar::coefficients {\n\n"
        "// The zero z = high + low in [-(r + 5) / 2, -(r + 4) / 2], r the row (0 and 1 meet at\n"
        "// -2.625), and\n"
        "// (|1 / gamma(z + s)| - 1) / s, lowest power first, where |lgamma(z + s)| <= 0.8.\n"
        "struct LgammaZero {\n"
        "    double high, low;\n"
        f"    double slope[{COLUMNS}];\n"
        "};"
    )
    print(f"inline constexpr LgammaZero lgamma_zeros[{ROWS}] = {{")
    worst = mpf(0)
    for number in range(ROWS):
        zero, *ends = row(number)
        values, error = coefficients(zero, ends)
        print_row(zero, round_to(zero, 53), values)
        worst = max(worst, error)
    print(f"}};  // error 2^{mp.nstr(mp.log(worst, 2), 4)}\n")
    print("}  // namespace composit::ir::scalar::coefficients")


if __name__ == "__main__":
    main()
