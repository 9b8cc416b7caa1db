"""What names outside of a kernel mean is what they mean at its first use, in all dtypes; a
derivative that is given later holds in all kernels that call."""

# ruff: noqa: F821

import types

import numpy as np

from composit import knossos
from composit.knossos import Tensor

N = 5
SETTINGS = types.SimpleNamespace(rate=2.0)
ONE, SINGLE = np.ones(1), np.ones(1, "float32")


def helper(x: float) -> float:
    return x + 1.0


@knossos.register
def times(x: float) -> float:
    return x * N


@knossos.register
def row(x: "Tensor[float, k]") -> "Tensor[float, k]":
    return times(x[0]) + N * x * SETTINGS.rate


@knossos.register
def by_helper(x: float) -> float:
    return helper(x) * SETTINGS.rate


def test_values_at_the_first_use(monkeypatch):
    assert times(1.0) == 5.0 and row(ONE) == 15.0 and by_helper(1.0) == 4.0
    monkeypatch.setitem(globals(), "N", 6)
    monkeypatch.setattr(SETTINGS, "rate", 3.0)
    monkeypatch.setitem(globals(), "helper", np.sin)
    for x in (ONE, SINGLE):
        assert times(x) == 5.0 and times.grad(x) == 5.0 and times.vjp(x, x) == 5.0
        assert row(x) == 15.0 and knossos.vmap(row)(x[None]) == 15.0 and row.vjp(x, x) == 15.0
        assert by_helper(x) == 4.0
    assert "6.0" not in times.source


def test_values_at_the_first_use_of_float32(monkeypatch):
    @knossos.register
    def here(x: float) -> float:
        return x * N

    assert here(SINGLE) == 5.0
    monkeypatch.setitem(globals(), "N", 6)
    assert here(1.0) == here(ONE) == 5.0


def kernels():
    """A kernel, and others whose derivatives are made of its one."""

    @knossos.register
    def square(x: float) -> float:
        return x * x

    @knossos.register
    def caller(x: float) -> float:
        return square(x) * 3.0

    @knossos.register
    def outer(x: float) -> float:
        return caller(x) + x

    @knossos.register
    def slope(x: float) -> float:
        return square.vjp(x, 1.0)

    @knossos.register
    def summed(x: "Tensor[float, k]") -> float:
        s = 0.0
        for v in x:
            s += square(v)
        return s

    return square, (caller.grad, outer.grad, slope, summed.grad, knossos.vmap(square.grad))


def hundredfold(x: float, dy: float) -> float:
    return 100.0 * dy


def twofold(x: float, dy: float, ddx: float) -> tuple[float, float]:
    return 2.0 * ddx, 100.0 * ddx


def test_derivatives_given_after_kernels_that_call_were_used():
    square, derived = kernels()
    assert [each(ONE).item() for each in derived] == [6.0, 7.0, 2.0, 2.0, 2.0]
    given = square.derivative(hundredfold)
    for x in (ONE, SINGLE):
        assert [each(x).item() for each in derived] == [300.0, 301.0, 100.0, 100.0, 100.0]
    assert square.vjp.vjp(ONE, ONE, ONE)[0] == 0.0 and derived[0].grad(ONE) == 0.0
    given.derivative(twofold)  # of which square's own is a part
    for x in (ONE, SINGLE):
        assert square.vjp.vjp(x, x, x)[0] == 2.0
    fresh, others = kernels()
    fresh.derivative(hundredfold)
    for x in (ONE, SINGLE):
        assert [each(x) for each in others] == [each(x) for each in derived]


def test_values_stay_where_a_derivative_is_given(monkeypatch):
    @knossos.register
    def here(x: float) -> float:
        return x * N

    assert here(1.0) == 5.0
    monkeypatch.setitem(globals(), "N", 6)
    here.derivative(hundredfold)
    assert here(1.0) == here(SINGLE) == 5.0 and here.grad(SINGLE) == 100.0
