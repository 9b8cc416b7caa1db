"""Arrays from iterators and other libraries, and questions about memory."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _floating_point, _mismatch, devices
from composit._core import LazyTensor, value_error
from composit.numpy.creation import asarray
from composit.numpy.kinds import _asked

_c = _core.numpy


def isfortran(a: Any) -> bool:
    """Whether elements lie in memory column after column, and not row after row, too."""
    import numpy as np

    if isinstance(a, LazyTensor):
        return a.flags.fnc
    if not isinstance(a, np.ndarray):
        raise AttributeError(_mismatch.wrong(a, "A tensor or ndarray"))
    return np.isfortran(a)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> LazyTensor:
    """A tensor; a copy where it does not lie in memory as required, or OWNDATA is."""
    _c.check_creation("require", None, "CKAF", like)
    letters = _c.required_flags(requirements)
    return _c.laid_out_as(asarray(a, dtype), letters, isinstance(a, LazyTensor))


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> LazyTensor:
    """A tensor of at least one axis whose elements lie in memory column after column; a copy where
    they do not."""
    _c.check_creation("asfortranarray", None, "CKAF", like)
    tensor = asarray(a, dtype)
    tensor = tensor if tensor.ndim else _c.reshape(tensor, (1,))
    return tensor if tensor.is_contiguous_in(True) else tensor.copied(True)


def may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> bool:
    """Whether the stretches of memory from the first to the last element of both overlap."""
    return _c.overlap(a, b, False)


def shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> bool:
    """Whether both have an element in the same memory: views of one tensor, or of one ndarray."""
    return _c.overlap(a, b, True)


@_floating_point.in_default_state
def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> LazyTensor:
    """A tensor of the numbers that an iterator gives, or of the first `count`."""
    _c.check_creation("fromiter", None, "CKAF", like)
    import numpy as np

    target, most = _core.dtype_of(dtype), _core.integer(count)
    try:
        array = np.fromiter(iter, target, most)
    except ValueError as error:
        said = str(error) if "too short" in str(error) else "an element is no number."
        raise value_error(f"fromiter: {said}") from None
    except TypeError:
        raise TypeError(_mismatch.wrong(iter, f"An iterable of numbers of {target}")) from None
    return asarray(array, copy=False)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> LazyTensor:
    """A tensor in the memory of another library's array (row-major; else, or for copy=True, of a
    copy), on the CPU or a CUDA device: what is written there before an evaluation is read by it."""
    there = "cpu" if device is None else devices.full_name(device)
    if isinstance(x, LazyTensor):
        x = x if device is None else devices.moved(x, there)
        return x.copied() if copy else x
    if hasattr(x, "__dlpack_device__") and next(iter(x.__dlpack_device__())) == 2:
        made = _core.imported_from_cuda(x, copy)
        return made if device is None else devices.moved(made, there)
    array = _asked("from_dlpack", x, device="cpu", copy=copy)
    made = asarray(array, copy=False if array.flags.c_contiguous else None)
    return made if there == "cpu" else devices.moved(made, there)
