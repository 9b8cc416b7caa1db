"""Index arrays: grids of positions, triangles and diagonals, positions of what is not zero."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import LazyTensor, type_error, value_error
from composit.numpy import _arguments
from composit.numpy.creation import _downwards, _upwards, arange

_c = _core.numpy


def diag_indices(n: int, ndim: int = 2) -> tuple[LazyTensor, ...]:
    """Indices of the main diagonal of a hypercube; floats if n is one, as NumPy's."""
    if isinstance(n, float):
        return (arange(n),) * _core.integer(ndim)
    return tuple(_c.diag_indices(n, ndim))


def diag_indices_from(arr: Any) -> tuple[LazyTensor, ...]:
    """Indices of arr's main diagonal."""
    _arguments.check_array(arr)
    return tuple(_c.diag_indices_from(arr))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[LazyTensor, ...]:
    """Indices at and below the k-th diagonal of an (n, m) matrix."""
    return tuple(_c.tril_indices(_upwards(n), _downwards(k), _upwards(m)))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[LazyTensor, ...]:
    """Indices at and above the k-th diagonal of an (n, m) matrix."""
    above = -_downwards(-k) if isinstance(k, float) else k
    return tuple(_c.triu_indices(_upwards(n), above, _upwards(m)))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[LazyTensor, ...]:
    """Indices at and below the k-th diagonal of arr."""
    _arguments.check_array(arr)
    return tuple(_c.tril_indices_from(arr, k))


def triu_indices_from(arr: Any, k: int = 0) -> tuple[LazyTensor, ...]:
    """Indices at and above the k-th diagonal of arr."""
    _arguments.check_array(arr)
    return tuple(_c.triu_indices_from(arr, k))


def _function(value: Any) -> Any:
    if not callable(value):
        raise TypeError(_mismatch.wrong(value, "A function"))
    return value


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[LazyTensor, ...]:
    """Where mask_func(ones((n, n)), k) is not zero: evaluates it now."""
    size = _core.integer(n)
    return tuple(_c.nonzero(_function(mask_func)(_c.ones((size, size), int), k)))


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The position of each element along each axis; sparse ones broadcast to the whole."""
    lengths = _c.lengths_of("indices", dimensions, dtype)
    return tuple(_c.sparse_indices(lengths, dtype)) if sparse else _c.indices(lengths, dtype)


def fromfunction(
    function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """What the function makes of the positions along each axis."""
    _c.check_creation("fromfunction", None, "CKAF", like)
    lengths = _c.lengths_of("fromfunction", shape, dtype)
    grid = _c.broadcast_arrays(_c.sparse_indices(lengths, dtype)) if lengths else ()
    return _function(function)(*grid, **kwargs)


def ix_(*args: Any) -> tuple[LazyTensor, ...]:
    """Sequences along axes of their own, which select their cross product."""
    return tuple(_c.ix(args))


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C"
) -> LazyTensor:
    """Positions in the flattened array of the elements at some indices."""
    if isinstance(mode, str) and mode not in ("raise", "wrap", "clip"):
        message = f"ravel_multi_index: mode is {mode!r}. 'raise', 'wrap' or 'clip' is required."
        raise value_error(message)
    modes = [mode] if isinstance(mode, str) else mode
    return _c.ravel_multi_index(multi_index, dims, modes, order)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[LazyTensor, ...]:
    """Indices, one tensor per axis, of positions in the flattened array."""
    if isinstance(indices, float) and order in ("C", "F", "A", "K"):
        raise type_error(f"unravel_index: only int indices permitted, not {indices!r}.")
    return tuple(_c.unravel_index(indices, shape, order))


def argwhere(a: Any) -> LazyTensor:
    """Indices of the elements that are not zero, one row each: evaluates `a` now."""
    return _c.argwhere(a)


def flatnonzero(a: Any) -> LazyTensor:
    """Positions in the flattened `a` of what is not zero: evaluates `a` now."""
    return _c.flatnonzero(a)
