"""Calls of kernels with arrays: the first, those that go straight to compiled code, and all that
need a conversion, or are refused, in between."""

# ruff: noqa: F821

from typing import NamedTuple

import numpy as np
import pytest

import composit
from composit import knossos
from composit.knossos import Tensor


class Pair(NamedTuple):
    a: float
    b: float


def several(
    x: "Tensor[float, n, 2]", k: int, w: float, is_twice: bool, places: "Tensor[int, m]",
    more: "Tensor[float, m]",
) -> "tuple[Tensor[float, n], float, Tensor[int, m], int]":  # fmt: skip
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = w * x[i, 0] + x[i, k]
        if is_twice:
            y[i] *= 2.0
    moved = places.copy()
    total = 0.0
    for i in range(len(places)):
        moved[i] = places[i] + k
        total += more[i]
    return y, total, moved, k + 1


X = np.arange(6.0).reshape(3, 2)
GIVEN = (X, 1, 0.5, True, np.array([4, 5]), np.array([0.25, 0.5]))
OTHERS = {
    "lists": (X.tolist(), 1, 0.5, True, [4, 5], [0.25, 0.5]),
    "integers for floats": (X.astype(int), 1, 0.5, True, np.array([4, 5]), np.array([0.25, 0.5])),
    "strides": (np.asfortranarray(X), 1, 0.5, True, np.array([4, 9, 5])[::2],
                np.array([0.25, 9, 0.5])[::2]),
    "other integers": (X, np.int32(1), np.float64(0.5), np.True_, np.array([4, 5], "int32"),
                       np.array([0.25, 0.5])),
    "subclasses": (X.view(type("Own", (np.ndarray,), {})), 1, 0.5, True, *GIVEN[4:]),
}  # fmt: skip


def same(found, wanted):
    assert type(found) is tuple and len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)


@pytest.mark.parametrize("name", OTHERS)
def test_every_call_is_the_first_ones(name):
    kernel = knossos.register(several)
    kernel._use(None)
    wanted = kernel(*GIVEN)
    np.testing.assert_array_equal(wanted[0], [2.0, 8.0, 14.0])
    assert wanted[1] == 0.75 and list(wanted[2]) == [5, 6] and wanted[3] == 2
    for given in (GIVEN, OTHERS[name], GIVEN):
        same(kernel(*given), wanted)
    kernel._use(None)
    same(kernel(*OTHERS[name]), wanted)
    same(kernel(*GIVEN), wanted)


def test_single_precision_before_and_after_double():
    kernel = knossos.register(several)
    kernel._use(None)
    single = (X.astype("float32"), *GIVEN[1:5], GIVEN[5].astype("float32"))
    for given, dtype in [(single, "float32"), (GIVEN, "float64"), (GIVEN, "float64"),
                         (single, "float32"), (GIVEN, "float64")]:  # fmt: skip
        assert kernel(*given)[0].dtype == dtype


@pytest.mark.parametrize(
    ("changed", "kind", "match"),
    [
        ({0: X[0]}, ValueError, "stands for one of 2 axes"),
        ({0: X[:, :1]}, ValueError, "has the shape"),
        ({5: np.ones(3)}, ValueError, r"more has the shape \[3\]. \[2\] is required"),
        ({1: 2}, IndexError, "several"),
        ({1: 1.5}, TypeError, "of type int"),
        ({1: True}, None, ""),
        ({1: 2**70}, (OverflowError, TypeError), None),
        ({3: 0.5}, TypeError, "of type bool"),
        ({4: np.array([0.5, 1.5])}, TypeError, "Elements of that type"),
        ({0: X + 0j}, TypeError, "Real numbers are required"),
    ],
)
def test_what_is_refused_stays_refused(changed, kind, match):
    kernel = knossos.register(several)
    given = tuple(changed.get(i, each) for i, each in enumerate(GIVEN))
    kernel._use(None)
    outcomes = []
    for _ in range(3):  # the first call, one after it, and one after a good one
        if kind is None:
            outcomes.append(kernel(*given)[1])
        else:
            with pytest.raises(kind, match=match) as caught:
                kernel(*given)
            outcomes.append(str(caught.value).partition(" [")[0])
        kernel(*GIVEN)
    assert len(set(outcomes)) == 1
    with pytest.raises(TypeError, match="6 are required"):
        kernel(*GIVEN[:5])


def test_records_and_empty_arrays():
    @knossos.register
    def scaled(p: Pair, x: "Tensor[float, n]") -> "Tensor[float, n]":
        return p.a * x + p.b

    @knossos.register
    def shifted(x: "Tensor[float, n]", by: float) -> "Tensor[float, n]":
        return x + by

    for _ in range(2):
        np.testing.assert_array_equal(scaled(Pair(2.0, 1.0), np.arange(3.0)), [1, 3, 5])
        assert shifted(np.zeros(0), 1.0).shape == (0,)
        np.testing.assert_array_equal(shifted(np.arange(2.0), 1.0), [1, 2])


def test_tensors_and_derivatives_behind_the_first_call():
    @knossos.register
    def squares(x: "Tensor[float, n]") -> float:
        return np.sum(x * x)

    x = np.arange(4.0)
    for _ in range(2):
        assert squares(x) == 14
        assert composit.evaluate(squares(composit.asarray(x))) == 14
        np.testing.assert_array_equal(squares.grad(x), 2 * x)
        np.testing.assert_array_equal(squares.vjp(x, 0.5), x)

    @squares.derivative
    def ones(x: "Tensor[float, n]", dy: float) -> "Tensor[float, n]":
        return np.ones(len(x)) * dy

    np.testing.assert_array_equal(squares.grad(x), np.ones(4))
    assert squares(x) == 14


def test_results_are_arrays_of_their_own():
    @knossos.register
    def copied(x: "Tensor[float, n]") -> "Tensor[float, n]":
        return 1.0 * x

    x = np.arange(3.0)
    first, second = copied(x), copied(x)
    third = copied(x)
    third[0] = 9
    assert first[0] == second[0] == x[0] == 0 and third.flags.writeable
