"""Names of arrays that get other arrays, values of several paths, functions inside kernels, and
what changes in place: all as in Python."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import check, interpreted

from composit import knossos
from composit.knossos import Tensor

random = np.random.default_rng(3)


def r(*shape):
    return random.normal(size=shape)


# ----- values of several paths


def turned(v, t):
    if t < 1e-12:
        return v
    return v * np.cos(t)


def early_array(v: "Tensor[float, 3]", t: float) -> float:
    return np.sum(turned(v, t) * turned(v, 2 * t))


def conditional_array(v: "Tensor[float, n]", t: float) -> "Tensor[float, n]":
    return (v if t < 0.0 else v * np.cos(t)) + 1.0


def row_over(a: "Tensor[float, n, m]", t: float) -> "Tensor[float, m]":
    for row in a:
        if row[0] > t:
            return row * 2
    return a[0]


def row_of_a_loop(a: "Tensor[float, n, m]", t: float) -> float:
    row = row_over(a, t)
    return row @ row


def pair(v, t):
    if t > 0:
        return v * t, t
    return v, -t


def pairs(v: "Tensor[float, n]", t: float) -> float:
    w, s = pair(v, t)
    u, _ = pair(w, -s)
    return np.sum(u * w) * s


def nested_loops(a: "Tensor[float, n, m]", t: float) -> float:
    def first_over(limit):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] > limit:
                    return a[i] * j
        return a[0] * 0.5

    return np.sum(first_over(t)) + np.sum(first_over(2 * t) ** 2)


def integer_or_float(x: "Tensor[float, n]", t: float) -> float:
    def sign(v):
        if v > t:
            return 1
        if v < -t:
            return -1
        return v / t

    return sum(sign(v) * v for v in x)


# ----- names that get other arrays


def rebound(v: "Tensor[float, n]", t: float) -> "Tensor[float, n]":
    v = v * t
    v[0] = 0.0
    return v


def rebound_in_a_branch(v: "Tensor[float, n]", t: float) -> float:
    if t > 0:
        v = v * t
    return np.sum(v * v)


def exchanged(u: "Tensor[float, n]", steps: int) -> "Tensor[float, n]":
    u = u.copy()
    new = np.zeros_like(u)
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            new[i] = 0.5 * (u[i - 1] + u[i + 1])
        u, new = new, u
    return u


def turned_names(a: "Tensor[float, n]", b: "Tensor[float, n]", k: int) -> float:
    c = a * b
    for _ in range(k):
        a, b, c = b, c, a
    return a[0] + 2 * b[0] + 3 * c[0]


def last_new(x: "Tensor[float, n]", k: int) -> "Tensor[float, n]":
    previous = x
    for i in range(k):
        new = np.zeros(len(x))
        for j in range(len(x)):
            new[j] = math.sin(previous[j]) + i * previous[j - 1]
        previous = new
    return previous


def shorter(x: "Tensor[float, n]") -> float:
    y = x * 2.0
    y = y[1:]
    y = y[1:] * y[:-1]
    return np.sum(y)


def tuples(a: "Tensor[float, n]", b: "Tensor[float, n]") -> float:
    def both(p):
        a, b = p
        return a + b, a - b

    p = (a, b)
    q = both(both(p))
    return np.sum(q[0] * q[1]) + np.sum(p[0])


def at_breaks(x: "Tensor[float, n]", t: float) -> "Tensor[float, n]":
    while True:
        y = x * 2
        if t > 0.5:
            break
        y = y + 1.0
        if t > 0.0:
            break
        y = y[::-1] * t
        break
    return y


def best_of(x: "Tensor[float, n]", t: float) -> float:
    best = x
    for i in range(4):
        trial = best * t + i
        trial[0] = 2.0
        if np.sum(trial) > np.sum(best):
            best = trial
    return best @ best


def two_before(x: "Tensor[float, n]", t: float) -> float:
    previous = x * t
    older = previous
    total = 0.0
    for _ in range(4):
        new = np.zeros(len(x))
        for j in range(len(x)):
            new[j] = previous[j] * t + older[j]
        older = previous
        previous = new
        total += older[0] * previous[1]
    return total


def rotating(x: "Tensor[float, n]", t: float) -> float:
    a = x
    b = a
    for _ in range(3):
        c = a * t
        a = b
        b = c
    return np.sum(a) + 2 * np.sum(b)


# ----- in place


def swap(a, i, j):
    a[i], a[j] = a[j], a[i]


def sift(heap, i):
    while True:
        largest = i
        for child in (2 * i + 1, 2 * i + 2):
            if child < len(heap) and heap[child] > heap[largest]:
                largest = child
        if largest == i:
            return
        swap(heap, i, largest)
        i = largest


def largest_two(x: "Tensor[float, n]") -> float:
    h = x.copy()
    for i in range(len(h) // 2, -1, -1):
        sift(h, i)
    return h[0] + 0.5 * max(h[1], h[2])


def add(total, v, w):
    total += w * v


def weighted(x: "Tensor[float, n, m]", w: "Tensor[float, n]") -> "Tensor[float, m]":
    total = np.zeros(x.shape[1])
    for row, weight in zip(x, w):
        add(total, row, weight)
    return total


def by_a_function_inside(x: "Tensor[float, n]", t: float) -> float:
    h = np.zeros(3)

    def put(v):
        h[0] += v
        h[1] = max(h[1], v)

    for v in x:
        put(v * t)
    for a in h * 2.0:
        put(a)
    return h[0] * h[1]


# ----- functions inside, and as arguments


def closure(x: float) -> float:
    k = 1.0
    f = lambda y, z=x * 2: y * k + z
    k = x
    return f(3.0) + f(1.0, z=x)


def shadows(x: float, y: float) -> float:
    def f(x):
        y = x * x
        return y + x

    return f(y) * x + y


def recursive(x: float) -> float:
    def power(y, n):
        return 1.0 if n == 0 else y * power(y, n - 1)

    return power(x, 4)


def rk4(f, y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def pendulum(y0: "Tensor[float, 2]", g: float, h: float) -> "Tensor[float, 2]":
    y = y0
    for _ in range(3):
        y = rk4(lambda y: np.array([y[1], -g * np.sin(y[0])]), y, h)
    return y


def adder(k):
    return lambda x: x + k


def functions(x: float) -> float:
    g = math.sin
    return adder(2.0 * x)(x) * sum(f(x) for f in (g, math.cos, adder(1.0)))


def relaxed(u: np.ndarray, w: float) -> np.ndarray:
    new = u.copy()
    new[1:-1] = (1 - w) * u[1:-1] + w * 0.5 * (u[2:] + u[:-2])
    return new


def smoothed(u: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
    for _ in range(3):
        u = relaxed(u, w)
    return u


# ----- ranges


def strided(x: "Tensor[float, n]", a: int, b: int, s: int) -> float:
    total = 0.0
    for i in range(a, b, s):
        total = total * 1.1 + x[i] ** 2 * i
    return total


def last_of_a_loop(x: float) -> float:
    for k in range(1, 4):
        y = x * k
        if y > 100.0:
            break
    return y * y


def counts(n: int, s: int, x: "Tensor[float, k]") -> float:
    return np.sum(np.arange(0, n, s)) * x[0] + sum(v * i for i, v in zip(range(0, 99, s), x))


NINE = r(9)
CALLS = [
    (early_array, r(3), 0.5), (early_array, r(3), -0.5), (conditional_array, r(3), 0.5),
    (conditional_array, r(3), -0.5), (row_of_a_loop, r(4, 3), 0.1), (row_of_a_loop, r(4, 3), 9.0),
    (pairs, r(3), 0.5), (pairs, r(3), -0.5), (nested_loops, r(3, 2), 0.4),
    (integer_or_float, r(6), 0.7), (rebound, r(4), 0.3), (rebound_in_a_branch, r(4), 0.3),
    (rebound_in_a_branch, r(4), -0.3), (exchanged, r(6), 3), (exchanged, r(6), 0),
    (turned_names, r(2), r(2), 4), (turned_names, r(2), r(2), 0), (last_new, r(4), 3),
    (last_new, r(4), 0), (at_breaks, r(3), 0.7), (at_breaks, r(3), 0.3), (at_breaks, r(3), -0.3),
    (best_of, r(3), 0.7), (best_of, r(3), -1.9), (two_before, r(3), 0.7), (rotating, r(3), 0.7),
    (shorter, r(6)), (tuples, r(3), r(3)), (largest_two, r(7)),
    (weighted, r(3, 2), r(3)), (by_a_function_inside, np.abs(r(4)), 0.3), (closure, 0.4),
    (shadows, 0.3, 0.8), (recursive, 0.4), (pendulum, r(2), 9.0, 0.01), (functions, 0.4),
    (smoothed, r(6), 0.3), (strided, NINE, 0, 9, 2), (strided, NINE, 8, -1, -3),
    (strided, NINE, 3, 3, 1), (strided, NINE, 5, 2, 1), (strided, NINE, 2, 5, -1),
    (last_of_a_loop, 0.5), (last_of_a_loop, 70.0), (counts, 10, 3, r(4)),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_as_python(call):
    function, *arguments = call
    check(function, tuple(arguments), use=interpreted)


@pytest.mark.long_tail
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_compiled_to_the_bit(call):
    function, *arguments = call
    assert check(function, tuple(arguments)) == check(function, tuple(arguments), use=interpreted)


def test_zero_elements():
    for function, *arguments in ((conditional_array, np.zeros(0), 0.5), (rebound_in_a_branch,
                                 np.zeros(0), 0.5), (last_new, np.zeros(0), 2)):  # fmt: skip
        check(function, tuple(arguments), use=interpreted)


def test_a_step_of_zero():
    with pytest.raises(ValueError, match="the step of a range is 0, in `for i in range"):
        knossos.register(strided)(NINE, 0, 3, 0)
