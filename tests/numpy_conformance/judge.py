"""What comes of one call of a function of NumPy and of composit's: equal bits, so many ulps of
difference, or how they deviate."""

import copy
import warnings
from dataclasses import dataclass

import numpy as np

import composit.numpy as cnp
from composit.errors import NotSupported
from composit.types import LazyTensor

# Differences beyond this many ulps count as other values.
ULPS = 4096


class Deviation(Exception):
    """How a result differs, in a word or two."""


@dataclass
class View:
    """An operand with other strides than a contiguous array's: a step, or swapped axes."""

    array: np.ndarray
    step: bool

    def of(self, make):
        """The view, of what `make` makes of the array under it."""
        if self.step:
            return make(np.repeat(self.array, 2, -1))[..., ::2]
        return make(np.ascontiguousarray(self.array.T)).T


def numpys(value):
    """The argument as NumPy gets it: its own copy."""
    if isinstance(value, View):
        return value.of(np.array)
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (tuple, list)):
        return type(value)(numpys(item) for item in value)
    return copy.copy(value)


def composits(value):
    """The argument with tensors for its arrays."""
    if isinstance(value, View):
        return value.of(cnp.array)
    if isinstance(value, np.ndarray):
        return cnp.asarray(value.copy())
    if isinstance(value, (tuple, list)):
        return type(value)(composits(item) for item in value)
    return copy.copy(value)


def outcome_of(function, arguments, keywords):
    """What a function returns, evaluated, or the exception that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return evaluated(function(*arguments, **keywords))
        except Exception as error:
            return error


def evaluated(value):
    """The value with arrays for its tensors, whose shape and dtype are what they said."""
    if isinstance(value, LazyTensor):
        made = cnp.evaluate(value)
        if (made.shape, made.dtype) != (value.shape, value.dtype):
            raise AssertionError(f"{value!r} evaluates to {made.dtype}{made.shape}")
        return made
    if isinstance(value, (tuple, list)):
        items = [evaluated(item) for item in value]
        return items if type(value) is list else tuple(items)
    return value


def public_class(error):
    """The first class of an error that users can name and that says more than its base."""
    modules = ("builtins", "numpy.exceptions", "numpy.linalg")
    classes = (c for c in type(error).__mro__ if c.__module__ in modules)
    return next(c for c in classes if c is not np.exceptions.DTypePromotionError)


def judge(ours, theirs, scale, values=True):
    """Ulps between two results; Deviation where more than roundings differ."""
    if isinstance(theirs, Exception):
        if not isinstance(ours, Exception):
            raise Deviation(f"returns where NumPy raises {public_class(theirs).__name__}")
        if isinstance(ours, public_class(theirs)):
            return 0.0
        if isinstance(ours, NotSupported):
            return 0.0  # both refuse
        kinds = f"{public_class(ours).__name__} where NumPy raises {public_class(theirs).__name__}"
        raise Deviation(f"raises {kinds}")
    if isinstance(ours, (TypeError, NotSupported)) and has_no_numbers(theirs):
        return 0.0
    if isinstance(ours, NotSupported):
        raise Deviation("refused")
    if isinstance(ours, Exception):
        raise Deviation(f"raises {public_class(ours).__name__}")
    return difference(ours, theirs, scale, values)


def has_no_numbers(value):
    """Whether NumPy returned objects, texts, dates or records."""
    if isinstance(value, (tuple, list)):
        return any(has_no_numbers(item) for item in value)
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "biufc"


def difference(ours, theirs, scale, values=True):
    """Ulps between what two functions returned."""
    if isinstance(theirs, (tuple, list)):
        if not isinstance(ours, list if isinstance(theirs, list) else tuple):
            raise Deviation(f"returns {type(ours).__name__} for {type(theirs).__name__}")
        if len(ours) != len(theirs):
            raise Deviation("returns another number of results")
        return max((difference(a, b, scale, values) for a, b in zip(ours, theirs)), default=0.0)
    if not isinstance(theirs, (np.ndarray, np.generic)):
        if isinstance(ours, np.ndarray) and not isinstance(theirs, (type, str, np.dtype)):
            return difference(ours, np.asarray(theirs), scale, values)
        are_nan = ours != ours and theirs != theirs
        if ours is not theirs and not (type(ours) is type(theirs) and (ours == theirs or are_nan)):
            raise Deviation("returns another value")
        return 0.0
    if not isinstance(ours, (np.ndarray, np.generic)):
        raise Deviation(f"returns {type(ours).__name__} for an array")
    expected, found = np.asarray(theirs), np.asarray(ours)
    if found.shape != expected.shape:
        raise Deviation("another shape")
    if found.dtype != expected.dtype:
        raise Deviation("another dtype")
    return distance(found, expected, scale) if values else 0.0


def distance(found, expected, scale):
    """Ulps between arrays of one dtype: of each element, or where scale is a number, of the larger
    of it and the largest result."""
    if expected.dtype.kind not in "fc":
        if not np.array_equal(found, expected):
            raise Deviation("other values")
        return 0.0
    kinds = [expected.real, expected.imag] if expected.dtype.kind == "c" else [expected]
    parts = [found.real, found.imag] if expected.dtype.kind == "c" else [found]
    for a, b in zip(parts, kinds):
        same = (np.isnan(a) == np.isnan(b)) & (np.isinf(a) == np.isinf(b))
        same &= ~np.isinf(a) | (np.signbit(a) == np.signbit(b))
        if not same.all():
            raise Deviation("other special values")
        zeros = (a == 0) & (b == 0)
        if (np.signbit(a) != np.signbit(b))[zeros].any() and scale is None:
            raise Deviation("another sign of zero")
    finite = np.isfinite(expected)
    if not finite.any():
        return 0.0
    other_zeros = any(((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))).any()
                      for a, b in zip(parts, kinds))  # fmt: skip
    with np.errstate(all="ignore"):
        size = np.max(np.abs(kinds), axis=0)
        if scale is not None:
            size = np.maximum(size, max(size[finite].max(), scale))
        real = kinds[0].dtype
        size = np.where(finite & (size < np.finfo(real).max), size, 1).astype(real)
        # A type twice as wide holds the difference of any two.
        wide = [np.abs(a.astype("longdouble") - b) for a, b in zip(parts, kinds)]
        ulps = np.max([np.where(np.isfinite(w), w, 0) for w in wide], axis=0) / np.spacing(size)
    most = max(float(np.where(finite, ulps, 0).max()), 1.0 if other_zeros else 0.0)
    if most > ULPS:
        raise Deviation("other values")
    return most
