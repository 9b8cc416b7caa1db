"""What an ndarray has beside NumPy's functions: methods, and attributes as of a contiguous copy."""

from __future__ import annotations

import math
import pickle
import weakref
from typing import Any, ClassVar

import composit._core as _core
from composit import devices
from composit import numpy as cnp
from composit._attaching import attach
from composit._core import LazyScalar, LazyTensor, type_error, value_error, with_location

_class = type


def _choose(self: LazyTensor, *choices: Any, out: Any = None, mode: str = "raise") -> LazyTensor:
    """Elements of the choices, one sequence or several arguments, that this tensor numbers."""
    several: Any = choices[0] if len(choices) == 1 else choices
    return cnp.choose(self, several, out=out, mode=mode)


def _compress(
    self: LazyTensor, condition: Any, axis: int | None = None, out: Any = None
) -> LazyTensor:
    """The parts along an axis where a condition holds."""
    return cnp.compress(condition, self, axis=axis, out=out)


def _put(self: LazyTensor, indices: Any, values: Any, mode: str = "raise") -> None:
    """Replaces the elements at positions of the flattened tensor, in place."""
    cnp.put(self, indices, values, mode)


def _conjugate(self: LazyTensor, out: Any = None) -> LazyTensor:
    """The complex conjugate; a real tensor itself."""
    if out is None and self.dtype.kind != "c":
        return self
    return cnp.conjugate(self, out=out)


def _real(self: LazyTensor) -> LazyTensor:
    """The real parts, as a view; itself where it is real."""
    return cnp.real(self)


def _write_real(self: LazyTensor, value: Any) -> None:
    self.real[...] = value


def _imag(self: LazyTensor) -> LazyTensor:
    """The imaginary parts, as a view; zeros where it is real."""
    return cnp.imag(self)


def _write_imag(self: LazyTensor, value: Any) -> None:
    if self.dtype.kind != "c":
        raise type_error("array does not have imaginary part to set")
    self.imag[...] = value


def _view(self: LazyTensor, dtype: Any = None, type: Any = None) -> Any:
    """A view of all elements, or of their bits as another dtype."""
    import numpy as np

    if type is None and isinstance(dtype, _class) and issubclass(dtype, (np.ndarray, LazyTensor)):
        dtype, type = None, dtype
    # The array of a subclass of NumPy's holds values, and so do records: they are NumPy's own.
    if type is not None and type is not LazyTensor and type is not cnp.ndarray:
        if not (isinstance(type, _class) and issubclass(type, np.ndarray)):
            raise type_error("Type must be a sub-type of ndarray type")
        array = _values("view", self)
        return array.view(type) if dtype is None else array.view(dtype, type)
    if dtype is not None and cnp._by_numpy.is_other_dtype(dtype):
        return _values("view", self).view(dtype)
    is_same = dtype is None or _core.dtype_of(dtype) == self.dtype
    seen = self[...] if is_same else _core.numpy.bits_of(self, dtype)
    # Tensors are of the machine's byte order: what bytes of the other one mean are other numbers.
    is_turned = isinstance(dtype, (str, np.dtype)) and not np.dtype(dtype).isnative
    return _turned(seen) if is_turned else seen


def _turned(x: LazyTensor) -> LazyTensor:
    """A view of the numbers that the bytes mean in the opposite order."""
    return _core.numpy.turned_of(x)


def _byteswap(self: LazyTensor, inplace: bool = False) -> LazyTensor:
    """The bytes of each number (of both parts of a complex one) in the opposite order."""
    result = _turned(self)
    if inplace:
        self[...] = result
        return self
    return result.copied()


def _resize(self: LazyTensor, *new_shape: Any, refcheck: Any = True) -> None:
    """Another shape, in place, of the first elements, then of zeros. `refcheck` says nothing: views
    of this tensor stay what they are."""
    given = new_shape[0] if len(new_shape) == 1 else new_shape
    if given is None or given == ():
        return
    shape = _core.integers(given)
    if any(length < 0 for length in shape):
        raise value_error(f"resize: negative dimensions not allowed: {shape}.")
    if self.base is not None:
        message = "resize: cannot resize this array: it does not own its data. Take a copy of it."
        raise value_error(message)
    line, count = cnp.ravel(self), math.prod(shape)
    if count > line.size:
        line = cnp.concatenate([line, cnp.zeros(count - line.size, self.dtype)])
    self.become(cnp.reshape(line[:count], shape))


def _dumps(self: LazyTensor) -> bytes:
    """The values as a text of pickle's."""
    return pickle.dumps(self)


def _by_values(name: str) -> Any:
    """A method of NumPy's arrays, of the values."""

    def method(self: LazyTensor, *args: Any, **options: Any) -> Any:
        return cnp._by_numpy.called(name, getattr(_values(name, self), name), args, options)

    method.__name__ = name
    method.__doc__ = f"ndarray.{name}, of the values, which are evaluated now."
    return method


def _values(name: str, self: LazyTensor) -> Any:
    return cnp._by_numpy.values_of(name, self)


def _to_numpy(self: LazyTensor, dtype: Any = None, copy: bool = False, na_value: Any = None) -> Any:
    """The values as an ndarray, evaluated now, by the name that libraries of tables and plots ask
    for."""
    array = _values("to_numpy", self)
    return _array_of(array) if dtype is None else _array_of(array).astype(dtype)


def _array_of(value: Any) -> Any:
    import numpy as np

    return np.asarray(value)


def _set_flags(self: LazyTensor, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Sets flags.writeable. Tensors are always aligned, and copy nothing back."""
    if uic:
        raise value_error("cannot set WRITEBACKIFCOPY flag to True")
    if align is not None and not align:
        raise value_error("setflags: align is False. Tensors are always aligned: True is required.")
    if write is not None:
        self.flags.writeable = write


def _set_field(self: LazyTensor, val: Any, dtype: Any, offset: int = 0) -> None:
    """Writes into a part of each element's bytes."""
    array = _array_of(_values("setfield", self)).copy()
    array.setfield(_values("setfield", val) if isinstance(val, LazyTensor) else val, dtype, offset)
    self[...] = array


def _memory_of_values(name: str) -> Any:
    """NumPy's description of the memory of the values, which stays while the tensor lives. What is
    written there does not reach the tensor."""

    def read(self: LazyTensor) -> Any:
        if not self.has_value():  # numpy.asarray asks for the attribute, and for the values then
            raise AttributeError(with_location(f"{name}: the values depend on a placeholder."))
        if self.is_differentiated():
            raise AttributeError(
                with_location(f"{name}: the values depend on what is differentiated.")
            )
        if self.dtype.name in _core.extension_floats and name != "ctypes":  # it would say bytes
            raise AttributeError(with_location(f"{name}: it has no word for {self.dtype}."))
        return getattr(_held_array(self), name)

    read.__doc__ = f"ndarray.{name} of the values, evaluated now."
    return property(read, doc=read.__doc__)


# The arrays whose memory was told, by tensor, and by the node whose values they have.
_held: dict[int, list[tuple[Any, Any]]] = {}


def _held_array(self: LazyTensor) -> Any:
    """The values as an array that stays while the tensor lives; one for the same values."""
    place, node = id(self), self.node
    if place not in _held:
        _held[place] = []
        weakref.finalize(self, _held.pop, place, None).atexit = False
    for known, array in _held[place]:
        if known == node:
            return array
    _held[place].append((node, self.evaluated()))
    return _held[place][-1][1]


def _array_wrap(
    self: LazyTensor, array: Any, context: Any = None, return_scalar: bool = False, /
) -> LazyTensor:
    """A tensor of what a function made of this one's values."""
    return cnp.asarray(array)


def _base(self: LazyTensor) -> Any:
    """What this is a view of; None for what is no view."""
    return self.root()


class Flags:
    """What NumPy says of an array's memory. WRITEABLE can be set, where NumPy lets it."""

    _NAMES: ClassVar[dict[str, str]] = {
        "C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned",
        "X": "writebackifcopy",
    }  # fmt: skip

    _tensor: LazyTensor

    def __init__(self, tensor: LazyTensor) -> None:
        self.__dict__["_tensor"] = tensor

    c_contiguous = property(lambda self: self._tensor.is_contiguous_in(False))
    f_contiguous = property(lambda self: self._tensor.is_contiguous_in(True))
    owndata = property(lambda self: self._tensor.base is None)
    aligned = property(lambda self: True)
    writebackifcopy = property(lambda self: False)
    contiguous = c_contiguous
    forc = property(lambda self: self.c_contiguous or self.f_contiguous)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    fortran = fnc
    farray = property(lambda self: self.behaved and self.fnc)
    carray = property(lambda self: self.behaved and self.c_contiguous)
    behaved = property(lambda self: self.aligned and self.writeable)

    @property
    def writeable(self) -> bool:
        return self._tensor.is_writeable

    @writeable.setter
    def writeable(self, value: Any) -> None:
        root: Any = self._tensor.root()
        is_allowed = not value or (root is None or root.is_writeable)
        if isinstance(self._tensor, LazyScalar) or not is_allowed:
            raise value_error("cannot set WRITEABLE flag to True of this array")
        self._tensor.is_writeable = bool(value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "writeable":
            raise AttributeError(with_location(f"flags.{name} cannot be set. writeable can."))
        Flags.writeable.fset(self, value)  # type: ignore[attr-defined]

    def _name(self, key: Any) -> str:
        name = self._NAMES.get(key, str(key).lower())
        known = (*self._NAMES.values(), "contiguous", "fortran", "forc", "fnc", "behaved", "carray",
                 "farray")  # fmt: skip
        if name not in known or key != key.upper():
            raise KeyError(with_location(f"flags: {key!r} is no flag. Known: {list(known)}."))
        return name

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, self._name(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        setattr(self, self._name(key), value)

    def __repr__(self) -> str:
        lines = [f"  {name.upper()} : {getattr(self, name)}" for name in self._NAMES.values()]
        return "\n".join(lines) + "\n"


def _flags(self: LazyTensor) -> Flags:
    """What NumPy says of the array's memory."""
    return Flags(self)


def _dlpack(self: LazyTensor, **options: Any) -> Any:
    """The values as a DLPack capsule, evaluated now: on the CUDA device that they lie on, or in
    host memory for `dl_device=(1, 0)` and all other tensors. The memory is the tensor's: what is
    written there is read by what is computed of the tensor later. It is a copy for copy=True, of
    views, of numbers, of what cannot be written, and of values on other devices than the
    capsule's. BufferError: another device is wanted; copy=False where one is needed."""
    wanted = options.get("dl_device")
    _core.check_dlpack(self, wanted, options.get("copy"))
    if _core.cuda_number(self) < 0 or (wanted is not None and wanted[0] == 1):
        array: Any = self.taken_out() if options.get("copy") else self.exposed()
        return array.__dlpack__(**options)
    versions = {key: options[key] for key in ("max_version",) if key in options}
    return _core.exported_to_cuda(self, bool(options.get("copy"))).__dlpack__(**versions)


def _dlpack_device(self: LazyTensor) -> tuple[int, int]:
    """(1, 0) for the CPU, (2, n) for the n-th CUDA device."""
    number = _core.cuda_number(self)
    return (1, 0) if number < 0 else (2, number)


def _cuda_array_interface(self: LazyTensor) -> dict[str, Any]:
    """Where the values lie on a CUDA device: memory that the tensor shares, as by __dlpack__."""
    if _core.cuda_number(self) < 0:
        raise AttributeError(
            with_location(f"__cuda_array_interface__: the tensor lies on {self.device}.")
        )
    interface, keeper = _core.cuda_array_interface(self)
    number = id(self)
    _exported[number] = keeper, weakref.ref(self, lambda _: _exported.pop(number, None))
    return interface


# The memory that was handed out last for each tensor that lives, by its id: tensors are compared
# by their values.
_exported: dict[int, tuple[Any, Any]] = {}


def _to_device(self: LazyTensor, device: str, /, *, stream: Any = None) -> LazyTensor:
    """The same values on a device; itself where it lies there."""
    if stream is not None:
        raise value_error("to_device: a stream is given. None is required.")
    return devices.moved(self, device)


def _to(self: LazyTensor, device: Any) -> LazyTensor:
    """The same values on a device ("cpu", "cuda", "opencl:1"), a node of the graph with a gradient;
    itself where it lies there."""
    return devices.moved(self, device)


def _device(self: LazyTensor) -> str:
    """Where the values lie: "cpu", "cuda:0", …"""
    return _core.devices.device_of(self)


def _array_namespace(self: LazyTensor, *, api_version: str | None = None) -> Any:
    """composit.numpy."""
    versions = (None, "2021.12", "2022.12", "2023.12", "2024.12")
    if api_version not in versions:
        raise value_error(
            f"__array_namespace__: version {api_version!r} of the array API is not known. "
            f"One of {versions[1:]} is required."
        )
    return cnp


def _attach() -> None:
    """Puts all of these on LazyTensor."""
    methods: dict[str, Any] = {
        "choose": _choose, "compress": _compress, "put": _put,
        "conjugate": _conjugate, "conj": _conjugate,
        "view": _view, "byteswap": _byteswap, "__array_wrap__": _array_wrap,
        "resize": _resize, "dumps": _dumps,
        "__dlpack__": _dlpack, "to_device": _to_device, "to": _to,
        "__dlpack_device__": _dlpack_device,
        "__array_namespace__": _array_namespace,
        "to_numpy": _to_numpy, "setflags": _set_flags, "setfield": _set_field,
    }  # fmt: skip
    by_values = ("tofile", "dump", "getfield")
    memory = ("__array_interface__", "__array_struct__", "ctypes")
    methods.update(zip(by_values, map(_by_values, by_values)))
    methods.update(zip(memory, map(_memory_of_values, memory)))
    methods["real"] = property(_real, _write_real, doc=_real.__doc__)
    methods["imag"] = property(_imag, _write_imag, doc=_imag.__doc__)
    properties = {
        "flags": _flags, "device": _device, "__cuda_array_interface__": _cuda_array_interface,
        "base": _base, "data": lambda self: self.taken_out().data,
    }  # fmt: skip
    attach(LazyTensor, methods, properties)


_attach()
