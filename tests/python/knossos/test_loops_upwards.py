"""What is loaded: loops that count down and need not count up, arrays that are exchanged are told
apart, and branches that only assert are assertions. Bits are those of the interpreter."""

# ruff: noqa: F821

import re

import numpy as np
import pytest
from as_python import anew, bits, interpreted

from composit import _core
from composit.knossos import Tensor


def loaded(kernel):
    return _core.procedure.print_loadable("of", [[kernel.procedure()]])


def body_of(kernel):
    text = loaded(kernel)
    return text[text.index("namespace kernels {") :]


def scaled(x: "Tensor[float, n]", y: "Tensor[float, n]") -> "Tensor[float, n]":
    z = np.zeros(len(x))
    for k in range(len(x) - 1, -1, -1):
        z[k] = x[k] * y[k] + z[k]
    return z


def halves(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """Elements as far apart as there are iterations."""
    y, half = x.copy(), len(x) // 2
    for _ in range(3):
        for k in range(half - 1, -1, -1):
            t = y[k + half]
            y[k + half] = y[k] - t
            y[k] += t
    return y


def closer(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """One iteration's elements are another one's."""
    y, half = x.copy(), len(x) // 2
    for k in range(half - 1, 0, -1):
        t = y[k + half - 1]
        y[k + half] = y[k] - t
        y[k] += t
    return y


def handed_on(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = np.zeros(len(x))
    s = 0.0
    for k in range(len(x) - 1, -1, -1):
        s = 0.5 * s + x[k]
        y[k] = s
    return y


def last_one(x: "Tensor[float, n]") -> float:
    """What the last iteration found."""
    y, t = x.copy(), 0.0
    for k in range(len(x) - 1, -1, -1):
        t = 2 * x[k]
        y[k] = t * t
    return t + y[0]


def exchanged(u: "Tensor[float, n, m]", k: "Tensor[float, n, m]", steps: int) -> (
    "Tensor[float, n, m]"
):  # fmt: skip
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new[i, j] = u[i, j] + k[i, j] * (u[i - 1, j] - u[i, j + 1])
        u, new = new, u
    return u


def exchanged_in_order(u: "Tensor[float, n]", steps: int, far: int) -> "Tensor[float, n]":
    """Iterations that read what others write."""
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        for i in range(far, len(u)):
            new[i] = u[i] + 0.5 * new[i - far]
        u, new = new, u
    return u


def swapped(x: "Tensor[float, n]", to: "Tensor[int, n]") -> "Tensor[float, n]":
    y = x.copy()
    j = 0
    for i in range(len(x)):
        j = j + to[i]
        if i < j:
            y[i], y[j] = y[j], y[i]
    return y


def arguments(function, n):
    random = np.random.default_rng(n)
    if function is exchanged:
        return random.normal(size=(n, 5)), random.normal(size=(n, 5)), 3
    if function is exchanged_in_order:
        return random.normal(size=n), 3, 2
    return tuple(random.normal(size=n) for name in function.__annotations__ if name != "return")


ALL = [scaled, halves, closer, handed_on, last_one, exchanged, exchanged_in_order]


@pytest.mark.parametrize("function", ALL)
def test_bits(function):
    for n in (1, 2, 3, 8, 31, 64, 130):
        given = arguments(function, n)
        value = anew(function)(*given)
        assert bits(value) == bits(function(*given)), n
        g = np.random.default_rng(0).normal(size=np.shape(value))
        g = g if np.ndim(g) else float(g)
        kernel, other = anew(function).vjp, interpreted(anew(function).vjp)
        assert bits(kernel(*given, g)) == bits(other(*given, g)), n


def test_which_turn():
    up = re.compile(r"for \(int64_t k = [01]; k < (n|half); \+\+k\)")
    for function in (scaled, halves):
        assert up.search(body_of(anew(function))), function
        assert not up.search(anew(function).procedure().source), function
    for function in (closer, handed_on, last_one):
        assert not up.search(body_of(anew(function))), function


def test_exchanged_arrays_are_told_apart():
    told = re.compile(r"#pragma GCC ivdep\n *for \(int64_t (i = far|j = 1);")
    assert told.search(body_of(anew(exchanged)))
    assert not told.search(body_of(anew(exchanged_in_order)))


def table(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            d = x[i] - y[j]
            cost[i + 1, j + 1] = d * d + min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
    return cost[len(x), len(y)]


def test_loops_that_pass_zeros_do_not_ask():
    """Whether to stop: an array ends them, as ever."""
    text = body_of(anew(table).vjp)
    back = text[text.index("any == 0") - 600 : text.index("any == 0")]
    assert "::composit_stop_if_asked" not in back[back.rindex("; --j) {") :], back
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    kernel, other = anew(table).vjp, interpreted(anew(table).vjp)
    assert bits(kernel(x, y, 1.0)) == bits(other(x, y, 1.0))


def test_branches_that_assert():
    x, to = np.arange(6.0), np.array([0, 2, 1, 0, 2, 0])
    text = body_of(anew(swapped).vjp)
    assert not re.search(r"if \(\w+\) checked_index", text), text
    g = np.random.default_rng(0).normal(size=6)
    kernel, other = anew(swapped).vjp, interpreted(anew(swapped).vjp)
    assert bits(kernel(x, to, g)) == bits(other(x, to, g))
    to[4] = 7
    for each in (kernel, other):
        with pytest.raises(IndexError, match="index"):
            each(x, to, g)
    to[0], to[4] = -3, 0  # no index, as it is not asked for
    assert bits(kernel(x, to, g)) == bits(other(x, to, g))
