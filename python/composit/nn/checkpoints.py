"""Weights and whole states of training in files: safetensors, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import composit._core as _core

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
    _core.nn.save_weights(path, tensors, metadata)


def check_weights(
    found: Mapping[str, Any], required: Mapping[str, Any], *, _function: str = "check_weights"
) -> None:
    """ValueError unless `found` has the names, shapes and dtypes of `required`, and no others. It
    lists all that is missing, left over or different, with the names it may be meant by."""
    _core.nn.check_weights(_function, found, required)


def save_checkpoint(path: str | os.PathLike[str], checkpoint: Any) -> None:
    """Writes a structure of dictionaries, lists and tuples of tensors, arrays, numbers, texts and
    None: parameters, an optimiser's state, keys, the order of the data, a generator's state.

    It is a safetensors file, whose tensors are named by their place, as "state.0"; the rest is in
    its metadata. As save_safetensors, it leaves the old file or the new one."""
    described: Any = _core.nn.outline_of(checkpoint, False)
    outline, tensors = described
    save_safetensors(path, tensors, {_KEY: outline})


def load_checkpoint(path: str | os.PathLike[str], like: Any = None) -> Any:
    """What save_checkpoint wrote, to the last bit: tensors, arrays and numbers as what they were.

    `like` is a structure as the one required: ValueError where places, shapes or dtypes differ,
    all of them."""
    where = f"load_checkpoint: {checked_path(path)}"
    tensors, metadata = _core.nn.load_safetensors(checked_path(path), False, "load_checkpoint")
    written = _core.nn.checkpoint_outline(where, metadata)
    if like is not None:
        described: Any = _core.nn.outline_of(like, False)
        check_weights(tensors, described[1], _function="load_checkpoint")
    return _core.nn.structure_of(
        written, tensors, False, where, "A file that save_checkpoint wrote"
    )


# A path as text. TypeError, ValueError for what is none.
checked_path: Any = _core.nn.checked_path
