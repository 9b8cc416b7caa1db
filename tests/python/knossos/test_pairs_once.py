"""Derivatives of nests over all ordered pairs, which meet each pair once: they are those of the
same kernel whose pairs a list holds, which nobody can tell to be all of them."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import anew
from test_loops_in_blocks import interpreted, loaded, parts

from composit.knossos import Tensor


def attracted(x: "Tensor[float, n, 3]", m: "Tensor[float, n]") -> "Tensor[float, n, 3]":
    a = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                dx = x[j, 0] - x[i, 0]
                dy = x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2]
                factor = m[j] / (dx * dx + dy * dy + dz * dz) ** 1.5
                a[i, 0] += factor * dx
                a[i, 1] += factor * dy
                a[i, 2] += factor * dz
    return a


def energy(x: "Tensor[float, n]", y: "Tensor[float, n]", q: "Tensor[float, n]", k: float) -> float:
    """A scalar, and a number whose gradient all pairs add to."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if j != i:
                dx = x[i] - x[j]
                dy = y[i] - y[j]
                total += k * q[i] * q[j] / math.sqrt(dx * dx + dy * dy)
    return 0.5 * total


def softened(x: "Tensor[float, n, 2]", m: "Tensor[float, n]", soft: float) -> "Tensor[float, n, 2]":
    """A power, a number within it, and other columns."""
    a = np.zeros((len(x), 2))
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                dx = x[j, 0] - x[i, 0]
                dy = x[j, 1] - x[i, 1]
                near = (dx**2 + dy**2 + soft**2) ** -1.25
                a[i, 0] += m[j] * near * dx
                a[i, 1] += m[j] * near * dy
    return a


def turned(x: "Tensor[float, n]", w: "Tensor[float, n]") -> "Tensor[float, n]":
    """Of an odd function and a quotient by a difference, zeros' signs and all."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                d = x[j] - x[i]
                y[i] += math.exp(-abs(d)) * w[j] + math.sin(d) / (1.0 + w[i]) + w[i] / d
    return y


def chosen(x: "Tensor[float, n]", w: "Tensor[float, n]") -> float:
    """A choice by a sign."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                d = x[j] - x[i]
                total += w[i] * math.sqrt(d * d + 1.0) if d > 0.5 else w[j] / (d * d + 2.0)
    return total


def inner(x: "Tensor[float, n]", w: "Tensor[float, n]") -> float:
    """From the second to the last but one."""
    total = 0.0
    for i in range(1, len(x) - 1):
        for j in range(1, len(x) - 1):
            if i != j:
                total += w[i - 1] * w[j + 1] * math.exp(-((x[i] - x[j]) ** 2))
    return total


# ----- what stays as it is


def with_themselves(x: "Tensor[float, n]", w: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += w[i] * w[j] / (1.0 + (x[i] - x[j]) ** 2)
    return total


def in_rows(x: "Tensor[float, n, 3]", w: "Tensor[float, n]") -> float:
    """A loop over coordinates within the pair."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                squared = 0.0
                for k in range(3):
                    squared += (x[i, k] - x[j, k]) ** 2
                total += w[i] * w[j] / math.sqrt(squared)
    return total


def crossed(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """Ranges of two arrays."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            if i != j:
                total += 1.0 / (1.0 + (x[i] - y[j]) ** 2)
    return total


def handed_on(x: "Tensor[float, n]", w: "Tensor[float, n]") -> "Tensor[float, n]":
    """Iterations read what others wrote."""
    x = x.copy()
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                x[i] += 0.01 * w[j] / (2.0 + (x[j] - x[i]) ** 2)
    return x


def of_sums(x: "Tensor[float, n]", w: "Tensor[float, n]") -> float:
    """Nothing but sums and products, of which nothing is worth it."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                total += w[i] * w[j] * (x[i] - x[j])
    return total


MET_ONCE = [attracted, energy, softened, turned, chosen, inner]
AS_EVER = [with_themselves, in_rows, crossed, handed_on, of_sums]


def cases(function, n, random):
    x, w = random.normal(size=n), 0.5 + random.random(n)
    if function in (attracted, in_rows):
        return random.normal(size=(n, 3)), w
    if function is energy:
        return x, random.normal(size=n), w, 1.25
    if function is softened:
        return random.normal(size=(n, 2)), w, 0.3
    if function is crossed:
        return x, random.normal(size=n + 2)
    return x, w


def gradient_of(value, random):
    return random.normal(size=np.shape(value)) if np.shape(value) else 1.5


@pytest.mark.parametrize("function", MET_ONCE)
def test_nests_that_meet_pairs_once(function):
    kernel = anew(function)
    source = kernel.vjp.procedure().source
    assert "j < i" in source and "[8] = {}" in source and "!= " not in source
    assert "j < i" not in kernel.source.split("_vjp(")[0]  # the function is as it is written
    assert "lane" in loaded(kernel.vjp)


@pytest.mark.parametrize("function", AS_EVER)
def test_nests_that_stay(function):
    assert "j < i" not in anew(function).vjp.procedure().source


def test_one_root_and_shared_quotients():
    source = anew(attracted).vjp.procedure().source
    assert source.count("three_halves_float64(") == 1
    assert source.count(" / three_halves") == 4


@pytest.mark.parametrize("function", MET_ONCE + AS_EVER)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 9, 40])
def test_slopes_are_those_of_forward_derivatives(function, n):
    if function is inner and n < 3:
        n += 2
    random = np.random.default_rng(n)
    given = cases(function, n, random)
    kernel, slow = anew(function), interpreted(anew(function).vjp)
    value = kernel(*given)
    np.testing.assert_allclose(value, function(*given), rtol=1e-11, atol=1e-11)
    dy = gradient_of(value, random)
    found = parts(kernel.vjp(*given, dy))
    for one, same in zip(found, parts(slow(*given, dy))):
        np.testing.assert_array_equal(one, same)
    directions = [random.normal(size=np.shape(each)) for each in given]
    along = kernel.jvp(*given, *[d if np.shape(d) else float(d) for d in directions])
    in_reverse = sum(np.sum(a * b) for a, b in zip(found, directions))
    np.testing.assert_allclose(np.sum(along * dy), in_reverse, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("function", [attracted, energy, softened])
def test_second_derivatives_are_made_of_all_ordered_pairs(function):
    random = np.random.default_rng(5)
    given = cases(function, 7, random)
    kernel = anew(function)
    dy = gradient_of(kernel(*given), random)
    directions = [random.normal(size=np.shape(each)) for each in given]
    directions = [d if np.shape(d) else float(d) for d in directions]
    zero = np.zeros(np.shape(dy)) if np.shape(dy) else 0.0
    along = parts(kernel.vjp.jvp(*given, dy, *directions, zero))
    step = 1e-5
    ends = [parts(kernel.vjp(*[a + s * d for a, d in zip(given, directions)], dy))
            for s in (step, -step)]  # fmt: skip
    for one, up, down in zip(along, *ends):
        np.testing.assert_allclose(one, (up - down) / (2 * step), rtol=1e-4, atol=1e-4)


def test_bodies_in_one_place():
    """Poles: what is infinite or no number is so in either order of pairs."""
    x = np.array([0.5, 1.0, 0.5, -2.0])
    w = np.array([1.0, 2.0, 0.25, 3.0])
    kernel = anew(turned)
    found = parts(kernel.vjp(x, w, np.ones(4)))
    assert not np.isfinite(found[0][[0, 2]]).any() and np.isfinite(found[0][[1, 3]]).all()
    rest = parts(kernel.vjp(x[[0, 1, 3]], w[[0, 1, 3]], np.ones(3)))
    assert all(np.isfinite(each).all() for each in rest)
