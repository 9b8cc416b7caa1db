"""Comparisons with Python's integers of any size: NumPy's answers."""

import operator

import numpy as np
import pytest

import composit.numpy as cnp

COMPARISONS = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
VALUES = [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30, -(10**30), 300, -1]


@pytest.mark.parametrize("dtype", [*"bBhHiIqQfd"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_know_what_is_larger(name, dtype):
    array = np.array([0, 1, 1], dtype)
    array[2] = np.iinfo(dtype).max if dtype not in "fd" else 2.0**63
    tensor = cnp.asarray(array)
    ufunc, function = getattr(cnp, name), COMPARISONS[name]
    for value in VALUES:
        for ours in (function(tensor, value), ufunc(tensor, value)):
            np.testing.assert_array_equal(ours.evaluated(), function(array, value))
        for ours in (function(value, tensor), ufunc(value, tensor)):
            np.testing.assert_array_equal(ours.evaluated(), function(value, array))


@pytest.mark.parametrize("function", COMPARISONS.values())
def test_no_float_is_as_large(function):
    with pytest.raises(OverflowError):
        function(np.ones(2), 10**400)
    with pytest.raises(OverflowError):
        function(cnp.ones(2), 10**400)
    np.testing.assert_array_equal(
        function(cnp.arange(2), 10**400).evaluated(), function(np.arange(2), 10**400)
    )


def test_clipped_by_what_no_element_reaches():
    array = np.array([-5, 5], "int32")
    for low, high in ((-(10**60), 3), (0, 10**60), (-(10**60), 10**60)):
        clipped = cnp.clip(cnp.asarray(array), low, high)
        np.testing.assert_array_equal(clipped.evaluated(), np.clip(array, low, high))
        assert bool((clipped >= low).all()) and bool((clipped <= high).all())


@pytest.mark.parametrize("shape", [(2**32, 2**32), (2**62 + 1, 4), (-1, 2**33, 2**33), (4, 2**62)])
@pytest.mark.parametrize("length", [0, 4])
def test_lengths_whose_product_is_too_large_are_refused(shape, length):
    """A product of lengths that goes around is not the number of elements."""
    for np_ in (np, cnp):
        with pytest.raises(ValueError):
            np_.reshape(np_.zeros(length), shape)
