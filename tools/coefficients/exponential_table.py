"""Prints composit/ir/scalar/library_exponential_table.h, which `make fmt` then lays out.

What a table-driven exp(x) - 1 of twice the precision of float64 needs (P. T. P. Tang, 1989).
"""

import mpmath as mp
from mpmath import mpf
from remez import hexadecimal, round_to

mp.mp.prec = 400
STEPS, LOWEST, HIGHEST = 32, -46, 12  # exp(j / 32) - 1 for these j


def parts(x, bits=(53, 53)):
    texts = []
    for count in bits:
        part = round_to(x, count)
        texts.append(hexadecimal(part))
        x -= part
    return "{" + ", ".join(texts) + "}"


def main():
    table = [parts(mp.expm1(mpf(j) / STEPS)) for j in range(LOWEST, HIGHEST + 1)]
    factorials = [parts(1 / mp.factorial(n)) for n in range(2, 15)]
    print(
        "// exp(j / 32) - 1 and the series of exp as sums of two numbers.\n"
        "//\n"
        "// Computed by tools/coefficients/exponential_table.py; not to be edited by hand.\n"
        "#pragma once\n\n"
        "namespace composit::ir::scalar::coefficients {\n\n"
        f"// exp(j / {STEPS}) - 1 for j = {LOWEST}, ..., {HIGHEST}.\n"
        f"inline constexpr int expm1_table_first = {LOWEST};\n"
        f"inline constexpr double expm1_table[{len(table)}][2] = {{{', '.join(table)}}};\n\n"
        "// 1 / n! for n = 2, 3, ...\n"
        f"inline constexpr double exp_series[{len(factorials)}][2] = "
        f"{{{', '.join(factorials)}}};\n\n"
        "// ln(2); multiples of the first two parts up to 2^11 are exact.\n"
        f"inline constexpr double ln2_parts[3] = {parts(mp.log(2), (42, 42, 53))};\n\n"
        "}  // namespace composit::ir::scalar::coefficients"
    )


if __name__ == "__main__":
    main()
