"""torch.save and torch.load: structures of tensors in safetensors files, other objects in archives
of pickles; PyTorch's files are read."""

from __future__ import annotations

import io
import json
from typing import Any, BinaryIO

import composit._core as _core
from composit._core import runtime_error, type_error, value_error
from composit.evaluation import as_tensor
from composit.nn import save_safetensors
from composit.nn.checkpoints import checked_path
from composit.torch import calling, dtypes, locations, places

assert locations  # it says where tensors go

_KEY = "composit.torch"
_PLACES = "composit.torch.devices"  # of tensors that do not lie on the CPU
_FIRST_OF_PICKLES = b"\x80"  # since protocol 2
_FIRST_OF_ARCHIVES = b"PK\x03\x04"  # which torch.save writes


def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:  # fmt: skip
    """Writes an object into a path, or into what has write(). A structure of tensors, numbers and
    texts becomes a safetensors file; any other object (a whole module, an object of a user's class)
    a ZIP archive of a pickle and of its tensors. A path's file is written whole or not at all.
    pickle.PicklingError, AttributeError or TypeError for what cannot be pickled."""
    described: Any = _core.nn.outline_of(obj, True)
    if described is None:
        from composit.torch import archives

        content = archives.content(obj, pickle_module, pickle_protocol)
        if hasattr(f, "write"):
            f.write(content)
        else:
            _core.nn.write_whole("save", checked_path(f), content)
        return
    outline, tensors = described
    metadata = {_KEY: outline}
    elsewhere = {name: places.device_of(x) for name, x in tensors.items()}
    elsewhere = {name: place for name, place in elsewhere.items() if place != "cpu"}
    if elsewhere:
        metadata[_PLACES] = json.dumps(elsewhere)
    if not hasattr(f, "write"):
        save_safetensors(f, tensors, metadata)
        return
    values = [as_tensor(tensor) for tensor in tensors.values()]
    f.write(_core.nn.safetensors_content(list(tensors), values, metadata))


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """What save wrote, what PyTorch's torch.save wrote, or the tensors of any safetensors file by
    name. With weights_only, only data are read: pickle.UnpicklingError for a file that names
    anything else, which could run code. Without, modules and objects of users' classes are read,
    too, from files that are trusted. Tensors go to the device that they were saved on (RuntimeError
    where it is not here), or where map_location says: a device, a dictionary of saved and wanted
    ones, or a function of (storage, saved device). ValueError with the path for a file that is
    damaged, FileNotFoundError, OSError."""
    if isinstance(map_location, (str, dtypes.device)):
        dtypes.check_device(map_location)
    if hasattr(f, "read"):
        if mmap:
            raise value_error("f must be a file path in order to use the mmap argument")
        content = f.read()
        if not isinstance(content, bytes):
            kind = type(content).__name__
            raise type_error(f"load: {f!r} reads {kind}. A file opened for bytes is required.")
        where = f"load: {getattr(f, 'name', 'the stream')}"
        file = io.BytesIO(content)
        if content.startswith(_FIRST_OF_ARCHIVES):
            return _archived(where, content, map_location, weights_only, pickle_module)
        _refuse_pickles(where, file)
        return _loaded(where, *_core.nn.read_safetensors(f"{where}: ", content), map_location)
    path = checked_path(f)
    where = f"load: {path}"
    try:
        tensors, metadata = _core.nn.load_safetensors(path, True, "load")
    except ValueError:
        with open(path, "rb") as opened:
            if opened.read(4) == _FIRST_OF_ARCHIVES:
                return _archived(where, path, map_location, weights_only, pickle_module)
            _refuse_pickles(where, opened)
        raise
    return _loaded(where, tensors, metadata, map_location)


def _archived(where: str, source: bytes | str, *options: Any) -> Any:
    from composit.torch import archives  # with Python's zipfile, which takes long to load

    return archives.load(where, source, *options)


def _refuse_pickles(where: str, file: BinaryIO) -> None:
    # In a safetensors file JSON begins after the eight bytes of its header's length.
    file.seek(0)
    first = file.read(9)
    if first[8:9] == b"{":
        return
    file.seek(0)
    if first.startswith(_FIRST_OF_PICKLES) or _is_pickle_of_text(file):
        raise runtime_error(
            f"{where}: it is a pickle, which can run code. An archive of PyTorch 1.6 or later "
            "is required, or a safetensors file: under PyTorch, "
            "torch.save(torch.load(path), path) makes one."
        )


def _is_pickle_of_text(file: BinaryIO) -> bool:
    """Whether it begins with a pickle. Those of protocols 0 and 1 have no mark: their instructions
    are read, to the end of the first pickle, and not followed."""
    import pickletools

    try:
        for _ in pickletools.genops(file):
            pass
    except (ValueError, LookupError, TypeError, OverflowError):
        return False
    return True


def _loaded(where: str, tensors: Any, metadata: dict[str, str], map_location: Any) -> Any:
    tensors = _core.placed_tensors(where, tensors, metadata.get(_PLACES, "{}"), map_location)
    if _KEY not in metadata:
        return {name: calling.wrapped(tensor) for name, tensor in tensors.items()}
    return _core.nn.structure_of(metadata[_KEY], tensors, True, where, "A file that save wrote")


_core.provide("torch_wrapped", calling.wrapped)
