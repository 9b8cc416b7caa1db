"""torch.save and torch.load: structures of tensors in safetensors files, written whole or not at
all; pickles are refused."""

from __future__ import annotations

import json
import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from composit._core import with_location
from composit.nn import load_safetensors, save_safetensors
from composit.torch import calling, dtypes
from composit.torch.calling import TensorBase, is_recorded

_KEY = "composit.torch"
_FIRST_OF_PICKLES = (b"\x80", b"PK\x03\x04")  # of a pickle, and of the ZIP archive torch writes


def _described(value: Any, path: str, tensors: dict[str, Any]) -> Any:
    """The structure as JSON; tensors are put into a dictionary, by their paths."""
    if isinstance(value, TensorBase):
        name = path or "tensor"
        while name in tensors:
            name += "'"
        tensors[name] = value.detach()._lazy  # type: ignore[attr-defined]
        return {"tensor": name, "requires_grad": is_recorded(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, (dtypes.dtype, dtypes.device)):
        return {type(value).__name__: str(value).removeprefix("torch.")}
    if isinstance(value, dict):
        kind = "OrderedDict" if isinstance(value, OrderedDict) else "dict"
        items = [
            [_described(key, "", tensors), _described(item, _joined(path, key), tensors)]
            for key, item in value.items()
        ]
        return {kind: items}
    if isinstance(value, (list, tuple)):
        kind = "Size" if isinstance(value, dtypes.Size) else type(value).__name__
        if kind in ("list", "tuple", "Size"):
            return {kind: [_described(x, _joined(path, i), tensors) for i, x in enumerate(value)]}
    raise TypeError(
        with_location(
            f"save: a {type(value).__name__} at {path or 'the top'} cannot be saved. Tensors, "
            "numbers, texts, None, and dictionaries, lists and tuples of them are; of a module "
            "and an optimiser their state_dict()."
        )
    )


def _joined(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def _rebuilt(value: Any, tensors: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        ((kind, held),) = [(k, v) for k, v in value.items() if k != "requires_grad"]
        if kind == "tensor":
            tensor = calling.wrapped(tensors[held])
            return tensor.requires_grad_() if value["requires_grad"] else tensor
        if kind == "complex":
            return complex(*held)
        if kind == "dtype":
            return dtypes.by_name[held]
        if kind == "device":
            return dtypes.device(held)
        if kind in ("dict", "OrderedDict"):
            made = {_rebuilt(k, tensors): _rebuilt(v, tensors) for k, v in held}
            return OrderedDict(made) if kind == "OrderedDict" else made
        items = [_rebuilt(item, tensors) for item in held]
        makers: dict[str, Callable[[Any], Any]] = {"list": list, "tuple": tuple,
                                                   "Size": dtypes.Size}  # fmt: skip
        return makers[kind](items)
    return value


def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:  # fmt: skip
    """Writes a structure of tensors, numbers and texts into a safetensors file: a path, or what
    has write(). A path's file is written whole or not at all. TypeError for other objects."""
    tensors: dict[str, Any] = {}
    described = _described(obj, "", tensors)
    metadata = {_KEY: json.dumps(described)}
    if not hasattr(f, "write"):
        save_safetensors(f, tensors, metadata)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved")
        save_safetensors(path, tensors, metadata)
        with open(path, "rb") as file:
            f.write(file.read())


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """What save wrote, or the tensors of any safetensors file by name. RuntimeError for pickles,
    which can run code: torch.save's are to be converted by safetensors.torch.save_file."""
    if isinstance(map_location, (str, dtypes.device)):
        dtypes.check_device(map_location)
    if not hasattr(f, "read"):
        with open(f, "rb") as file:
            _refuse_pickles(file.read(9))
        return _loaded(f)
    content = f.read()
    _refuse_pickles(content[:9])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loaded")
        with open(path, "wb") as file:
            file.write(content)
        return _loaded(path)


def _refuse_pickles(first: bytes) -> None:
    # In a safetensors file JSON begins after the eight bytes of its header's length.
    if first.startswith(_FIRST_OF_PICKLES) and first[8:9] != b"{":
        raise RuntimeError(
            with_location(
                "load: the file is a pickle, which can run code. A safetensors file is required: "
                "under PyTorch, safetensors.torch.save_file(torch.load(path), new_path) makes one."
            )
        )


def _loaded(path: Any) -> Any:
    tensors, metadata = load_safetensors(path, copy=True, return_metadata=True)
    if _KEY not in metadata:
        return {name: calling.wrapped(tensor) for name, tensor in tensors.items()}
    return _rebuilt(json.loads(metadata[_KEY]), tensors)
