"""Weights and whole states of training in files: safetensors, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit._mismatch import wrong
from composit._outlines import Outline, join
from composit.evaluation import as_tensor

__all__ = [
    "check_weights",
    "load_checkpoint",
    "load_safetensors",
    "save_checkpoint",
    "save_safetensors",
]

# The metadata that makes a safetensors file a checkpoint.
_KEY = "composit.checkpoint"


def load_safetensors(
    path: str | os.PathLike[str],
    like: Mapping[str, Any] | None = None,
    *,
    copy: bool = False,
    return_metadata: bool = False,
) -> Any:
    """The tensors of a file by name; with return_metadata also its texts.

    They share the file's memory until they are computed with, unless copied: do not write into the
    file while they live; saving anew replaces it, which leaves them as they are. `like` holds what
    is required by name: tensors, arrays, whatever has a shape and a dtype. ValueError where names,
    shapes or dtypes differ: all of them; where the file is truncated or wrong in any way: before
    memory is taken. FileNotFoundError, OSError."""
    tensors, metadata = _core.nn.load_safetensors(
        checked_path(path), bool(copy), "load_safetensors"
    )
    if like is not None:
        check_weights(tensors, like, _function="load_safetensors")
    return (tensors, metadata) if return_metadata else tensors


def save_safetensors(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes tensors or arrays by name, and texts: into a temporary file of the same folder, which
    is flushed to the disk, then takes the name. A crash leaves the old file or the new one.

    NotSupported for complex128, which the format does not have."""
    _check_mapping(tensors, "A mapping from names to tensors")
    texts = {} if metadata is None else metadata
    if not isinstance(texts, Mapping) or not all(
        isinstance(text, str) for pair in texts.items() for text in pair
    ):
        raise TypeError(wrong(metadata, "A mapping from texts to texts"))
    values = [as_tensor(value) for value in tensors.values()]
    _core.nn.save_safetensors(checked_path(path), list(tensors), values, dict(texts))


def check_weights(
    found: Mapping[str, Any], required: Mapping[str, Any], *, _function: str = "check_weights"
) -> None:
    """ValueError unless `found` has the names, shapes and dtypes of `required`, and no others. It
    lists all that is missing, left over or different, with the names it may be meant by."""
    for weights in (found, required):
        _check_mapping(weights, "A mapping from names to tensors")
    _core.nn.check_weights(_function, list(found), _types(found), list(required), _types(required))


def save_checkpoint(path: str | os.PathLike[str], checkpoint: Any) -> None:
    """Writes a structure of dictionaries, lists and tuples of tensors, arrays, numbers, texts and
    None: parameters, an optimiser's state, keys, the order of the data, a generator's state.

    It is a safetensors file, whose tensors are named by their place, as "state.0"; the rest is in
    its metadata. As save_safetensors, it leaves the old file or the new one."""
    tensors: dict[str, Any] = {}
    outline = _outline(checkpoint, "", tensors)
    import json

    save_safetensors(path, tensors, {_KEY: json.dumps(outline)})


def load_checkpoint(path: str | os.PathLike[str], like: Any = None) -> Any:
    """What save_checkpoint wrote, to the last bit: tensors, arrays and numbers as what they were.

    `like` is a structure as the one required: ValueError where places, shapes or dtypes differ,
    all of them."""
    where = f"load_checkpoint: {checked_path(path)}"
    tensors, metadata = _core.nn.load_safetensors(checked_path(path), False, "load_checkpoint")
    if _KEY not in metadata:
        raise value_error(
            f"{where}: it was not written by save_checkpoint. "
            "A checkpoint is required; load_safetensors reads any safetensors file."
        )
    if like is not None:
        required: dict[str, Any] = {}
        _outline(like, "", required)
        check_weights(tensors, required, _function="load_checkpoint")
    return Outline(metadata[_KEY], tensors).rebuilt(
        where, "A file that save_checkpoint wrote", _rebuilt
    )


def checked_path(path: Any) -> str:
    """A path as text. TypeError, ValueError for what is none."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(wrong(path, "A file's path"))
    text = os.fspath(path)
    if not isinstance(text, str) or "\0" in text:
        raise ValueError(wrong(path, "A file's path as text without NUL"))
    return text


def _check_mapping(value: Any, required: str) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TypeError(wrong(value, required))


def _types(weights: Mapping[str, Any]) -> list[LazyTensor]:
    """Tensors of the types; arrays are not copied for it."""
    found = []
    for name, value in weights.items():
        known = value if hasattr(value, "shape") and hasattr(value, "dtype") else as_tensor(value)
        found.append(_core.input(name, known.dtype, tuple(known.shape)))
    return found


def _outline(value: Any, place: str, tensors: dict[str, Any]) -> dict[str, Any]:
    """The structure as what JSON can hold; its tensors by their places."""
    if isinstance(value, dict):
        for key in value:
            if type(key) not in (str, int):
                raise type_error(
                    f"save_checkpoint: {place or 'the checkpoint'} has the key {key!r}. "
                    "Texts and integers are required."
                )
        return {"dict": [[k, _outline(v, join(place, k), tensors)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_outline(v, join(place, i), tensors) for i, v in enumerate(value)]}
    if isinstance(value, (LazyTensor, np.ndarray, np.generic)):
        name = place or "value"
        if name in tensors:
            raise value_error(
                f"save_checkpoint: two tensors are named {name!r}, by keys with dots. "
                "Names of their own are required."
            )
        tensors[name] = value
        kinds = ((LazyTensor, "tensor"), (np.ndarray, "array"), (np.generic, "scalar"))
        return {next(kind for cls, kind in kinds if isinstance(value, cls)): name}
    if isinstance(value, float):
        return {"float": float(value).hex()}
    if value is None or isinstance(value, (bool, int, str)):
        return {"value": value}
    raise type_error(
        f"save_checkpoint: {place or 'the checkpoint'} is {type(value).__name__}. Tensors, "
        "arrays, numbers, texts and None, in dictionaries, lists and tuples, are required."
    )


def _rebuilt(outline: Outline, value: Any, place: str) -> Any:
    kind, content = outline.kind(value, place)
    if kind == "dict":
        made: dict[Any, Any] = {}
        for key, item in outline.pairs(content, place):
            if type(key) not in (str, int):
                outline.refuse(place, f"has the key {key!r}, which is no text and no integer")
            outline.put(made, key, _rebuilt(outline, item, join(place, key)), place)
        return made
    if kind in ("list", "tuple"):
        items = [_rebuilt(outline, item, below) for item, below in outline.items(content, place)]
        return items if kind == "list" else tuple(items)
    if kind == "tensor":
        return outline.tensor(content, place)
    if kind in ("array", "scalar"):
        array = np.asarray(outline.tensor(content, place))
        if kind == "scalar" and array.shape != ():
            outline.refuse(place, f"is a scalar of shape {array.shape}")
        return array if kind == "array" else array[()]
    if kind == "float":
        try:
            return float.fromhex(outline.text(content, place))
        except (ValueError, OverflowError):
            outline.refuse(place, f"is the float {content!r}, which is none")
    if kind == "value" and (content is None or isinstance(content, (bool, int, str))):
        return content
    outline.refuse(place, f"is of the unknown kind {kind!r}")
