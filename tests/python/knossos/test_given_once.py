"""Values of several targets, indices that are lists, parts that are returned, and NumPy's
functions of bools, of single numbers and of mixed kinds: as CPython has them, or refused."""

# ruff: noqa: F821

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

X = np.array([1.0, 2.0, 3.0])
A = np.arange(6.0).reshape(2, 3)


def of_itself(a: float, b: float) -> float:
    a = b = a + b
    return 10 * a + b


def of_tuples(a: float, b: float) -> float:
    (a, b) = c = (b, a)
    return 100 * a + 10 * b + c[0]


def with_arrays(a: float, x: "Tensor[float, n]") -> float:
    b = 1.0
    a = b = a + x[0] + b
    return a * 10 + b


def elements(x: "Tensor[float, n]") -> "Tensor[float, n]":
    u = x.copy()
    u[0] = u[1] = u[0] + u[1]
    return u


def rows(x: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    u = x.copy()
    u[0] = u[1] = u[0] + u[1]
    return u


def row_and_name(x: "Tensor[float, n, m]"):
    u = x.copy()
    u[0] = s = u[0] + u[1]
    s[0] = 7.0
    return u, s


def inner(x: "Tensor[float, n]"):
    n = len(x)
    return x[1 : n - 1]


def last(x: "Tensor[float, n]", k: int):
    return x[-k:] * 2


def first_half(x: "Tensor[float, n]"):
    n = len(x)
    y = x[: (n + 1) // 2].copy()
    y[0] = 5.0
    return y


def second_columns(x: "Tensor[float, n]"):
    n = len(x)
    return np.ones((n, 2 * n))[:, n:]


def bools(x: "Tensor[float, n, m]"):
    p = x > 1.5
    return (np.sum(p), np.mean(p), np.any(x > 4), np.all(x > 0), np.count_nonzero(x), np.max(p),
            np.min(p), np.sum(p, axis=0), np.any(p, axis=1), np.all(p, axis=1, keepdims=True),
            p.sum())  # fmt: skip


def mixed(x: "Tensor[int, n]"):
    return np.where(x > 2, x, 0.5), np.zeros_like(x, dtype=float), np.ones_like(x, dtype=bool)


def of_numbers(x: "Tensor[float, n]") -> float:
    return np.max(x @ x) + np.sum(x[0]) + np.mean(3)


def counted(x: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(3):
        total += x[i] * i
    return total * i + sum([total] * 3)


def infinities(x: "Tensor[float, n]"):
    return x * (1 / np.zeros(3)), np.zeros(2) ** -1


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (of_itself, (1.0, 2.0)), (of_tuples, (1.0, 2.0)), (with_arrays, (1.0, X)), (elements, (X,)),
        (rows, (A,)), (row_and_name, (A,)), (inner, (X,)), (last, (X, 2)), (last, (X, 3)),
        (first_half, (X,)), (second_columns, (X,)), (bools, (A,)), (mixed, (np.arange(5),)),
        (of_numbers, (X,)), (counted, (X,)), (infinities, (X,)),
    ],
)  # fmt: skip
def test_as_python(function, arguments):
    with np.errstate(divide="ignore"):
        wanted = function(*arguments)
    made = knossos.register(function)(*arguments)
    both = zip(made, wanted, strict=True) if isinstance(wanted, tuple) else [(made, wanted)]
    for found, expected in both:
        np.testing.assert_array_equal(found, expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype


def by_list(x: "Tensor[float, n, m]"):
    return x[[0, 1]]


def by_named_list(x: "Tensor[float, n, m]"):
    k = [0, 1]
    return x[k]


def swapped(x: "Tensor[float, n, m]"):
    y = x.copy()
    y[[0, 1]] = y[[1, 0]]
    return y


def by_mask(x: "Tensor[float, n, m]"):
    return x[x > 1]


def one_array(x: "Tensor[float, n, m]"):
    y = z = np.zeros(len(x))
    y[0] = 1.0
    return z


def changed_part(x: "Tensor[float, n, m]"):
    y = x.copy()
    row = y[1]
    y[1, 0] = 9.0
    return row, 1.0


def changed_transposed(x: "Tensor[float, n, m]"):
    y = x.copy()
    t = y.T
    y += 1.0
    return t


def rows_swapped(x: "Tensor[float, n, m]"):
    y = x.copy()
    y[0], y[1] = y[1], y[0]
    return y


CHANGED = "whose elements may have changed since: NumPy's would change with them. Write .copy()"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (by_list, "by_list: a list as an index, in `x[[0, 1]]`. Write a loop over the places. ["),
        (by_named_list, "by_named_list: a list as an index, in `x[k]`. Write a loop over"),
        (swapped, "swapped: a list as an index, in `y[[1, 0]]`. Write a loop over the places. ["),
        (by_mask, "by_mask: an array of bools as an index, in `x[x > 1]`. Write a loop over"),
        (one_array, f"one_array: z is a part of y, {CHANGED} where z is assigned. ["),
        (changed_part, f"changed_part: row is a part of y, {CHANGED} where row is assigned. ["),
        (changed_transposed, f"t is a part of y, {CHANGED} where t is assigned. ["),
        (rows_swapped, f"what is read is a part of y, {CHANGED} behind the part. ["),
    ],
)
def test_refusals(function, text):
    with pytest.raises(TypeError) as error:
        knossos.register(function)(A)
    assert text in str(error.value) and "test_given_once.py:" in str(error.value)


def test_results_whose_extents_do_not_fit():
    kernel = knossos.register(last)
    with pytest.raises(ValueError, match=r"last: a slice from -1 to 3 of an axis of 3, in `x\[-k"):
        kernel(X, 4)
    np.testing.assert_array_equal(kernel.vjp(X, 2, np.array([1.0, 2.0])), [0, 2, 4])
