"""NumPy's in-place functions: they put another node into a tensor's cell, or write an ndarray."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import LazyScalar, LazyTensor
from composit.numpy import _arguments, _other_objects

_c = _core.numpy


def _write(target: Any, changed: LazyTensor) -> None:
    """What `changed` holds becomes the target's value."""
    if isinstance(target, LazyTensor):
        target.check_writeable()
        target.replaced(changed)
    else:
        target[...] = changed.evaluated()


def _target(value: Any) -> Any:
    """The value, which can be written."""
    import numpy as np

    if not isinstance(value, (LazyTensor, np.ndarray)) or isinstance(value, LazyScalar):
        raise TypeError(_mismatch.wrong(value, "A tensor, or an ndarray,"))
    return value


def _listed(function: str, value: Any, dtype: Any) -> Any:
    """The elements of lists, and Python's numbers and texts, in a dtype, by the rules of asarray,
    as NumPy takes them; others as is."""
    is_array = hasattr(value, "dtype") or hasattr(value, "__array__")
    return value if is_array else _other_objects.stored(value, dtype, function)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """take_along_axis's elements replaced by values."""
    target = _target(arr)
    _arguments.check_array(indices)
    values = _listed("put_along_axis", values, target.dtype)
    _write(target, _c.put_along_axis(target, indices, values, axis))


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """The main diagonal replaced by val."""
    target = _target(a)
    value = _listed("fill_diagonal", val, a.dtype) if isinstance(val, float) else val
    _write(a, _c.fill_diagonal(target, value, bool(wrap)))


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Elements of the flattened `a` replaced; v repeats."""
    _write(a, _c.put(_target(a), _listed("put", ind, int), _listed("put", v, a.dtype), mode))


def place(arr: Any, mask: Any, vals: Any) -> None:
    """The elements where the mask holds replaced by the values, one after the other."""
    _write(arr, _c.place(_target(arr), mask, _listed("place", vals, arr.dtype)))


def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """The elements where the mask holds replaced by the values at the same positions."""
    _write(a, _c.putmask(_target(a), mask, _listed("putmask", values, a.dtype)))


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """dst's elements replaced by src's, where `where` holds."""
    mask = None if where is True else where
    _write(dst, _c.copyto(_target(dst), src, casting, mask))
