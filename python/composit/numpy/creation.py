"""Making tensors: NumPy's array creation routines."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit import _mismatch, devices
from composit._core import LazyTensor, type_error, value_error
from composit.numpy import _arguments, _by_numpy

_c = _core.numpy
_RANKS = 64  # NumPy's arrays have at most so many axes


def _shape(shape: Any) -> tuple[int, ...]:
    return _core.integers(shape)


@devices.placing
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None,
    like: Any = None, name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """A tensor: `a` itself if it is one, else a constant with a copy of its values (or, for
    copy=False, its memory)."""
    _c.check_creation("asarray", order, "CKAF", like)
    try:
        return _c.asarray(a, dtype, name, copy)
    except TypeError as refusal:
        if not _by_numpy.is_called_by_user():
            raise
        return _by_numpy.created("asarray", refusal, a, dtype=dtype, order=order, copy=copy)


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = _RANKS,
    like: Any = None,
    name: str | None = None,
) -> LazyTensor:
    """A new tensor of these values."""
    _c.check_creation("array", None, "CKAF", like)
    _c.check_depth(object, _core.integer(ndmax))
    result = asarray(object, dtype, order, name=name, copy=copy)
    if not isinstance(result, LazyTensor):
        return _by_numpy.called("array", _numpys_array, (result,), {"ndmin": ndmin})
    least = _core.integer(ndmin)
    return result if result.ndim >= least else _c.with_rank(result, least)


def _numpys_array(value: Any, ndmin: int) -> Any:
    import numpy as np

    return np.array(value, ndmin=ndmin, copy=None)


def _filled(
    function: str, shape: tuple[int, ...], dtype: Any, order: str, like: Any, name: str | None
) -> LazyTensor:
    _c.check_creation(function, order, "CF", like)
    try:
        return getattr(_c, function)(shape, dtype, name or "")
    except TypeError as refusal:
        return _by_numpy.created(function, refusal, shape, dtype=dtype, order=order)


@devices.placing
def zeros(
    shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None,
    name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """Zeros; float64 unless dtype is given."""
    return _filled("zeros", _shape(shape), dtype, order, like, name)


@devices.placing
def ones(
    shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None,
    name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """Ones; float64 unless dtype is given."""
    return _filled("ones", _shape(shape), dtype, order, like, name)


@devices.placing
def empty(
    shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None,
    name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """Zeros: composit has no uninitialised values."""
    return _filled("empty", _shape(shape), dtype, order, like, name)


@devices.placing
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None,
    like: Any = None, name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """`fill_value` broadcast to a shape."""
    shape = _shape(shape)
    _c.check_creation("full", order, "CF", like)
    try:
        return _c.full(shape, fill_value, dtype, name or "")
    except TypeError as refusal:
        return _by_numpy.created("full", refusal, shape, fill_value, dtype=dtype, order=order)


def _filled_like(function: str, a: Any, dtype: Any, order: str, shape: Any) -> LazyTensor:
    _c.check_creation(function, order)
    try:
        return getattr(_c, function)(a, dtype, None if shape is None else _shape(shape))
    except TypeError as refusal:
        return _by_numpy.created(function, refusal, a, dtype=dtype, shape=shape)


@devices.placing_like
def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> LazyTensor:  # fmt: skip
    """Zeros of a's shape and dtype; a is not computed."""
    return _filled_like("zeros_like", a, dtype, order, shape)


@devices.placing_like
def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> LazyTensor:  # fmt: skip
    """Ones of a's shape and dtype; a is not computed."""
    return _filled_like("ones_like", a, dtype, order, shape)


@devices.placing_like
def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> LazyTensor:  # fmt: skip
    """Zeros of the prototype's shape and dtype."""
    return _filled_like("empty_like", prototype, dtype, order, shape)


@devices.placing_like
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
    shape: Any = None, *, device: Any = None,
) -> LazyTensor:  # fmt: skip
    """`fill_value` in a's shape and dtype."""
    _c.check_creation("full_like", order)
    return _c.full_like(a, fill_value, dtype, None if shape is None else _shape(shape))


@devices.placing
def arange(
    start_or_stop: Any = None, /, stop: Any = None, step: Any = 1, dtype: Any = None, *,
    start: Any = None, device: Any = None, like: Any = None, name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """start, start + step, … before stop; arange(stop) starts at 0."""
    _c.check_creation("arange", None, "CKAF", like)
    given = _c.range_of(start_or_stop, stop, step, start)
    try:
        return _c.arange(given, dtype, name or "")
    except TypeError as refusal:
        return _by_numpy.created("arange", refusal, *given, dtype=dtype)


@devices.placing
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """`num` values from start to stop."""
    count = _core.integer(num)
    result, step = _c.linspace(start, stop, count, bool(endpoint), dtype, axis)
    return (result, step) if retstep else result


@devices.placing
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = float, order: str = "C", *,
    device: Any = None, like: Any = None,
) -> LazyTensor:  # fmt: skip
    """Ones on the k-th diagonal, zeros elsewhere."""
    rows, columns = _core.integer(N), None if M is None else _core.integer(M)
    _c.check_creation("eye", order, "CF", like)
    return _c.eye(rows, columns, k, dtype)


def identity(n: int, dtype: Any = None, *, like: Any = None) -> LazyTensor:
    """The n x n identity matrix."""
    _c.check_creation("identity", None, "CF", like)
    _arguments.check_known(dtype)
    size = _core.integer(n)
    if size < 0:
        raise value_error(f"identity: negative dimensions are not allowed: {size}.")
    return _c.identity(size, dtype)


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, like: Any = None
) -> LazyTensor:
    """Ones at and below the k-th diagonal; of numbers that are no integers as many rows and columns
    as arange has elements."""
    _c.check_creation("tri", None, "CF", like)
    rows, columns = (_upwards(length) for length in (N, M))
    return _c.tri(rows, columns, _downwards(k), dtype)


def _upwards(length: Any) -> Any:
    """How many integers from 0 there are below a length."""
    return max(math.ceil(length), 0) if isinstance(length, float) else length


def _downwards(k: Any) -> Any:
    """The last diagonal that is not above k."""
    return math.floor(k) if isinstance(k, float) else k


def _matrix(function: str, m: Any) -> Any:
    if getattr(m, "ndim", None) == 0 or isinstance(m, (bool, int, float, complex)):
        raise type_error(f"{function}: m has no dimension. One at least is required.")
    return m


def tril(m: Any, k: int = 0) -> LazyTensor:
    """m with zeros above the k-th diagonal of its last two axes."""
    return _c.tril(_matrix("tril", m), _downwards(k))


def triu(m: Any, k: int = 0) -> LazyTensor:
    """m with zeros below the k-th diagonal of its last two axes."""
    return _c.triu(_matrix("triu", m), -_downwards(-k) if isinstance(k, float) else k)


def copy(a: Any, order: str = "K", subok: bool = False) -> LazyTensor:
    """Another object for the same values: writing one leaves the other as it is. "K" and "A" keep
    the order in memory of what lies there column after column."""
    _c.check_creation("copy", order)
    tensor = asarray(a)
    if not isinstance(tensor, LazyTensor):
        return tensor.copy(order)
    return tensor.copied(order == "F" or (order in ("K", "A") and tensor.flags.fnc))


def create_input(name: str, initializer_callback: Any, shape: Any, dtype: Any) -> LazyTensor:
    """A constant named `name` whose values initializer_callback() returns, called now."""
    if not callable(initializer_callback):
        raise TypeError(_mismatch.wrong(initializer_callback, "A function"))
    values = _c.converted(initializer_callback(), dtype)
    if values.shape != _shape(shape):
        raise value_error(
            f"create_input: the callback of {name} returned shape {values.shape}. "
            f"{_shape(shape)} is required."
        )
    return _core.constant(values, name)


@devices.placing
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None,
    like: Any = None,
) -> LazyTensor:  # fmt: skip
    """asarray: composit has one class of tensors."""
    return asarray(a, dtype, order, device=device, copy=copy, like=like)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> LazyTensor:
    """asarray with at least one dimension, in row-major order; a copy of what lies otherwise."""
    is_given = type(a) is LazyTensor and dtype is None and like is None and a.ndim > 0
    tensor = a if is_given else _c.atleast_1d(asarray(a, dtype, like=like))
    return tensor if tensor.is_contiguous_in(False) else tensor.copied()


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> LazyTensor:
    """asarray of values that are finite: evaluates them now."""
    import numpy as np

    result = asarray(a, dtype, order)
    if result.dtype.kind == "f" and not np.isfinite(result.evaluated()).all():
        raise value_error("asarray_chkfinite: array must not contain infs or NaNs")
    return result
