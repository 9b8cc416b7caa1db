"""evaluate: the values of tensors."""

from __future__ import annotations

from typing import Any

from composit import _core
from composit._core import LazyTensor, with_location


class Cache(dict):
    """Values by tensor, found by the tensor's identity."""


def options(
    backend: str = "interpreter",
    threads: int | None = None,
    fuse: bool = True,
    reuse_buffers: bool = True,
    cache_folder: str | None = None,
    bytes_of_part: int | None = None,
) -> Any:
    """How to run: the back end by name, threads (None: set_threads' or all), what to plan, and how
    many bytes a part of fused rows touches (None: the back end's choice)."""
    check_positive("threads", threads)
    check_positive("bytes_of_part", bytes_of_part, "bytes")
    if not isinstance(backend, str):
        raise TypeError(
            with_location(f"backend: {backend!r} is not a name. A back end's name is required.")
        )
    return _core.Options(
        backend, threads or _threads[0], fuse, reuse_buffers, cache_folder or "", bytes_of_part or 0
    )


_threads = [0]


def set_threads(count: int | None) -> None:
    """How many threads evaluation may use; None: all cores that this process may use. The number
    never changes a result."""
    check_positive("set_threads", count)
    _threads[0] = count or 0


def check_positive(name: str, count: Any, unit: str = "threads") -> None:
    """ValueError unless `count` is None or can be a number of `unit`."""
    if count is not None and (not isinstance(count, int) or not 1 <= count < 2**31):
        raise ValueError(
            with_location(f"{name}: {count!r} {unit}. A positive integer or None is required.")
        )


def check_function(name: str, function: Any) -> None:
    """TypeError unless `function` can be called."""
    if not callable(function):
        raise TypeError(
            with_location(f"{name}: {function!r} is not a function, which is required.")
        )


def as_tensor(value: Any) -> LazyTensor:
    """`value` itself if it is a LazyTensor, else a constant of it."""
    if isinstance(value, LazyTensor):
        return value
    from composit.numpy import asarray

    return asarray(value)


def placeholder(name: str, shape: Any, dtype: Any = "float32") -> LazyTensor:
    """A tensor without a value yet, for graphs that are compiled: mosaic.compile takes arrays in
    its place. Evaluating what depends on it is a ValueError."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return _core.input(name, dtype, shape)


def evaluate(
    *tensors: Any,
    return_cache: bool = False,
    always_return_tuple: bool = False,
    backend: str = "interpreter",
    threads: int | None = None,
) -> Any:
    """The values: an ndarray for one tensor, a list of them for several, computed together."""
    outputs = [as_tensor(tensor) for tensor in tensors]
    values = _core.evaluate(outputs, options(backend, threads))
    result: Any = tuple(values) if always_return_tuple else values
    if len(values) == 1 and not always_return_tuple:
        result = values[0]
    if return_cache:
        return result, Cache(zip(outputs, values))
    return result
