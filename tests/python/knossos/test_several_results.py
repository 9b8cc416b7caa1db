"""Functions of several results within kernels of numbers, which become part of them, and the
derivatives of kernels of many numbers, in reverse."""

import inspect
import math
from typing import NamedTuple

import numpy as np
import pytest

import composit
from composit import knossos
from composit.knossos import Tensor


class Point(NamedTuple):
    x: float
    y: float


def turned(p: Point, angle: float) -> Point:
    c, s = math.cos(angle), math.sin(angle)
    return Point(p.x * c - p.y * s, p.x * s + p.y * c)


def inside(p: Point, radius: float) -> Point:
    """Two returns."""
    length = math.sqrt(p.x * p.x + p.y * p.y)
    if length <= radius:
        return p
    return Point(p.x * radius / length, p.y * radius / length)


def twice(p: Point, angle: float, c: float) -> float:
    """The same function two times, beside variables of the names that it has itself."""
    s = c * 2.0
    first = turned(Point(p.x + c, p.y - s), angle)
    second = turned(first, angle * 0.5)
    return first.x * second.y + c + s * second.x


def bounded(a: Point, b: Point, radius: float, angle: float) -> float:
    p = inside(Point(a.x - b.x, a.y - b.y), radius)
    return turned(p, angle).x * b.x + p.y


def chosen(a: Point, b: Point, radius: float) -> float:
    return inside(a, radius).x if a.x > b.x else inside(b, radius * 2.0).y


def repeated(p: Point, angle: float, n: int) -> float:
    while turned(p, angle).x > 0.0 and n > 0:
        p = turned(p, angle)
        n -= 1
    return p.x + p.y


POINTS = {twice: 4, bounded: 6, chosen: 5, repeated: 3}


def packed(function, numbers):
    """The arguments of a function, of numbers."""
    given, numbers = [], list(numbers)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.annotation is Point:
            given.append(Point(numbers.pop(0), numbers.pop(0)))
        else:
            given.append(5 if parameter.annotation is int else numbers.pop(0))
    return given


@pytest.mark.parametrize("function", POINTS, ids=lambda f: f.__name__)
def test_values_are_cpythons_and_slopes_those_of_differences(function):
    kernel, random = knossos.register(function), np.random.default_rng(0)
    for _ in range(50):
        numbers = random.normal(size=POINTS[function])
        given = packed(function, numbers)
        wanted = function(*given)
        assert math.isclose(kernel(*given), wanted, rel_tol=1e-13, abs_tol=1e-15)
        found = kernel.vjp(*numbers, *[5] * (function is repeated), 1.0)
        for k, slope in enumerate(found):
            step = np.zeros(len(numbers))
            step[k] = 1e-6
            above, below = (function(*packed(function, numbers + s * step)) for s in (1, -1))
            assert math.isclose((above - below) / 2e-6, slope, rel_tol=1e-5, abs_tol=1e-6)


@pytest.mark.parametrize("function", POINTS, ids=lambda f: f.__name__)
def test_they_are_statements(function):
    source = knossos.register(function).procedure().source
    assert "_kernel" not in source


def test_variables_keep_their_names_where_they_are_free():
    source = knossos.register(twice).procedure().source
    assert "const double c_2 = cos_float64(angle)" in source
    assert "const double length = square_root" in knossos.register(bounded).procedure().source


def test_a_part_is_no_variable_of_a_like_name():
    def apart(a: float) -> float:
        w_x = a * 10.0
        w = Point(a, 2.0 * a)
        return w_x + w.x + w.y

    def argument(w: Point, w_x: float) -> float:
        return w.x + 100.0 * w_x

    def of_tuples(a: float) -> float:
        w = (a, a + 1.0)
        w_0 = 7.0
        return w[0] + w_0

    assert knossos.register(apart)(1.0) == 13.0
    assert knossos.register(argument)(Point(1.0, 2.0), 5.0) == 501.0
    assert knossos.register(of_tuples)(1.0) == 8.0


class Range(NamedTuple):
    begin: int
    end: int


def test_a_loops_bound_stays_though_the_record_changes():
    def count(r: Range, a: float) -> float:
        for i in range(r.begin, r.end):
            r = Range(r.begin, r.end + 1)
            a += i
        return a + r.end

    assert knossos.register(count)(Range(2, 5), 0.5) == count(Range(2, 5), 0.5)


# ----- in reverse


def of_six(a: float, b: float, c: float, d: float, e: float, f: float) -> float:
    if a * b > 0:
        g = math.exp(a * 0.1) / (1 + b * b)
    else:
        g = a * c - d
        if e > 0:
            return g * math.tanh(f)
    return g * c + d * math.sin(e * f)


def test_bits_of_gradients_are_those_of_graphs():
    kernel, random = knossos.register(of_six), np.random.default_rng(1)
    x = random.normal(size=(6, 100))
    wanted = kernel.vjp(*x, np.ones(100))
    found = composit.grad(lambda *x: composit.sum(kernel(*x)), argnums=tuple(range(6)))(*x)
    for one, other in zip(wanted, found):
        np.testing.assert_array_equal(one, composit.evaluate(other))


def test_forward_and_reverse_agree():
    kernel, random = knossos.register(of_six), np.random.default_rng(2)
    x, dx = random.normal(size=(6, 100)), random.normal(size=(6, 100))
    along = sum(d * g for d, g in zip(dx, kernel.vjp(*x, np.ones(100))))
    np.testing.assert_allclose(kernel.jvp(*x, *dx), along, rtol=1e-12, atol=1e-13)
    # The gradient of the gradient.
    slopes = kernel.vjp.jvp(*x, np.ones(100), *dx, np.zeros(100))
    above, below = (kernel.vjp(*(x + s * 1e-6 * dx), np.ones(100)) for s in (1, -1))
    for found, a, b in zip(slopes, above, below):
        np.testing.assert_allclose(found, (a - b) / 2e-6, rtol=1e-5, atol=1e-6)


def test_a_parameter_that_becomes_another_was_itself_before():
    def of_five(x: float, y: float, z: float, u: float, v: float) -> float:
        if x > 0:
            return x + y * u
        y = z
        return y * v

    kernel = knossos.register(of_five)
    assert kernel.vjp(1.0, 2.0, 3.0, 4.0, 5.0, 1.0) == (1.0, 4.0, 0.0, 2.0, 0.0)
    assert kernel.vjp(-1.0, 2.0, 3.0, 4.0, 5.0, 1.0) == (0.0, 0.0, 5.0, 0.0, 3.0)

    def of_arrays(x: "Tensor[float, n]", y: float, z: float) -> float:  # noqa: F821
        total = y * x[0]
        if x[0] > 0:
            y = z
        return total + y * x[1]

    found = knossos.register(of_arrays).vjp(np.array([2.0, 3.0]), 5.0, 7.0, 1.0)
    np.testing.assert_array_equal(found[0], [5.0, 7.0])
    assert found[1:] == (2.0, 3.0)


def test_many_numbers_have_few_lines():
    python = sum(bool(line.strip()) for each in (bounded, inside, turned)
                 for line in inspect.getsource(each).splitlines())  # fmt: skip
    made = knossos.register(bounded).vjp.procedure().source.splitlines()
    count = sum(bool(line.strip()) and not line.strip().startswith("//") for line in made)
    assert count <= 4 * python
