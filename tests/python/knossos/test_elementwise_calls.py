"""Calls of kernels of numbers with arrays: the short way that plain arrays take after the first
call gives what the general one gives, and whatever else is given still takes the general one."""

import numpy as np
import pytest

import composit.numpy as cnp
from composit import knossos


def fresh():
    @knossos.register
    def squared_or_less(x: float, y: float) -> float:
        return x * x if x < y else y

    return squared_or_less


def wanted(x, y):
    return np.where(np.less(x, y), np.multiply(x, x), np.asarray(y)).astype(np.result_type(x, y))


SINGLE = np.linspace(-2, 2, 7, dtype="float32")
DOUBLE = np.linspace(-2, 2, 12).reshape(3, 4)


def test_calls_one_after_the_other_of_every_kind():
    kernel = fresh()
    calls = [
        (SINGLE, SINGLE[::-1].copy()), (SINGLE, SINGLE[::-1]), (DOUBLE, DOUBLE * 0.5),
        (SINGLE, SINGLE * 2), (DOUBLE[:, ::2], DOUBLE[:, 1::2]), (DOUBLE, DOUBLE[0]),
        (DOUBLE, 0.5), (SINGLE[:0], SINGLE[:0]), (DOUBLE, np.asfortranarray(DOUBLE * 3)),
    ]  # fmt: skip
    for x, y in calls + calls[::-1]:
        made = kernel(x, y)
        assert type(made) is np.ndarray
        np.testing.assert_array_equal(made, wanted(x, y), strict=True)
    assert kernel(2, 3.0) == 4.0 and type(kernel(1.0, 3.0)) is float


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_without_axes_give_numbers(dtype):
    kernel = fresh()
    x, y = np.array(1.5, dtype), np.array(2.0, dtype)
    for _ in range(3):  # the general way, then the short one
        made = kernel(x, y)
        assert made == 2.25 and type(made) is np.dtype(dtype).type
        assert type(kernel(SINGLE.astype(dtype), SINGLE.astype(dtype))) is np.ndarray


def test_arrays_of_other_kinds_after_plain_ones():
    kernel = fresh()
    kernel(DOUBLE, DOUBLE)
    with pytest.raises(TypeError, match="given a masked array"):
        kernel(np.ma.masked_array(DOUBLE), DOUBLE)
    lazy = kernel(cnp.asarray(DOUBLE), DOUBLE)
    assert not isinstance(lazy, np.ndarray)
    np.testing.assert_array_equal(np.asarray(lazy), wanted(DOUBLE, DOUBLE))
    with pytest.raises(TypeError, match=r"got 1 arguments\. 2 are required"):
        kernel(DOUBLE)
    with pytest.raises(ValueError, match=r"(?i)shape|broadcast"):
        kernel(DOUBLE, SINGLE.astype("float64"))


def test_a_derivative_that_is_given_later_is_used():
    kernel = fresh()
    ones = np.ones_like(DOUBLE)
    before = kernel.vjp(DOUBLE, 9 * ones, ones)[0]
    np.testing.assert_array_equal(kernel.vjp(DOUBLE, 9 * ones, ones)[0], before)

    @kernel.derivative
    def halves(x: float, y: float, dy: float) -> tuple[float, float]:
        return 0.5 * dy, 0.0

    np.testing.assert_array_equal(kernel.vjp(DOUBLE, 9 * ones, ones)[0], 0.5 * ones)
