"""torch's dtypes, and the dtype that floats have unless one is given."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

import composit._core as _core
from composit._core import dtype_of, type_error
from composit.torch.places import check_device as check_device
from composit.torch.places import cpu as cpu
from composit.torch.places import device as device


class dtype:
    """A dtype; there is one object of each, as torch.float32."""

    def __init__(self, traits: _core.DTypeTraits) -> None:
        self.name = traits.name
        self.numpy = dtype_of(traits.name)
        self.itemsize = self.numpy.itemsize
        self.is_complex = traits.is_complex
        self.is_floating_point = traits.is_floating
        self.is_signed = traits.is_signed

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return _named, (self.name,)


table = _core.dtype_table()
by_name = {traits.name: dtype(traits) for traits in table}
aliases = {traits.torch_alias: traits.name for traits in table if traits.torch_alias}
_of_numpy = {found.numpy: found for found in by_name.values()}
_with_storage_class = frozenset(traits.name for traits in table if traits.has_storage_class)
_default = ["float32"]


def _named(name: str) -> dtype:
    return by_name[name]


def of_numpy(array_dtype: Any) -> dtype:
    """torch's dtype for one of NumPy's."""
    return _of_numpy[array_dtype]


def numpy_dtype(value: Any) -> Any:
    """NumPy's dtype for one of torch's."""
    if not isinstance(value, dtype):
        raise type_error(f"dtype: {value!r} is not a dtype, as torch.float32 is one.")
    return value.numpy


def default() -> dtype:
    """What floats become unless a dtype is given: float32 at first."""
    return by_name[_default[0]]


get_default_dtype = default


def set_default_dtype(d: dtype) -> None:
    """Sets the dtype that floats become."""
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise type_error(f"set_default_dtype: {d!r} is given. A dtype of floats is required.")
    if d.name not in _with_storage_class:
        name = _core.scalar_type_name(d.name)
        raise type_error(f"couldn't find storage object {name}Storage")
    from composit.flashlight.operators import promotion

    _default[0] = d.name
    promotion.set_default(d.numpy)


def from_numbers(data: Any) -> Any:
    """The NumPy dtype of an array made from Python's numbers, as torch chooses it."""
    kind = np.asarray(data).dtype.kind
    if kind == "f":
        return default().numpy
    if kind == "c":
        return np.dtype("complex128" if _default[0] == "float64" else "complex64")
    return np.dtype("bool" if kind == "b" else "int64")


class memory_format:
    """An order of elements in memory, as torch names it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


class layout:
    """How the elements of a tensor are kept, as torch names it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


strided, sparse_coo = layout("strided"), layout("sparse_coo")

contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


class Size(tuple):
    """A shape. Slices and sums of shapes are shapes."""

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return Size(found) if type(key) is slice else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: Any) -> Size:
        return Size(tuple(other) + tuple(self))

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for length in self:
            count *= length
        return count


class finfo:
    """What a dtype of floats can hold."""

    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float

    def __init__(self, type: dtype | None = None) -> None:
        of = type or default()
        if not (of.is_floating_point or of.is_complex):
            raise type_error(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        found: Any = ml_dtypes.finfo(of.numpy)
        self.dtype, self.bits = str(found.dtype), int(found.bits)
        for name in ("eps", "max", "min", "tiny", "smallest_normal"):
            setattr(self, name, float(getattr(found, name)))
        digits = math.floor(found.nmant * math.log10(2))  # that any number of so many has
        self.resolution = 10.0**-digits

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """What a dtype of integers can hold."""

    def __init__(self, type: dtype) -> None:
        if type.is_floating_point or type.is_complex:
            raise type_error(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        if type.name == "bool":
            raise type_error("torch.bool is not supported by torch.iinfo")
        found = np.iinfo(type.numpy)
        self.dtype = type.name
        self.bits, self.max, self.min = found.bits, int(found.max), int(found.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


_core.provide("torch_dtypes", by_name)
_core.provide("torch_finfo", finfo)
_core.provide("torch_iinfo", iinfo)
