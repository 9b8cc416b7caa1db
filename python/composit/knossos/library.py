"""Functions of NumPy and math in the language of kernels. A call becomes part of the kernel, which
derives it like the user's own text.

    LIBRARY[np.linalg.solve].text is solved
"""

from __future__ import annotations

import builtins
import math
from typing import Any, NamedTuple

import numpy as np


def require(condition: bool, claim: str) -> None:
    """Within this file: numpy.linalg.LinAlgError, unless the condition holds when a kernel runs."""
    raise NotImplementedError


def same_extents(a: int, b: int) -> None:
    """Within this file: that two extents are the same, or a ValueError."""
    raise NotImplementedError


def held(x: Any) -> Any:
    """Within this file: x, without a derivative, while first derivatives are made."""
    raise NotImplementedError


def stand_in(value: Any, other: Any) -> Any:
    """Within this file: the value, with the derivative of the other one."""
    raise NotImplementedError


# ----- linear algebra: Gauss's elimination with partial pivoting, as LAPACK's getrf and gesv


def decomposed(a):
    """L and U of a's rows in another order, in one matrix; the order; its sign."""
    lu = a * 1.0
    n = len(lu)
    order = np.arange(n)
    sign = 1.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[pivot, k]):
                pivot = i
        if pivot != k:
            sign = -sign
            order[k], order[pivot] = order[pivot], order[k]
            for j in range(n):
                lu[k, j], lu[pivot, j] = lu[pivot, j], lu[k, j]
        if lu[k, k] != 0.0:
            for i in range(k + 1, n):
                lu[i, k] /= lu[k, k]
                for j in range(k + 1, n):
                    lu[i, j] -= lu[i, k] * lu[k, j]
    return lu, order, sign


def substituted(lu, order, b):
    """x of l u x = b, whose rows are in an order."""
    n = len(lu)
    x = b * 1.0
    for i in range(n):
        x[i] = b[order[i]]
        for k in range(i):
            x[i] -= lu[i, k] * x[k]
    for i in range(n - 1, -1, -1):
        require(lu[i, i] != 0.0, "the matrix is singular")
        for k in range(i + 1, n):
            x[i] -= lu[i, k] * x[k]
        x[i] /= lu[i, i]
    return x


def solved(a, b):
    same_extents(a.shape[0], a.shape[1])
    same_extents(a.shape[0], b.shape[0])
    lu, order, _ = decomposed(a)
    return substituted(lu, order, b)


def solved_for_derivatives(a, b):
    """a^-1 b, whose derivative is a^-1 (db - da x): no elimination is derived."""
    same_extents(a.shape[0], a.shape[1])
    same_extents(a.shape[0], b.shape[0])
    lu, order, _ = decomposed(held(a))
    x = substituted(lu, order, held(b))
    return stand_in(x, substituted(lu, order, b - a @ x))


def inverted(a):
    return solved(a, np.eye(len(a)))


def inverted_for_derivatives(a):
    return solved_for_derivatives(a, np.eye(len(a)))


def determinant(a):
    same_extents(a.shape[0], a.shape[1])
    lu, _, sign = decomposed(a)
    product = sign
    for k in range(len(lu)):
        product *= lu[k, k]
    return product


def decomposed_with_columns(a):
    """L and U of a's rows and columns in other orders; the orders; their sign. Each pivot is the
    largest element of what is left: of a matrix of rank n - 1 the last one alone is 0."""
    lu = a * 1.0
    n = len(lu)
    rows, columns = np.arange(n), np.arange(n)
    sign = 1.0
    for k in range(n):
        row, column, largest = k, k, -1.0
        for i in range(k, n):
            for j in range(k, n):
                if abs(lu[i, j]) > largest:
                    row, column, largest = i, j, abs(lu[i, j])
        if row != k:
            sign = -sign
            rows[k], rows[row] = rows[row], rows[k]
            for j in range(n):
                lu[k, j], lu[row, j] = lu[row, j], lu[k, j]
        if column != k:
            sign = -sign
            columns[k], columns[column] = columns[column], columns[k]
            for i in range(n):
                lu[i, k], lu[i, column] = lu[i, column], lu[i, k]
        if lu[k, k] != 0.0:
            for i in range(k + 1, n):
                lu[i, k] /= lu[k, k]
                for j in range(k + 1, n):
                    lu[i, j] -= lu[i, k] * lu[k, j]
    return lu, rows, columns, sign


def cofactors_of(lu, rows, columns, sign):
    """Those of a matrix with this decomposition, of which no pivot but the last is 0."""
    n = len(lu)
    factor = sign  # times all pivots but the last
    for k in range(n - 1):
        factor *= lu[k, k]
    x = np.eye(n)
    for i in range(n):
        for k in range(i):
            for j in range(k + 1):
                x[i, j] -= lu[i, k] * x[k, j]
    made = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        for j in range(n):
            x[i, j] *= factor if i == n - 1 else factor * lu[n - 1, n - 1]
        for k in range(i + 1, n):
            for j in range(n):
                x[i, j] -= lu[i, k] * x[k, j]
        for j in range(n):
            if i < n - 1:
                x[i, j] /= lu[i, i]
            made[rows[j], columns[i]] = x[i, j]
    return made


def least_pivot(lu):
    """The least of all but the last, to the largest."""
    n = len(lu)
    least, largest = np.inf, 0.0
    for k in range(n - 1):
        least = min(least, abs(lu[k, k]))
        largest = max(largest, abs(lu[k, k]))
    return 1.0 if n < 2 else least / largest if largest > 0.0 else 0.0


def cofactors(a, lu, order, sign):
    """What each element contributes to the determinant, also of singular matrices: the
    decomposition's, unless a pivot is so small that it may be nothing but an error."""
    if least_pivot(lu) > 1e-6:
        return cofactors_of(lu, order, np.arange(len(a)), sign)
    lu, rows, columns, sign = decomposed_with_columns(a)
    if least_pivot(lu) == 0.0:
        return np.zeros((len(a), len(a)))
    return cofactors_of(lu, rows, columns, sign)


def determinant_for_derivatives(a):
    """Its derivative is that of the sum of the elements times their cofactors."""
    same_extents(a.shape[0], a.shape[1])
    lu, order, sign = decomposed(held(a))
    product = sign
    for k in range(len(lu)):
        product *= lu[k, k]
    return stand_in(product, np.sum(cofactors(held(a), lu, order, sign) * a))


def cholesky(a):
    same_extents(a.shape[0], a.shape[1])
    n = len(a)
    lower = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            rest = a[i, j] * 1.0
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            if i == j:
                require(rest > 0.0, "the matrix is not positive definite")
                lower[j, j] = math.sqrt(rest)
            else:
                lower[i, j] = rest / lower[j, j]
    return lower


def cross(a, b):
    same_extents(a.shape[0], 3)
    same_extents(b.shape[0], 3)
    return np.array([
        a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
    ])  # fmt: skip


def trace(a):
    return sum(a[i, i] for i in range(min(a.shape[0], a.shape[1])))


# ----- order


def in_order(a):
    """Insertion sort, which leaves equal elements where they are; NaNs stand last."""
    made = a.copy()
    for i in range(1, len(made)):
        here = made[i]
        k = i
        while k > 0 and (here < made[k - 1] or (made[k - 1] != made[k - 1] and here == here)):
            made[k] = made[k - 1]
            k -= 1
        made[k] = here
    return made


def places_in_order(a):
    made = np.arange(len(a))
    for i in range(1, len(a)):
        here = a[i]
        k = i
        while k > 0 and (
            here < a[made[k - 1]] or (a[made[k - 1]] != a[made[k - 1]] and here == here)
        ):
            made[k] = made[k - 1]
            k -= 1
        made[k] = i
    return made


def in_order_for_derivatives(a):
    """The elements from where they stand, each of which gets its gradient there."""
    made = a.copy()
    places = places_in_order(a)
    for i in range(len(made)):
        made[i] = a[places[i]]
    return made


def median(a):
    n = len(a)
    ordered = in_order(a)
    last = ordered[n - 1] * 1.0
    if last != last:
        return last
    return ordered[n // 2] * 1.0 if n % 2 == 1 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def median_for_derivatives(a):
    n = len(a)
    ordered = in_order_for_derivatives(a)
    last = ordered[n - 1] * 1.0
    if last != last:
        return last
    return ordered[n // 2] * 1.0 if n % 2 == 1 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def interpolated(x, xp, fp):
    """Of one number, as numpy.interp."""
    same_extents(xp.shape[0], fp.shape[0])
    n = len(xp)
    if x <= xp[0]:
        return fp[0] * 1.0
    if x >= xp[n - 1]:
        return fp[n - 1] * 1.0
    k = 0
    while xp[k + 1] <= x:
        k += 1
    slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
    return slope * (x - xp[k]) + fp[k]


def place_for(a, v):
    """Of one number, as numpy.searchsorted from the left: NaNs stand last."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < v or (v != v and a[middle] == a[middle]):
            low = middle + 1
        else:
            high = middle
    return low


def polynomial(p, x):
    total = 0.0 * x
    for c in p:
        total = total * x + c
    return total


def trapezoids(y, x):
    same_extents(y.shape[0], x.shape[0])
    return sum((x[i + 1] - x[i]) * (y[i + 1] + y[i]) / 2.0 for i in range(len(y) - 1))


# ----- integers and distances


def factorial(n):
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


def combinations(n, k):
    product = 1
    for i in range(min(k, n - k)):
        product = product * (n - i) // (i + 1)
    return product if k <= n else 0


def permutations(n, k):
    product = 1
    for i in range(k):
        product *= n - i
    return product


def distance(p, q):
    total = sum((a - b) * (a - b) for a, b in zip(p, q, strict=True))
    return math.sqrt(total) if total > 0.0 else total * 1.0


def product_of(values):
    total = 1
    for value in values:
        total = total * value
    return total


class Text(NamedTuple):
    """A function's text, and of how many axes its arguments are; None: of any."""

    text: Any
    axes: tuple[int | None, ...]
    gives_list: bool = False
    for_derivatives: Any = None  # a text of the same values, which derivatives are made of


LIBRARY: dict[Any, Text] = {
    np.linalg.solve: Text(solved, (2, None), False, solved_for_derivatives),
    np.linalg.inv: Text(inverted, (2,), False, inverted_for_derivatives),
    np.linalg.det: Text(determinant, (2,), False, determinant_for_derivatives),
    np.linalg.cholesky: Text(cholesky, (2,)),
    np.cross: Text(cross, (1, 1)), np.trace: Text(trace, (2,)),
    np.sort: Text(in_order, (1,), False, in_order_for_derivatives),
    builtins.sorted: Text(in_order, (1,), True, in_order_for_derivatives),
    np.argsort: Text(places_in_order, (1,)),
    np.median: Text(median, (1,), False, median_for_derivatives),
    np.searchsorted: Text(place_for, (1, 0)),
    np.interp: Text(interpolated, (0, 1, 1)), np.polyval: Text(polynomial, (1, None)),
    getattr(np, "trapezoid", None) or np.trapz: Text(trapezoids, (1, 1)),  # type: ignore
    math.factorial: Text(factorial, (0,)), math.comb: Text(combinations, (0, 0)),
    math.perm: Text(permutations, (0, 0)), math.dist: Text(distance, (None, None)),
    math.prod: Text(product_of, (None,)),
}  # fmt: skip
