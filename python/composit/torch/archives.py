"""ZIP archives as torch.save of PyTorch writes them: a pickle of the structure, and the bytes of
each storage beside it. They are read without trust; objects that safetensors cannot say are written
so."""

from __future__ import annotations

import io
import pickle
import sys
import zipfile
from collections import Counter, OrderedDict, defaultdict
from typing import Any, NoReturn

import numpy as np

import composit._core as _core
from composit._core import runtime_error, value_error, with_location
from composit.torch import dtypes, locations, materializing, places
from composit.torch.calling import TensorBase
from composit.torch.locations import Elsewhere

_storages = {traits.scalar_type: traits.name for traits in dtypes.table if traits.has_storage_class}
_safe: list[Any] = []  # classes and functions that users said may be loaded


class Broken(Exception):
    """The archive, or its pickle, is damaged."""


class _OfMapLocation(Exception):
    """Carries what the caller's map_location raised past all that takes errors for damage."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


_damage = (Broken, EOFError, LookupError, ValueError, TypeError, OverflowError, RuntimeError,
           MemoryError, OSError)  # fmt: skip


class _Kind:
    """A class of storages, by its dtype; of bytes where there is none."""

    def __init__(self, dtype: str | None) -> None:
        self.dtype = dtype


_Storage: Any = _core.nn.ArchivedStorage  # the memory of tensors (bindings/nn_archives.cpp)


def _tensor_of(values: Any, place: str) -> Any:
    from composit.torch.tensor import tensor

    return tensor(values, device=place)


def _in_order(size: Any) -> tuple[int, ...]:
    """The strides of a tensor whose elements follow each other."""
    strides = []
    step = 1
    for length in reversed(size):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


# ----- what pickles of tensors call


def _rebuild_tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any = False,
    hooks: Any = None, metadata: Any = None,
) -> Any:  # fmt: skip
    if not isinstance(storage, _Storage) or storage.dtype is None:
        raise Broken("a tensor has no storage")
    made = storage.tensor(storage.dtype, offset, size, stride)
    return made.requires_grad_() if requires_grad else made


def _rebuild_tensor_of_bytes(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any,
    metadata: Any = None,
) -> Any:  # fmt: skip
    if not isinstance(storage, _Storage) or not isinstance(dtype, dtypes.dtype):
        raise Broken("a tensor has no storage")
    made = storage.tensor(dtype.name, offset, size, stride)
    return made.requires_grad_() if requires_grad else made


def _rebuild_parameter(data: Any, requires_grad: Any, hooks: Any = None, state: Any = None) -> Any:
    from composit.torch.nn.parameter import Parameter

    if not isinstance(data, TensorBase):
        raise Broken("a parameter has no tensor")
    return Parameter(data, bool(requires_grad))


def _rebuild_from_type(function: Any, kind: Any, arguments: Any, state: Any) -> Any:
    from composit.torch.nn.parameter import Buffer, Parameter

    if function not in (_rebuild_tensor, _rebuild_tensor_of_bytes, _rebuild_parameter):
        raise Broken("a tensor is made by what makes none")
    made = function(*arguments)
    if kind is Parameter and not isinstance(made, Parameter):
        return Parameter(made, made.requires_grad)
    if kind is Buffer:
        return Buffer(made, persistent=bool(dict(state or {}).get("persistent", True)))
    return made


def _size(lengths: Any = ()) -> Any:
    return dtypes.Size(lengths)


def _device(kind: Any, index: Any = None) -> Any:
    if index is not None and type(index) is not int:
        raise Broken("it has a device whose number is none")
    return dtypes.device(str(kind), index)


def _encoded(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise Broken("it encodes what is no text")
    return text.encode("latin1")


def _byte_array(content: Any = b"", encoding: Any = None) -> bytearray:
    if isinstance(content, str) and encoding in ("latin1", "latin-1"):
        return bytearray(content, "latin1")
    if not isinstance(content, bytes):
        raise Broken("a bytearray is made of what is no bytes")
    return bytearray(content)


def _default_dict(factory: Any = None) -> Any:
    if factory not in (None, dict, list, set, int, float):
        raise Broken("a defaultdict has a factory that is none of Python's containers")
    return defaultdict(factory)


def _dtype(name: Any) -> Any:
    if name not in dtypes.by_name:
        raise Broken(f"it has the dtype {name!r}, which is none")
    return dtypes.by_name[name]


# What a pickle may call, beside the classes that users named.
_functions: list[Any] = [
    OrderedDict, Counter, set, frozenset, complex, _rebuild_tensor, _rebuild_tensor_of_bytes,
    _rebuild_parameter, _rebuild_from_type, _size, _device, _encoded, _byte_array, _default_dict,
    _dtype,
]  # fmt: skip


def _table() -> dict[tuple[str, str], Any]:
    """What a pickle may name."""
    from composit.torch.nn.parameter import Buffer, Parameter
    from composit.torch.tensor import Tensor

    found: dict[tuple[str, str], Any] = {
        ("collections", "OrderedDict"): OrderedDict, ("collections", "Counter"): Counter,
        ("collections", "defaultdict"): _default_dict, ("torch", "Size"): _size,
        ("torch", "device"): _device, ("_codecs", "encode"): _encoded,
        ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
        ("torch._utils", "_rebuild_tensor_v3"): _rebuild_tensor_of_bytes,
        ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
        ("torch._utils", "_rebuild_parameter_with_state"): _rebuild_parameter,
        ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_from_type,
        ("torch", "Tensor"): Tensor, ("torch.nn.parameter", "Parameter"): Parameter,
        ("torch.nn.parameter", "Buffer"): Buffer,
        ("torch.storage", "UntypedStorage"): _Kind(None), ("torch", "UntypedStorage"): _Kind(None),
        (_rebuild_tensor.__module__, "_rebuild_tensor"): _rebuild_tensor,
        (_rebuild_parameter.__module__, "_rebuild_parameter"): _rebuild_parameter,
        ("composit.torch.dtypes", "Size"): _size, ("composit.torch.dtypes", "_named"): _dtype,
    }  # fmt: skip
    for module in ("builtins", "__builtin__"):
        for kind in (set, frozenset, complex, dict, list, int, float, bool, str):
            found[module, kind.__name__] = kind
        found[module, "bytearray"] = _byte_array
    for name, dtype in dtypes.by_name.items():
        found["torch", name] = dtype
    for name, of in _storages.items():
        found["torch", f"{name}Storage"] = _Kind(of)
    for value in _safe:
        value, name = value if isinstance(value, tuple) else (value, None)
        name = name or f"{value.__module__}.{value.__qualname__}"
        found[tuple(name.rsplit(".", 1))] = value  # type: ignore[index]
    return found


class Archive:
    """One archive that is read."""

    def __init__(self, source: bytes | str, where: str, map_location: Any) -> None:
        self._map_location = map_location
        self._core = _core.nn.TorchArchive(source, where, Broken)
        self._storages: dict[str, _Storage] = {}

    def record(self, name: str) -> bytes:
        """The bytes of one entry, which is stored as it is."""
        return self._core.record(name, Broken)

    def persistent(self, described: Any) -> Any:
        """The storage that a pickle names."""
        if not isinstance(described, tuple) or len(described) != 5 or described[0] != "storage":
            raise Broken("it names something outside that is no storage")
        _, kind, key, place, count = described
        if isinstance(kind, str) and kind in dtypes.by_name:
            kind = _Kind(kind)
        if not isinstance(kind, _Kind) or not isinstance(key, str) or type(count) is not int:
            raise Broken("it describes a storage by other values")
        if key not in self._storages:
            there = self._place_of(str(place))
            self._storages[key] = _Storage(self._core, Broken, kind.dtype, key, count, there)
        held = self._storages[key]
        if (held.dtype, held.count) != (kind.dtype, count):
            raise Broken(f"it describes the storage {key!r} in two ways")
        return held

    def _place_of(self, saved: str) -> str:
        try:
            return locations.place_of(saved, self._map_location)
        except Exception as error:
            if self._map_location is None or isinstance(error, Elsewhere):
                raise
            raise _OfMapLocation(error) from error

    def value_of_stranger(self) -> Any:
        """What the archive holds, if that is data."""
        classes = tuple(x for x in _safe if isinstance(x, type))
        named = _table()
        functions = [value for value in named.values() if value in _functions or value in classes]
        content = self.record("data.pkl")
        return _core.nn.follow_pickle(
            content, named, functions, self.persistent, classes, _refuse, Broken
        )


def _refuse(module: Any, name: Any) -> NoReturn:
    """UnpicklingError: the pickle names what it may not."""
    raise pickle.UnpicklingError(
        f"it names {module}.{name}, which may run code and is not loaded with weights_only=True. "
        "Tensors, numbers, texts and containers of them are; so are classes that were given to "
        "torch.serialization.add_safe_globals. weights_only=False loads files that you trust."
    )


def _trusting(archive: Archive, content: bytes, pickle_module: Any) -> Any:
    """A reader of pickles that are trusted."""
    known = _table()

    class Unpickler(pickle_module.Unpickler):  # type: ignore[name-defined]
        def find_class(self, module: str, name: str) -> Any:
            if (module, name) in known:
                return known[module, name]
            if module.split(".")[0] == "torch":
                raise pickle.UnpicklingError(
                    f"it names PyTorch's {module}.{name}. An object that composit.torch.save "
                    "wrote is required; of PyTorch's modules their state_dict() is loaded."
                )
            return super().find_class(module, name)

        def persistent_load(self, described: Any) -> Any:
            return archive.persistent(described)

    return Unpickler(io.BytesIO(content))


def load(
    where: str, source: bytes | str, map_location: Any, weights_only: bool, pickle_module: Any
) -> Any:
    """What an archive holds: a file's content, or its path. ValueError for a damaged one,
    pickle.UnpicklingError for one that names what is not loaded; both begin with `where`. What
    map_location raises is left alone."""
    try:
        return _loaded(where, source, map_location, weights_only, pickle_module)
    except _OfMapLocation as error:
        raise error.error from None


def _loaded(
    where: str, source: bytes | str, map_location: Any, weights_only: bool, pickle_module: Any
) -> Any:
    try:
        archive = Archive(source, where, map_location)
        if weights_only:
            return archive.value_of_stranger()
        content = archive.record("data.pkl")
    except Elsewhere as error:
        raise runtime_error(str(error)) from None
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(with_location(f"{where}: {error}")) from None
    except _damage as error:
        why = str(error).splitlines()[0] if str(error) else "it is cut off"
        raise value_error(f"{where}: its archive is damaged: {why}. A file that torch.save wrote "
                          "is required.") from None  # fmt: skip
    try:
        return _trusting(archive, content, pickle_module or pickle).load()
    except (Broken, pickle.UnpicklingError) as error:
        raise pickle.UnpicklingError(with_location(f"{where}: {error}")) from None
    except Elsewhere as error:
        raise runtime_error(str(error)) from None


# ----- writing


class _Saved:
    """A storage to be written."""

    def __init__(self, key: str, values: Any, place: str) -> None:
        self.key, self.values, self.place = key, values, place


def content(value: Any, pickle_module: Any, protocol: int) -> bytes:
    """An archive of any object that can be pickled."""
    stored: list[_Saved] = []
    dtype_names: dict[str, str] = {}

    class Pickler((pickle_module or pickle).Pickler):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> Any:
            if not isinstance(value, _Saved):
                return None
            return ("storage", dtype_names[value.key], value.key, value.place, value.values.size)

        def reducer_override(self, value: Any) -> Any:
            if not isinstance(value, TensorBase):
                return NotImplemented
            from composit.torch.nn.parameter import Parameter

            tensor: Any = value
            values = np.array(materializing.values_of(tensor))
            saved = _Saved(str(len(stored)), values, places.place_of(tensor))
            dtype_names[saved.key] = tensor.dtype.name
            stored.append(saved)
            is_leaf = tensor.requires_grad
            is_parameter = isinstance(value, Parameter)
            size = tuple(tensor.shape)
            plain = (saved, 0, size, _in_order(size), is_leaf and not is_parameter)
            if not is_parameter:
                return _rebuild_tensor, plain
            return _rebuild_parameter, (_Data(plain), is_leaf)

    class _Data:
        """The tensor of a parameter."""

        def __init__(self, plain: Any) -> None:
            self.plain = plain

        def __reduce__(self) -> Any:
            return _rebuild_tensor, self.plain

    structure = io.BytesIO()
    Pickler(structure, max(protocol, 2)).dump(value)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", structure.getvalue())
        archive.writestr("archive/byteorder", sys.byteorder)
        for saved in stored:
            archive.writestr(f"archive/data/{saved.key}", np.ascontiguousarray(saved.values).data
                             if saved.values.size else b"")  # fmt: skip
        archive.writestr("archive/version", "3\n")
    return made.getvalue()


_core.provide("torch_tensor_of_array", _tensor_of)
