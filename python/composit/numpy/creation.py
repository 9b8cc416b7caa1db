"""Making tensors: NumPy's array creation routines."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit import _mismatch, devices
from composit._core import LazyScalar, LazyTensor, type_error, value_error
from composit.numpy import _arguments, _by_numpy

_c = _core.numpy
_RANKS = 64  # NumPy's arrays have at most so many axes


def _shape(shape: Any) -> tuple[int, ...]:
    return _core.integers(shape)


def _layout(function: str, order: str | None, known: str = "CKAF") -> None:
    """Refuses what is no order: elements count as row-major."""
    if order is not None and order not in tuple(known):
        names = "'C' or 'F'" if known == "CF" else "one of 'C', 'F', 'A', or 'K'"
        raise value_error(f"{function}: order must be {names} (got {order!r})")


@devices.placing
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None,
    like: Any = None, name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """A tensor: `a` itself if it is one, else a constant with a copy of its values (or, for
    copy=False, its memory)."""
    _layout("asarray", order)
    if like is not None:
        _arguments.check_like("asarray", like)
    if not isinstance(copy, bool):
        copy = {"ALWAYS": True, "NEVER": False, "IF_NEEDED": None}.get(
            getattr(copy, "name", ""), copy
        )
    is_number = isinstance(a, (bool, int, float, complex))
    if copy is False and is_number:
        raise value_error("asarray: Unable to avoid copy of a number. copy is False.")
    if isinstance(dtype, str) and name is None and not isinstance(a, LazyTensor) and not is_number:
        dtype, name = _dtype_or_name(dtype)
    if not isinstance(a, LazyTensor) and hasattr(a, "lazy_tensor"):
        a = a.lazy_tensor
    try:
        if isinstance(a, (list, tuple)):
            found = _core.stacked_numbers(a)
            if isinstance(found, LazyTensor):
                if dtype is None and not name:
                    return found
                a = found
            elif _holds_tensors(a):
                a = _stacked(a)
        if isinstance(a, LazyTensor):
            if dtype is not None and _core.dtype_of(dtype) != a.dtype:
                a = _c.astype(a, dtype)
            if a.is_weak:
                a = _c.strong(a)
            if name and not copy:
                return _core.named(a, name)
            return a.copied() if copy or isinstance(a, LazyScalar) else a
        return _core.constant(_converted(a, dtype), name or "", copy is not False)
    except TypeError as refusal:
        if not _by_numpy.is_called_by_user():
            raise
        return _by_numpy.created("asarray", refusal, a, dtype=dtype, order=order, copy=copy)


def _converted(a: Any, dtype: Any) -> Any:
    """numpy.asarray(a, dtype), with errors of its classes."""
    import numpy as np

    target = None if dtype is None else _core.dtype_of(dtype)
    kind = "booleans, integers, floats or complex numbers" if target is None else str(target)
    try:
        if target is None:
            return np.asarray(_of_torch(a))
        return _core.called(np.asarray, _of_torch(a), dtype=target)
    except TypeError:
        raise TypeError(_mismatch.wrong(a, f"An array of {kind}")) from None
    except OverflowError:
        raise OverflowError(_mismatch.wrong(a, f"An array of {kind}")) from None
    except ValueError as error:
        if str(error).startswith("setting an array element with a sequence"):
            raise ValueError(_mismatch.said(str(error))) from None
        raise ValueError(_mismatch.wrong(a, f"An array of {kind}")) from None


def _of_torch(a: Any) -> Any:
    """A tensor of torch's as one that NumPy takes, over the same memory where it can be: without
    bits that conjugate or negate it, and bfloat16, which torch does not give, as an array. All else
    as it is."""
    if not hasattr(a, "resolve_conj"):
        return a
    plain = a.resolve_conj().resolve_neg()
    if str(plain.dtype) != "torch.bfloat16" or plain.requires_grad:
        return plain
    import torch

    return plain.view(torch.int16).numpy().view(_core.dtype_of("bfloat16"))


def _dtype_or_name(text: str) -> tuple[Any, str | None]:
    """The seed's asarray(array, name): its second argument, where NumPy has dtype."""
    import numpy as np

    try:
        np.dtype(text)
    except TypeError:
        return None, text
    return text, None


def _holds_tensors(items: Any, depth: int = 64) -> bool:
    """Whether a tensor is among the items of lists, which may hold themselves: NumPy ends at 64."""
    return depth > 0 and any(
        isinstance(item, LazyTensor)
        or (isinstance(item, (list, tuple)) and _holds_tensors(item, depth - 1))
        for item in items
    )


def _stacked(items: Any) -> LazyTensor:
    return _c.stack([asarray(item) for item in items], 0, None)


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
    _arguments.check_like("array", like)
    if ndmax != _RANKS:
        _check_depth(object, _core.integer(ndmax))
    result = asarray(object, dtype, order, name=name, copy=copy)
    if not isinstance(result, LazyTensor):
        return _by_numpy.called("array", _numpys_array, (result,), {"ndmin": ndmin})
    missing = _core.integer(ndmin) - result.ndim
    if missing > 0:
        result = _c.reshape(result, (1,) * missing + result.shape)
    return result


def _numpys_array(value: Any, ndmin: int) -> Any:
    import numpy as np

    return np.array(value, ndmin=ndmin, copy=None)


def _check_depth(value: Any, most: int) -> None:
    """ValueError for lists within lists deeper than so many."""
    import numpy as np

    if not 0 <= most <= _RANKS:
        raise value_error(f"array: ndmax is {most}. 0 to {_RANKS} are required.")
    if isinstance(value, (list, tuple)) and np.ndim(value) > most:
        raise value_error(
            "array: setting an array element with a sequence. The requested array would exceed "
            f"the maximum number of dimension of {most}."
        )


def _filled(
    function: str, shape: tuple[int, ...], dtype: Any, order: str, like: Any, name: str | None
) -> LazyTensor:
    _layout(function, order, "CF")
    _arguments.check_like(function, like)
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


def _surely_fits(value: float, dtype: Any) -> bool:
    if abs(value) < 2**15:
        return True
    import numpy as np

    kind = np.dtype(_core.dtype_of(dtype))
    if kind.kind != "f":
        return kind.kind not in "iu"
    return not np.isfinite(value) or abs(value) <= float(np.finfo(kind).max)


@devices.placing
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None,
    like: Any = None, name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """`fill_value` broadcast to a shape."""
    shape = _shape(shape)
    _layout("full", order, "CF")
    _arguments.check_like("full", like)
    if isinstance(fill_value, float) and dtype is not None and not _surely_fits(fill_value, dtype):
        # It is converted, and warns, as elements of arrays do.
        fill_value = _c.astype(asarray(fill_value), dtype)
    try:
        return _c.full(shape, fill_value, dtype, name or "")
    except TypeError as refusal:
        return _by_numpy.created("full", refusal, shape, fill_value, dtype=dtype, order=order)


def _filled_like(function: str, a: Any, dtype: Any, order: str, shape: Any) -> LazyTensor:
    _layout(function, order)
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
    if isinstance(fill_value, (str, bytes)):
        import numpy as np

        kind = asarray(a).dtype if dtype is None else np.dtype(_core.dtype_of(dtype))
        fill_value = _arguments.number_read("full_like", fill_value, kind)
    _layout("full_like", order)
    return _c.full_like(a, fill_value, dtype, None if shape is None else _shape(shape))


@devices.placing
def arange(
    start_or_stop: Any = None, /, stop: Any = None, step: Any = 1, dtype: Any = None, *,
    start: Any = None, device: Any = None, like: Any = None, name: str | None = None,
) -> LazyTensor:  # fmt: skip
    """start, start + step, … before stop; arange(stop) starts at 0."""
    _layout("arange", None)
    _arguments.check_like("arange", like)
    if start is not None and start_or_stop is not None:
        raise type_error("arange: start is given twice. Give it once.")
    start_or_stop = start if start_or_stop is None else start_or_stop
    if stop is None and (start is not None or start_or_stop is None):
        raise type_error("arange: stop is not given. It is required.")
    given = (start_or_stop,) if stop is None else (start_or_stop, stop, step)
    start, stop = (0, start_or_stop) if stop is None else (start_or_stop, stop)
    start, step = 0 if start is None else start, 1 if step is None else step
    values = (start, stop, step)
    try:
        return _ranged(values, dtype, name)
    except TypeError as refusal:
        return _by_numpy.created("arange", refusal, *given, dtype=dtype)


def _ranged(values: Any, dtype: Any, name: str | None) -> LazyTensor:
    start, stop, step = values
    if any(isinstance(value, complex) for value in values):
        import numpy as np

        return asarray(np.arange(*values, dtype=dtype), name=name)
    kind = "" if dtype is None else _core.dtype_of(dtype).kind
    if kind == "b":
        made = arange(start, stop, step, name=name)
        if made.size > 2:
            message = (
                "arange() is only supported for booleans when the result has at most length 2."
            )
            raise type_error(message)
        return _c.astype(made, dtype)
    if kind == "c":
        return _c.astype(arange(start, stop, step, name=name), dtype)
    if all(hasattr(value, "__index__") and not isinstance(value, float) for value in values):
        first, end, by = (_core.integer(value) for value in values)
        return _c.arange_integers(first, end, by, dtype, name or "")
    low, high, by_floats = map(_core.number, values)
    return _c.arange_floats(low, high, by_floats, dtype, name or "")


@devices.placing
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """`num` values from start to stop."""
    count = _core.integer(num)
    _check_count("linspace", count)
    parts = count - 1 if endpoint else count
    step: Any = float("nan")
    if type(start) in _NUMBERS and type(stop) in _NUMBERS:
        first, last = _core.number(start), _core.number(stop)
        _layout("linspace", None)
        _arguments.moved_axis("linspace", axis, 1)
        result = _c.linspace(first, last, count, bool(endpoint), dtype, "")
        if parts > 0:
            step = asarray((last - first) / parts)
    else:
        weak = (*_NUMBERS, complex)
        ends = [value if type(value) in weak else asarray(value) for value in (start, stop)]
        _layout("linspace", None)
        ndim = 1 + max(getattr(end, "ndim", 0) for end in ends)
        place = _arguments.moved_axis("linspace", axis, ndim)
        result = _c.spaced(ends[0], ends[1], count, bool(endpoint), dtype, place)
        if parts > 0:
            step = (asarray(stop) - asarray(start)) / parts
    return (result, step) if retstep else result


_NUMBERS = (bool, int, float)


def _check_count(function: str, count: int) -> None:
    if count < 0:
        raise value_error(f"{function}: Number of samples, {count}, must be non-negative.")


@devices.placing
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = float, order: str = "C", *,
    device: Any = None, like: Any = None,
) -> LazyTensor:  # fmt: skip
    """Ones on the k-th diagonal, zeros elsewhere."""
    rows, columns = _core.integer(N), None if M is None else _core.integer(M)
    _layout("eye", order, "CF")
    _arguments.check_like("eye", like)
    return _c.eye(rows, columns, k, dtype)


def identity(n: int, dtype: Any = None, *, like: Any = None) -> LazyTensor:
    """The n x n identity matrix."""
    _arguments.check_like("identity", like)
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
    _arguments.check_like("tri", like)
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
    _layout("copy", order)
    tensor = asarray(a)
    if not isinstance(tensor, LazyTensor):
        return tensor.copy(order)
    return tensor.copied(order == "F" or (order in ("K", "A") and tensor.flags.fnc))


def create_input(name: str, initializer_callback: Any, shape: Any, dtype: Any) -> LazyTensor:
    """A constant named `name` whose values initializer_callback() returns, called now."""
    if not callable(initializer_callback):
        raise TypeError(_mismatch.wrong(initializer_callback, "A function"))
    values = _converted(initializer_callback(), dtype)
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
    tensor = _c.atleast_1d(asarray(a, dtype, like=like))
    return tensor if tensor.is_contiguous_in(False) else tensor.copied()


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> LazyTensor:
    """asarray of values that are finite: evaluates them now."""
    import numpy as np

    result = asarray(a, dtype, order)
    if result.dtype.kind == "f" and not np.isfinite(result.evaluated()).all():
        raise value_error("asarray_chkfinite: array must not contain infs or NaNs")
    return result
