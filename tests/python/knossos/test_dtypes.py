"""Dtypes in kernels: those whose arithmetic is that of kernels, under all of their names."""

# ruff: noqa: F821

import enum

import numpy as np
import pytest
import torch

from composit import knossos
from composit.errors import NotSupported
from composit.knossos import Tensor

X = np.array([-1.5, 0.1, 2.75])
SINGLE, BYTE, DOUBLE, COMPLEX = np.float32(0.1), np.uint8(200), np.float64(0.1), np.complex128(1j)
COUNT = np.int64(7)
LEARNED = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)


class Order(enum.IntEnum):
    FIRST, SECOND = 1, 2


def halves(k: "Tensor[int, n]") -> "Tensor[float, n]":
    return k.astype(float) / 2


def floors(x: "Tensor[float, n]") -> "Tensor[int, n]":
    return np.floor(x * 7).astype(np.int64)


def cut(x: "Tensor[float, n]") -> "Tensor[int, n]":
    return (x * 3).astype(dtype="int64", copy=False)


def truths(x: "Tensor[float, n]") -> "Tensor[bool, n]":
    return (x - 0.1).astype(bool)


def positives(x: "Tensor[float, n]") -> int:
    return int(np.sum((x > 0).astype(int)))


def by_position(x: "Tensor[float, n]") -> "Tensor[float, n]":
    made = (
        np.zeros(3, float) + np.ones((3,), np.float64) + np.full(3, 2, int) + np.empty_like(x) * 0
    )
    return made + np.array([1, 2, 3], "float64") + np.zeros_like(x, x.dtype) + np.asarray(x, float)


def of_the_arguments(k: "Tensor[int, n]") -> "Tensor[int, n]":
    made = np.ones(len(k), dtype=k.dtype)
    made[0] = 7
    return made + k


def own(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.astype(x.dtype)
    y[0] = 5.0
    return y + x


def outside(x: float, k: int) -> float:
    factor = DOUBLE
    if x > 10.0:
        factor = 3
    return DOUBLE * k + max(DOUBLE, x) + factor * COUNT / 3 + k // Order.SECOND


def scalars(x: float, k: int) -> float:
    return np.float64(k) / 3 + np.int64(x) + DOUBLE * np.bool_(x)


KERNELS = [
    (halves, np.array([3, -2, 7])), (floors, X), (cut, X), (truths, X), (positives, X),
    (by_position, X), (of_the_arguments, np.array([3, -2, 7])), (own, X),
    (scalars, 2.5, 4), (outside, 2.5, 4),
]  # fmt: skip


@pytest.mark.parametrize("function, arguments", [(each[0], each[1:]) for each in KERNELS])
def test_values_and_dtypes_are_numpys(function, arguments):
    made, expected = knossos.register(function)(*arguments), function(*arguments)
    assert np.array_equal(made, expected)
    assert np.asarray(made).dtype == np.asarray(expected).dtype


def test_derivatives_pass_floats_and_stop_at_integers():
    own_kernel, scaled = knossos.register(own), knossos.register(by_position)
    assert own_kernel.vjp(X, np.ones(3)).tolist() == [1, 2, 2]
    assert scaled.vjp(X, np.ones(3)).tolist() == [1, 1, 1]


def single_zeros(x: float) -> float:
    y = np.zeros(3, dtype=np.float32)
    y[0] = x
    return y[0]


def short_counts(x: float) -> float:
    return np.arange(3, dtype=np.int32)[1] * x


def as_single(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return x.astype("f4")


def by_position_single(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return np.asarray(x, np.float32)


def single_outside(x: float) -> float:
    return SINGLE * SINGLE + x


def byte_outside(x: int) -> int:
    return BYTE * BYTE + x


def complex_outside(x: float) -> float:
    return (COMPLEX * x).real


def learned_outside(x: float) -> float:
    return LEARNED * x  # whose gradient would be lost


def array_outside(x: float) -> float:
    return X[0] * x


def astype_of_nothing(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return x.astype()


NUMBERS = "A number of Python, float64 or int64 is required: float(…) or int(…) of it, outside of"


@pytest.mark.parametrize(
    "function, argument, message",
    [
        (single_zeros, 0.1, "the dtype `np.float32`. int, float or bool (int64, float64) is"),
        (short_counts, 0.1, "the dtype `np.int32`. int, float or bool (int64, float64) is"),
        (as_single, X, "the dtype `'f4'`. int, float or bool (int64, float64) is required."),
        (by_position_single, X, "the dtype `np.float32`. int, float or bool (int64, float64) is"),
        (single_outside, 0.1, f"`SINGLE` is a number of float32, whose arithmetic kernels have "
         f"not. {NUMBERS}"),
        (byte_outside, 1, f"`BYTE` is a number of uint8, whose arithmetic kernels have not. "
         f"{NUMBERS}"),
        (complex_outside, 1.0, "`COMPLEX` is a number of complex128, whose arithmetic kernels"),
        (learned_outside, 1.0, "`LEARNED` is Tensor, no number. Numbers and tuples of numbers may "
         "come from outside. Arrays and tensors are arguments."),
        (array_outside, 1.0, "`X` is ndarray, no number. Numbers and tuples of numbers may come "
         "from outside. Arrays and tensors are arguments."),
        (astype_of_nothing, X, "astype of other arguments, in `x.astype()`. Give it int, float or"),
    ],
)  # fmt: skip
def test_dtypes_that_would_compute_otherwise_are_refused(function, argument, message):
    with pytest.raises((TypeError, NotSupported)) as refusal:
        knossos.register(function)(argument)
    assert str(refusal.value).startswith(f"{function.__name__}: {message}")
    assert "test_dtypes.py:" in str(refusal.value)
