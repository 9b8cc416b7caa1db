"""Operations in place, `k += …`, of arrays, which keep their dtype, as NumPy's do."""

# ruff: noqa: F821

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

X = np.array([1.5, -1.0, 2.5])


def int_plus_float(x: "Tensor[float, n]") -> "Tensor[float, n]":
    k = np.zeros(len(x), dtype=int)
    k += 1.7
    return k * x


def int_divided(x: "Tensor[float, n]") -> "Tensor[float, n]":
    k = np.ones(len(x), dtype=int)
    k /= 2
    return k * x


def int_times_array(x: "Tensor[float, n]") -> "Tensor[float, n]":
    k = np.ones(len(x), dtype=int)
    k *= x
    return k * x


def bool_plus_int(x: "Tensor[float, n]") -> "Tensor[float, n]":
    p = x > 0.0
    p += 1
    return p * x


def bool_or_int(x: "Tensor[float, n]") -> "Tensor[float, n]":
    p = x > 0.0
    p |= 1
    return p * x


def bool_rounded(x: "Tensor[float, n]") -> "Tensor[float, n]":
    p = x > 0.0
    p //= x < 2.0
    return p * x


def part_plus_float(x: "Tensor[float, n]") -> "Tensor[float, n]":
    k = np.zeros((2, len(x)), dtype=int)
    k[0] += x
    return k[0] * x


def slice_divided(x: "Tensor[float, n]") -> "Tensor[float, n]":
    k = np.arange(len(x))
    k[1:] /= 2
    return k * x


REFUSED = [
    (int_plus_float, "`k += 1.7` puts floats into an array of int. Write k = k + 1.7."),
    (int_divided, "`k /= 2` puts floats into an array of int. Write k = k / 2."),
    (int_times_array, "`k *= x` puts floats into an array of int. Write k = k * x."),
    (bool_plus_int, "`p += 1` puts ints into an array of bool. Write p = p + 1."),
    (bool_or_int, "`p |= 1` puts ints into an array of bool. Write p = p | 1."),
    (bool_rounded, "puts ints into an array of bool. Write p = p // (x < 2.0)."),
    (part_plus_float, "`k[0] += x` puts floats into an array of int. An array of float is req"),
    (slice_divided, "`k[1:] /= 2` puts floats into an array of int. An array of float is requi"),
]


@pytest.mark.parametrize("function, text", REFUSED, ids=lambda each: getattr(each, "__name__", ""))
def test_what_numpy_refuses(function, text):
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        function(X)
    with pytest.raises(TypeError) as error:
        knossos.register(function)(X)
    line = function.__code__.co_firstlineno + 2
    assert text in str(error.value) and f"test_in_place.py:{line}]" in str(error.value)


def bools(x: "Tensor[float, n]") -> "Tensor[float, n]":
    p = x > 0.0
    p &= x < 2.0
    p |= True
    p ^= x > 1.0
    p += x < 0.0
    p *= x < 5.0
    return p * x


def ints(x: "Tensor[float, n]") -> "Tensor[float, n]":
    k = np.arange(len(x))
    k += 1
    k *= 3
    k -= x > 0.0
    k //= 2
    k[1:] += x[1:] > 0.0
    return k * x


def floats(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.copy()
    y += 1
    y /= 2
    y *= x > 0.0
    y **= 2
    y[1:] -= 1
    return y


def written_out(x: "Tensor[float, n]") -> "Tensor[float, n]":
    k = np.zeros(len(x), dtype=int)
    k = k + 1.7
    k /= 2
    return k * x


@pytest.mark.parametrize("function", [bools, ints, floats, written_out])
def test_what_numpy_takes(function):
    assert np.array_equal(knossos.register(function)(X), function(X))
