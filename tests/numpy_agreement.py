"""Calls of functions of NumPy and of composit.numpy, compared: values, dtypes, shapes, errors."""

import warnings

import numpy as np

import composit.numpy as cnp
from composit.types import LazyTensor


def tensors(value):
    """The value with tensors for its ndarrays."""
    if isinstance(value, np.ndarray):
        return cnp.asarray(value)
    if isinstance(value, (tuple, list)):
        return type(value)(tensors(item) for item in value)
    return value


def attempt(call, arguments, keywords):
    """What the call returns, or the class of what it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call(*arguments, **keywords), None
        except Exception as error:
            return None, error


def assert_same(ours, theirs, ulps=0):
    """Equal structure, shapes, dtypes and values; floats within some ulps of the larger operand."""
    if isinstance(theirs, (tuple, list)):
        assert isinstance(ours, (tuple, list)) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            assert_same(a, b, ulps)
        return
    expected = np.asarray(theirs)
    if isinstance(ours, LazyTensor):
        assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
        ours = cnp.evaluate(ours)
    found = np.asarray(ours)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if expected.dtype.kind == "f" and ulps:
        tolerance = ulps * np.finfo(expected.dtype).eps
        finite = expected[np.isfinite(expected)]
        scale = np.abs(finite).max() if finite.size else 0
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)
    else:
        np.testing.assert_array_equal(found, expected)
        if expected.dtype.kind == "f":
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


def assert_agree(ours, theirs, arguments, keywords=None, ulps=0):
    """Both functions, of these arguments, return the same or raise errors of the same class.
    Returns the tensors that were made."""
    keywords = keywords or {}
    expected, wrong = attempt(theirs, arguments, keywords)
    made, error = attempt(
        ours, tensors(tuple(arguments)), {name: tensors(value) for name, value in keywords.items()}
    )
    if wrong is None:
        if error is not None:
            raise AssertionError(f"{theirs.__name__} returns {expected!r}") from error
        assert_same(made, expected, ulps)
        return list(leaves(made))
    assert error is not None, f"NumPy raises {wrong!r}; composit returned {made!r}"
    assert isinstance(error, type(wrong)) or isinstance(wrong, type(error)), (
        f"NumPy raises {wrong!r}; composit {error!r}"
    )
    return []


def leaves(made):
    """The tensors in what a function returned."""
    if isinstance(made, LazyTensor):
        yield made
    elif isinstance(made, (tuple, list)):
        for item in made:
            yield from leaves(item)


def assert_compiled_equals_interpreted(made):
    """The same bits from the interpreter and from compiled C++; one program of all."""
    if not made:
        return
    some = made[0]
    interpreted = cnp.evaluate(some, *made)
    compiled = cnp.evaluate(some, *made, backend="cpp")
    for a, b in zip(interpreted, compiled):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        assert a.dtype.kind == "f" or a.tobytes() == b.tobytes()
