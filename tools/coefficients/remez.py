"""Weighted minimax polynomials by Remez exchange, with coefficients rounded one after another."""

import struct

import mpmath as mp


def solve_minimax(function, weight, low, high, powers, rounds=12):
    """Coefficients c minimising max |weight(x) (function(x) - sum c_i x**powers[i])|, and the error.

    A Remez exchange on a grid of Chebyshev points; `weight` must be positive inside (low, high).
    """
    count = len(powers)
    grid_size = 24 * (count + 2)
    middle, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
    grid = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * grid_size)) for i in range(grid_size)]
    values = [function(x) for x in grid]
    weights = [weight(x) for x in grid]
    basis = [[x**p for p in powers] for x in grid]
    nodes = [round((grid_size - 1) * i / count) for i in range(count + 1)]
    for _ in range(rounds):
        matrix = mp.matrix(count + 1, count + 1)
        right = mp.matrix(count + 1, 1)
        for row, node in enumerate(nodes):
            for column in range(count):
                matrix[row, column] = basis[node][column]
            matrix[row, count] = (-1) ** row / weights[node]
            right[row] = values[node]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(count)]
        errors = [w * (v - mp.fdot(coefficients, b)) for v, w, b in zip(values, weights, basis)]
        worst = max(abs(e) for e in errors)
        if worst <= abs(solution[count]) * mp.mpf("1.01"):
            break
        nodes = alternating_extrema(errors, count + 1)
    return coefficients, worst


def alternating_extrema(errors, count):
    """Indices of `count` consecutive extrema of alternating sign, the largest ones."""
    extrema = []
    for index, error in enumerate(errors):
        if extrema and (errors[extrema[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[extrema[-1]]):
                extrema[-1] = index
        else:
            extrema.append(index)
    while len(extrema) > count:
        if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]):
            extrema.pop(0)
        else:
            extrema.pop()
    if len(extrema) < count:
        raise ArithmeticError(f"{len(extrema)} extrema of {count}: raise the working precision")
    return extrema


def round_to(x, bits):
    """`x` rounded to `bits` significant bits (24: float32, 53: float64), as an mpf."""
    with mp.workprec(bits):
        return +mp.mpf(x)


def minimax(function, weight, low, high, powers, bits):
    """As solve_minimax, with coefficients that are `bits`-bit numbers.

    `bits` is one width or a list of one per coefficient. The lowest coefficient is rounded first
    and the others are fitted again, so that they make up for its rounding.
    """
    widths = bits if isinstance(bits, list) else [bits] * len(powers)
    fixed = []
    for position in range(len(powers)):
        done = list(zip(fixed, powers))
        free, _ = solve_minimax(
            lambda x: function(x) - mp.fsum(c * x**p for c, p in done),
            weight,
            low,
            high,
            powers[position:],
        )
        fixed.append(round_to(free[0], widths[position]))
    points = [low + (mp.mpf(high) - low) * i / 997 for i in range(1, 997)]
    error = max(
        abs(weight(x) * (function(x) - mp.fsum(c * x**p for c, p in zip(fixed, powers))))
        for x in points
    )
    return fixed, error


def hexadecimal(x):
    """The exact C++ literal of a number that is a double."""
    return struct.unpack("<d", struct.pack("<d", float(x)))[0].hex()
