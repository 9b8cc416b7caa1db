"""What Generator and RandomState share: outputs, elements chosen or put in order."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, not_implemented, type_error, value_error, with_location
from composit._floating_point import in_default_state
from composit.numpy._outputs import the_output
from composit.numpy.creation import asarray

float64, float32 = np.dtype(np.float64), np.dtype(np.float32)
int64 = np.dtype(np.int64)


def written(function: str, out: Any, size: Any, dtype: Any, draw: Any, is_exact: bool) -> Any:
    """draw(shape) in `out`, which must have this dtype, and this size if there is one; an array in
    Fortran's order is filled in that order, but for draws of broadcast parameters."""
    out = the_output(out)
    if not isinstance(out, (np.ndarray, LazyTensor)):
        raise type_error(f"{function}: out is {out!r}. An array is required.")
    is_fortran = False
    if isinstance(out, np.ndarray):
        is_fortran = out.flags.f_contiguous and not out.flags.c_contiguous
    if isinstance(out, np.ndarray) and not (
        (out.flags.c_contiguous or (is_fortran and not is_exact))
        and out.flags.writeable and out.flags.aligned and out.dtype.isnative
    ):  # fmt: skip
        message = "Supplied output array must be contiguous, writable, aligned, and in machine byte"
        raise value_error(f"{function}: {message}-order.")
    if out.dtype != dtype:
        message = f"Supplied output array has the wrong type. Expected {dtype}, got {out.dtype}"
        raise type_error(f"{function}: {message}")
    if size is not None and tuple(_core.integers(size)) != out.shape:
        message = "size must match out.shape when used together"
        raise value_error(f"{function}: {message}")
    if isinstance(out, LazyTensor):
        out.replaced(draw(out.shape))
    elif is_fortran:
        np.copyto(out.T, draw(out.T.shape).evaluated())
    else:
        np.copyto(out, draw(out.shape).evaluated())
    return out


def population(a: Any, axis: Any = 0) -> tuple[int, Any]:
    """How many elements there are to choose from, and where: None for the integers below."""
    if not isinstance(a, LazyTensor):
        try:
            return operator.index(a), None
        except TypeError:
            pass
        array = np.asarray(a)
        if array.ndim == 0:
            try:
                return operator.index(array.item()), None
            except TypeError:
                message = f"a must be a sequence or an integer, not {type(a)}"
                raise value_error(f"choice: {message}") from None
        a = tensor_or_array(a, array)
    if a.ndim == 0:
        return int(a), None
    return a.shape[axis], a


def tensor_or_array(a: Any, array: np.ndarray | None = None) -> Any:
    """As a tensor, if its dtype has numbers; else the array, whose elements NumPy moves."""
    if isinstance(a, LazyTensor):
        return a
    array = np.asarray(a) if array is None else array
    return asarray(array) if array.dtype.kind in "biufc" else array


def taken(a: Any, places: LazyTensor, axis: int) -> Any:
    """The elements at these places along an axis."""
    if isinstance(a, np.ndarray):
        return a.take(places.evaluated(), axis=axis)
    return _core.numpy.take(a, places, axis, "raise")


def shuffle(order: Any, x: Any, axis: Any) -> None:
    """x in another order, in place: a tensor, an array or a sequence; order(n) draws it."""
    count = len(x)
    if isinstance(x, (np.ndarray, LazyTensor)):
        if isinstance(x, np.ndarray) and not x.flags.writeable:
            raise value_error("shuffle: array is read-only")
        place = normalized("shuffle", axis, x.ndim)
        if x.size != 0:
            x[...] = taken(x, order(x.shape[place]), place)
        return
    if not isinstance(x, Sequence):
        warnings.warn(
            f"you are shuffling a '{type(x).__name__}' object which is not a subclass of "
            "'Sequence'; `shuffle` is not guaranteed to behave correctly.",
            UserWarning,
            stacklevel=3,
        )
    if axis != 0:
        raise not_implemented("shuffle: Axis argument is only supported on ndarray objects")
    items = [x[place] for place in order(count).evaluated().tolist()]
    for place, item in enumerate(items):
        x[place] = item  # type: ignore[index]


def permutation(order: Any, x: Any, axis: Any) -> Any:
    """The integers below x, or its elements along an axis, in random order."""
    if isinstance(x, (int, np.integer)):
        return order(max(int(x), 0))
    tensor = tensor_or_array(x)
    place = normalized("permutation", axis, tensor.ndim)
    return taken(tensor, order(tensor.shape[place]), place)


def normalized(function: str, axis: Any, ndim: int) -> int:
    """From 0 on; AxisError."""
    place = operator.index(axis)
    if not -ndim <= place < ndim:
        message = f"{function}: axis {axis} is out of bounds for array of dimension {ndim}"
        raise np.exceptions.AxisError(with_location(message))
    return place % ndim


def with_covariance(
    normal: Any, mean: Any, cov: Any, size: Any, check_valid: str, tol: float, method: str,
    is_legacy: bool = False,
) -> LazyTensor:  # fmt: skip
    """multivariate_normal, from normal(shape): NumPy's own sums of products, for its bits."""

    @in_default_state
    def fail(message: str, kind: type[Exception] = ValueError) -> None:
        raise kind(with_location(f"multivariate_normal: {message}"))

    if method not in ("eigh", "svd", "cholesky"):
        fail("method must be one of {'eigh', 'svd', 'cholesky'}")
    center, covariance = (np.array(x.evaluated() if isinstance(x, LazyTensor) else x)
                          for x in (mean, cov))  # fmt: skip
    if "c" in (center.dtype.kind, covariance.dtype.kind):
        fail("mean and cov must not be complex", TypeError)
    shape = () if size is None else tuple(_core.integers(size))
    if center.ndim != 1:
        fail("mean must be 1 dimensional")
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        fail("cov must be 2 dimensional and square")
    if center.shape[0] != covariance.shape[0]:
        fail("mean and cov must have same length")
    whole = (*shape, center.shape[0])
    x = normal(whole).evaluated().reshape(-1, center.shape[0])
    covariance = covariance.astype(np.double)
    is_psd = True
    if method == "cholesky":
        factor = np.linalg.cholesky(covariance)
    elif method == "eigh":
        s, u = np.linalg.eigh(covariance)
        factor = u * np.sqrt(abs(s))
        is_psd = not np.any(s < -tol)
    else:
        u, s, vh = np.linalg.svd(covariance)
        is_psd = np.allclose(np.dot(vh.T * s, vh), covariance, rtol=tol, atol=tol)
        factor = np.sqrt(s)[:, None] * vh if is_legacy else u * np.sqrt(s)
    if check_valid != "ignore" and method != "cholesky":
        if check_valid not in ("warn", "raise"):
            fail("check_valid must equal 'warn', 'raise', or 'ignore'")
        message = "covariance is not symmetric positive-semidefinite."
        if not is_psd and check_valid == "warn":
            warnings.warn(message, RuntimeWarning, stacklevel=3)
        elif not is_psd:
            fail(message)
    values = np.dot(x, factor) + center if is_legacy else center + x @ factor.T
    return asarray(values.reshape(whole), name=f"multivariate_normal({size})")


def integer_kind(function: str, dtype: Any) -> np.dtype:
    """The dtype of drawn integers."""
    kind = np.dtype(dtype)
    if not kind.isnative:
        message = "Providing a dtype with a non-native byteorder is not supported."
        raise value_error(f"{function}: {message}")
    if kind.kind not in "biu":
        raise type_error(f"Unsupported dtype {kind!r} for {function}")
    return kind


def bounds(function: str, low: Any, high: Any, dtype: Any, closed: bool) -> tuple[Any, Any, bool]:
    """Bounds as the core takes them: integers or tensors, and whether the high one is included.
    Arrays of objects hold integers wider than 64 bits: those become the dtype's, both included."""
    if type(low) is int and type(high) is int:
        return low, high, closed
    arrays = [x if isinstance(x, LazyTensor) else np.asarray(x) for x in (low, high)]
    if all(isinstance(x, np.ndarray) and x.ndim == 0 for x in arrays):
        return int(low), int(high), closed
    if all(x.dtype != object for x in arrays):
        return arrays[0], arrays[1], closed
    low, high = (x.evaluated() if isinstance(x, LazyTensor) else x for x in arrays)
    limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    last = np.array([int(x) - (not closed) for x in high.flat], object).reshape(high.shape)
    for name, values in (("low", low), ("high", last)):
        if any(not limits[0] <= int(value) <= limits[1] for value in values.flat):
            raise value_error(f"{function}: {name} is out of bounds for {dtype}")
    return low.astype(dtype), last.astype(dtype), True


def integers(
    function: str, draw: Any, low: Any, high: Any, size: Any, dtype: Any, closed: bool,
    is_legacy: bool,
) -> LazyTensor:  # fmt: skip
    """Integers in [low, high), or [0, low), or up to the high one if it is included."""
    low, high = (0, low) if high is None else (low, high)
    kind = int64 if dtype in (int, np.int64) else integer_kind(function, dtype)
    low, high, closed = bounds(function, low, high, kind, closed)
    return draw(function, low, high, size, kind, closed, is_legacy)


def check_sequence(p: Any) -> None:
    """TypeError for probabilities that have no length."""
    if p is not None:
        len(p)


def counts(numbers: Any) -> Any:
    """Of sequences of floats the whole parts, as NumPy takes them; arrays must have integers."""
    return np.asarray(numbers, int64) if type(numbers) in (list, tuple) else numbers


def as_bytes(draw: Any, length: int) -> Any:
    """Bytes of words of 32 bits, the lowest byte first."""
    count = operator.index(length)
    words = draw(0, 2**32, max((count - 1) // 4 + 1, 1), np.uint32)  # one for none, too
    return words.evaluated().astype("<u4").tobytes()[:count]


def probabilities(pvals: Any) -> Any:
    """One row of them, for RandomState."""
    array = pvals if isinstance(pvals, LazyTensor) else np.asarray(pvals)
    if array.ndim != 1:
        kind = ValueError if array.ndim else TypeError
        raise kind(with_location("multinomial: pvals must be a 1-d sequence"))
    return array


def permuted(order: Any, x: Any, axis: Any, out: Any) -> Any:
    """order(x, axis) of a tensor or an array, perhaps in `out`; elements without an axis are taken
    as they lie in memory, as NumPy takes them."""
    if not isinstance(x, LazyTensor):
        x = np.asarray(x)
        memory = out if isinstance(out, np.ndarray) and out.shape == x.shape else x
        is_fortran = x.ndim > 1 and memory.flags.f_contiguous and not memory.flags.c_contiguous
        if is_fortran and axis is None and (out is None or memory is out):
            result = permuted(order, x.T, None, None if out is None else out.T)
            return result.T if out is None else out
    if axis is not None:
        axis = normalized("permuted", axis, x.ndim)
    if out is not None:
        if not isinstance(out, (np.ndarray, LazyTensor)):
            raise type_error("permuted: out must be a numpy array")
        if isinstance(out, np.ndarray) and not out.flags.writeable:
            raise value_error("permuted: out is read-only")
        if out.shape != x.shape:
            raise value_error("permuted: out must have the same shape as x")
        if not np.can_cast(x.dtype, out.dtype, "safe"):
            message = f"Cannot cast from {x.dtype} to {out.dtype} according to the rule 'safe'"
            raise type_error(f"permuted: {message}")
    tensor = tensor_or_array(x)
    if isinstance(tensor, np.ndarray):
        places = order(np.arange(x.size).reshape(x.shape), axis).evaluated()
        result = x.ravel()[places]
    else:
        result = order(tensor, axis)
    if out is None:
        return result
    if isinstance(out, LazyTensor):
        out.replaced(_core.numpy.astype(result, out.dtype))
    else:
        np.copyto(out, result.evaluated() if isinstance(result, LazyTensor) else result)
    return out
