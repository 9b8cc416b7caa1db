"""Weighted near-minimax quotients of polynomials, by linear least squares with two reweightings."""

import mpmath as mp


def fit_rational(function, weight, low, high, degrees, rounds=10):
    """(numerator, denominator), lowest power first, the denominator's first being 1, for which
    max |weight(x) (function(x) - numerator(x) / denominator(x))| is small; and that maximum.

    Each round solves for |numerator - function denominator|, divided by the last denominator
    (Sanathanan and Koerner 1963), and weighs a point more where the last error was large
    (Lawson 1961).
    """
    top, bottom = degrees
    count = 12 * (top + bottom + 2)
    middle, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
    grid = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    values, weights = [function(x) for x in grid], [weight(x) for x in grid]
    below, emphasis = [mp.mpf(1)] * count, [mp.mpf(1)] * count
    best, least = None, mp.inf
    for _ in range(rounds):
        scales = [w * mp.sqrt(e) / q for w, e, q in zip(weights, emphasis, below)]
        solution = least_squares(grid, values, scales, top, bottom)
        numerator, denominator = solution[: top + 1], [mp.mpf(1), *solution[top + 1 :]]
        below = [mp.polyval(denominator[::-1], x) for x in grid]
        errors = [
            abs(w * (v - mp.polyval(numerator[::-1], x) / q))
            for x, v, w, q in zip(grid, values, weights, below)
        ]
        if max(errors) < least:
            best, least = (numerator, denominator), max(errors)
        emphasis = [e * error for e, error in zip(emphasis, errors)]
        largest = max(emphasis)
        emphasis = [e / largest + mp.mpf("1e-9") for e in emphasis]
    return best, least


def least_squares(grid, values, scales, top, bottom):
    """Coefficients of the numerator, then those of the denominator from the first power on."""
    size = top + bottom + 1
    matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
    for x, value, scale in zip(grid, values, scales):
        row = [scale * x**k for k in range(top + 1)]
        row += [-scale * value * x**k for k in range(1, bottom + 1)]
        for i in range(size):
            right[i] += row[i] * scale * value
            for j in range(size):
                matrix[i, j] += row[i] * row[j]
    return list(mp.lu_solve(matrix, right))
