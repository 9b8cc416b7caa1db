"""Weighted minimax polynomials by Remez exchange, with coefficients rounded one after another."""

import struct

import mpmath as mp


def solve_minimax(function, weight, low, high, count, rounds=40):
    """Coefficients c minimising max |weight(x) (function(x) - sum c_i x**i)|, and that maximum.

    A Remez exchange on a grid of Chebyshev points; `weight` must be positive but at 0.
    """
    grid_size = 24 * (count + 2)
    middle, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
    grid = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * grid_size)) for i in range(grid_size)]
    values = [function(x) for x in grid]
    weights = [weight(x) for x in grid]
    basis = [[x**i for i in range(count)] for x in grid]
    nodes = [round((grid_size - 1) * i / count) for i in range(count + 1)]
    best, least = None, mp.inf
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
        if worst < least:
            best, least = coefficients, worst
        if worst <= abs(solution[count]) * mp.mpf("1.01"):
            break
        nodes = alternating_extrema(errors, count + 1)
    return best, least


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


def minimax(function, weight, low, high, count, bits):
    """As solve_minimax, with coefficients that are `bits`-bit numbers, and the error they have.

    The lowest coefficient is rounded first and the others are fitted again, so that they make up
    for its rounding; the best of the candidates on this way is taken.
    """
    points = [low + (mp.mpf(high) - low) * i / 998 for i in range(1, 998)]
    samples = [(x, function(x), weight(x)) for x in points if x]
    fixed, best, least = [], None, mp.inf

    def rest(x):
        value = function(x)
        for coefficient in fixed:
            value = (value - coefficient) / x
        return value

    for position in range(count):
        free, _ = solve_minimax(
            rest, lambda x: weight(x) * abs(x) ** len(fixed), low, high, count - position
        )
        candidate = fixed + [round_to(c, bits) for c in free]
        error = max(abs(w * (v - mp.polyval(candidate[::-1], x))) for x, v, w in samples)
        if error < least:
            best, least = candidate, error
        elif error > 16 * least:
            break
        fixed.append(candidate[position])
    return best, least


def hexadecimal(x):
    """The exact C++ literal of a number that is a double."""
    return struct.unpack("<d", struct.pack("<d", float(x)))[0].hex()
