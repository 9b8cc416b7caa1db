"""A function of composit.numpy against NumPy's: values, dtypes, shapes, classes of errors, and the
same bits compiled."""

import warnings

import numpy as np

import composit
import composit.numpy as cnp


def of_numpy(name, args, options):
    """What NumPy returns, or the exception that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return getattr(np, name)(*args, **options)
        except Exception as error:
            return error


def several(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def same_value(got, expected, ulp, label, scale=None):
    """Equal dtypes, shapes and elements; floats within so many ulp of themselves or of `scale`; the
    signs of zeros, too, where ulp is 0."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), label
    if expected.dtype.kind == "c":
        same_value(got.real, expected.real, ulp, label, scale)
        same_value(got.imag, expected.imag, ulp, label, scale)
        return
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected, label)
        return
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(got), finite, label)
    np.testing.assert_array_equal(got[~finite], expected[~finite], label)
    if ulp == 0:
        np.testing.assert_array_equal(got, expected, label)
        np.testing.assert_array_equal(np.signbit(got)[finite], np.signbit(expected)[finite], label)
        return
    size = np.abs(expected) if scale is None else np.maximum(np.abs(expected), scale)
    with np.errstate(all="ignore"):
        limit = ulp * np.spacing(np.where(finite, size, 1).astype(expected.dtype))
        assert (np.abs(got - expected)[finite] <= limit[finite]).all(), (label, got, expected)


def agrees(name, *args, ulp=0, scale=None, **options):
    """That composit's function returns or raises what NumPy's does for these; arrays among `args`
    become tensors."""
    label = f"{name}{args}{options}"
    expected = of_numpy(name, args, options)
    tensors = [cnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    if isinstance(expected, Exception):
        # NumPy's own classes are not all public: the first base that is.
        classes = type(expected).__mro__
        kind = next(c for c in classes if c.__module__ in ("builtins", "numpy.exceptions"))
        try:
            composit.evaluate(getattr(cnp, name)(*tensors, **options))
        except kind:
            return
        raise AssertionError(f"{label}: NumPy raises {expected!r}")
    made = getattr(cnp, name)(*tensors, **options)
    if isinstance(made, bool):
        assert made is expected, label
        return
    results, wanted = several(made), [np.asarray(value) for value in several(expected)]
    assert len(results) == len(wanted), label
    for tensor, value in zip(results, wanted):
        assert (tensor.dtype, tensor.shape) == (value.dtype, value.shape), label
        same_value(np.asarray(tensor), value, ulp, label, scale)


def same_bits_compiled(function, *arrays):
    """That the compiled function returns the interpreter's bytes; any NaN is any NaN."""
    interpreted = several(function(*[cnp.asarray(a) for a in arrays]))
    compiled = several(composit.compile(function, *arrays)(*arrays))
    assert len(interpreted) == len(compiled)
    for tensor, value in zip(interpreted, compiled):
        expected = np.asarray(tensor)
        parts = [(value, expected)]
        if expected.dtype.kind == "c":
            parts = [(value.real, expected.real), (value.imag, expected.imag)]
        for found, like in parts:
            np.testing.assert_array_equal(found, like)
            if like.dtype.kind == "f":
                is_number = ~np.isnan(like)
                np.testing.assert_array_equal(
                    np.signbit(found)[is_number], np.signbit(like)[is_number]
                )
