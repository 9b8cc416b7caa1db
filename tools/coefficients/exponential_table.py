"""Prints composit/ir/scalar/library_exponential_table.h, which `make fmt` then lays out.

What a table-driven exp(x) of three times the precision of float64 needs (P. T. P. Tang, 1989).
"""

import mpmath as mp
from mpmath import mpf
from remez import hexadecimal, round_to

mp.mp.prec = 600
STEPS, FARTHEST = 128, 46  # exp(j / 128) for -46 <= j <= 46


def parts(x, bits=(53, 53, 53)):
    texts = []
    for count in bits:
        part = round_to(x, count)
        texts.append(hexadecimal(part))
        x -= part
    return "{" + ", ".join(texts) + "}"


def near_one(x):
    """Three parts, the first a multiple of 2^-52: one less is exact."""
    bits = 52 if x < 1 else 53
    return parts(x, (bits, 53, 53))


def main():
    table = [near_one(mp.exp(mpf(j) / STEPS)) for j in range(-FARTHEST, FARTHEST + 1)]
    factorials = [parts(1 / mp.factorial(n)) for n in range(2, 17)]
    print(
        "// exp(j / 128) and the series of exp as sums of three numbers.\n"
        "//\n"
        "// Computed by tools/coefficients/exponential_table.py; not to be edited by hand.\n"
        "#pragma once\n\n"
        "namespace composit::ir::scalar::coefficients {\n\n"
        f"// exp(j / {STEPS}) for j = -{FARTHEST}, ..., {FARTHEST}; the first parts are multiples "
        "of 2^-52.\n"
        f"inline constexpr int exp_table_first = -{FARTHEST};\n"
        f"inline constexpr double exp_table[{len(table)}][3] = {{{', '.join(table)}}};\n\n"
        "// 1 / n! for n = 2, 3, ...\n"
        f"inline constexpr double exp_series[{len(factorials)}][3] = "
        f"{{{', '.join(factorials)}}};\n\n"
        "// ln(2); multiples of the first two parts up to 2^11 are exact.\n"
        f"inline constexpr double ln2_steps[4] = {parts(mp.log(2), (42, 42, 53, 53))};\n\n"
        "// ln(2), as closely as three numbers can.\n"
        f"inline constexpr double ln2_parts[3] = {parts(mp.log(2))};\n\n"
        "}  // namespace composit::ir::scalar::coefficients"
    )


if __name__ == "__main__":
    main()
