"""Lists that grow by append: values as Python's, slopes as differences, in both modes."""

# ruff: noqa: F821

from __future__ import annotations

import numpy as np
import pytest

from composit import _core, knossos
from composit.knossos import Tensor


def infected(beta: float, gamma: float, days: int) -> Tensor[float, days]:
    s, i = 0.99, 0.01
    history = []
    for _ in range(days):
        new, gone = beta * s * i, gamma * i
        s -= new
        i += new - gone
        history.append(i)
    return np.array(history)


def positive(x: Tensor[float, n]) -> float:
    kept = []
    for v in x:
        if v > 0:
            kept.append(v * v)
    total = 0.0
    for i in range(len(kept)):
        total += kept[i] * i
    return total + len(kept) + sum(kept) + (kept[-1] if len(kept) > 0 else 0.0)


def fibonacci(n: int) -> Tensor[int, m]:
    f = [0, 1]
    for _ in range(2, n):
        f.append(f[-1] + f[-2])
    return f


def table(x: Tensor[float, n]) -> Tensor[float, n, 3]:
    out = []
    for v in x:
        row = [1.0]
        for _ in range(2):
            row.append(row[-1] * v)
        out.append(row)
    return np.array(out)


def by_two_loops(x: Tensor[float, n], k: int) -> Tensor[float, m]:
    out: list[float] = []
    for v in x:
        for j in range(k):
            out.append(v * j)
        out.append(0)
    return np.array(out)


def through_helpers(x: Tensor[float, n], k: int) -> float:
    a, b = _multiples(x[0], k), _multiples(x[1], 3)
    return sum(a) + b[2] * len(a)


def _multiples(x, k):
    got = []
    for j in range(k):
        got.append(x * j)
    return got


def written_out(x: float) -> float:
    v = []
    for factor in (1.0, 2.0, 3.0):
        v.append(factor * x)
        v.append(x)
    return v[0] + v[4] * max(v)


def pairs(x: Tensor[float, n]) -> float:
    v = []
    for i in range(1, len(x)):
        v.append((x[i - 1], x[i]))
    return sum(a * b for a, b in v)


def until(x: Tensor[float, n], limit: float) -> float:
    seen = []
    for v in x:
        if v > limit:
            break
        seen.append(v**3)
    return sum(seen) / max(len(seen), 1)


def either(x: Tensor[float, n]) -> Tensor[float, n]:
    """Each path appends once."""
    out = []
    for v in x:
        if v > 0:
            out.append(v * v)
        else:
            out.append(-2.0 * v)
    return np.array(out)


def repeated(x: Tensor[float, n], m: int) -> float:
    """Of numbers that are computed, which are no integers."""
    total = 0.0
    for v in x:
        part = [v] * m
        total += sum(part) + sum([v * 0.25] * 2)
    return total


def anew(x: Tensor[float, n]) -> float:
    """A list that each iteration begins anew."""
    total = 0.0
    for i in range(len(x)):
        part = []
        for v in x:
            part.append(v * i)
        total += max(part)
    return total


X = np.array([0.5, -1.0, 2.0, 0.25])
CALLS = [
    (infected, (0.4, 0.1, 6)), (positive, (X,)), (positive, (-abs(X),)), (table, (X,)),
    (by_two_loops, (X, 2)), (through_helpers, (X, 4)), (written_out, (1.5,)), (pairs, (X,)),
    (until, (X, 1.0)), (until, (X, 9.0)), (either, (X,)), (anew, (X,)), (repeated, (X, 3)),
]  # fmt: skip


def made(function):
    kernel = knossos.register(function)
    for each in (kernel, kernel.vjp, kernel.jvp):
        each._use(_core.procedure.interpreted(each.procedure()))
    return kernel


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_values_and_slopes(function, arguments):
    kernel = made(function)
    want = np.asarray(function(*arguments))
    np.testing.assert_allclose(kernel(*arguments), want, rtol=1e-15, strict=True)
    floats = [i for i, each in enumerate(arguments) if not isinstance(each, int)]
    random = np.random.default_rng(1)
    moves = [random.standard_normal(np.shape(arguments[i]))[()] for i in floats]
    weights = random.standard_normal(want.shape)[()]

    def moved(by):
        given = list(arguments)
        for i, move in zip(floats, moves):
            given[i] = given[i] + by * move
        return np.sum(weights * function(*given))

    slope = (moved(1e-6) - moved(-1e-6)) / 2e-6
    forward = np.sum(weights * kernel.jvp(*arguments, *moves))
    received = kernel.vjp(*arguments, weights)
    received = received if isinstance(received, tuple) else (received,)
    backward = sum(np.sum(a * b) for a, b in zip(received, moves))
    assert forward == pytest.approx(slope, rel=1e-7, abs=1e-8)
    assert backward == pytest.approx(forward, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("n", [-3, 0, 2, 3, 9])
def test_integers(n):
    got = knossos.register(fibonacci)(n)
    assert got.dtype == np.int64 and got.tolist() == fibonacci(n)


@pytest.mark.parametrize("days", [0, -2, 3])
def test_no_elements(days):
    made = knossos.register(infected)(0.4, 0.1, days)
    assert made.tolist() == infected(0.4, 0.1, days).tolist()


def test_copies_do_not_grow():
    """NumPy's arrays are copies, and other names of a list are refused where it has grown."""

    def copied(x: Tensor[float, n]) -> float:
        v = [x[0]]
        before = np.array(v)
        for each in x:
            v.append(each)
        return np.sum(before) + len(v)

    def shared(x: Tensor[float, n]) -> float:
        v = [x[0]]
        w = v
        for each in x:
            v.append(each)
        return sum(w)

    assert made(copied)(X) == copied(X) == 5.5
    with pytest.raises(TypeError, match=r"w is a part of v, whose elements may have changed"):
        knossos.register(shared).procedure()
