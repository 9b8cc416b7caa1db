"""torch.serialization: files, and which classes of users' may be loaded from files of strangers."""

from __future__ import annotations

import enum
import mmap
from typing import Any

from composit._core import not_implemented, type_error
from composit.torch import archives
from composit.torch.saving import load, save

__all__ = [
    "LoadEndianness", "add_safe_globals", "clear_safe_globals", "get_crc32_options",
    "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals", "load",
    "register_package", "safe_globals", "save", "set_crc32_options",
    "set_default_load_endianness", "set_default_mmap_options", "skip_data",
]  # fmt: skip


class LoadEndianness(enum.Enum):
    """The order of bytes that files have which do not say it."""

    NATIVE, LITTLE, BIG = 1, 2, 3


def get_crc32_options() -> bool:
    """True: archives are written with checksums."""
    return True


def set_crc32_options(compute_crc32: bool) -> None:
    """Accepted: archives are written with checksums."""


def get_default_load_endianness() -> Any:
    """None: files say it, or are little-endian."""
    return None


def set_default_load_endianness(endianness: Any) -> None:
    """Accepts None, NATIVE and LITTLE. TypeError for what is no LoadEndianness;
    NotImplementedError for BIG."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise type_error("Invalid argument type in function set_default_load_endianness")
    if endianness is LoadEndianness.BIG:
        raise not_implemented("set_default_load_endianness: files of big-endian machines that do "
                              "not say so are not read.")  # fmt: skip


def get_default_mmap_options() -> int:
    """MAP_PRIVATE: what is loaded with mmap=True is not written to the file."""
    return mmap.MAP_PRIVATE


class set_default_mmap_options:
    """Accepts MAP_PRIVATE; also a with block. NotImplementedError for MAP_SHARED."""

    def __init__(self, flags: int) -> None:
        if flags != mmap.MAP_PRIVATE:
            raise not_implemented("set_default_mmap_options: MAP_PRIVATE is required.")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


def register_package(priority: int, tagger: Any, deserializer: Any) -> None:
    """NotImplementedError: files hold tensors of known devices."""
    raise not_implemented("register_package: other kinds of memory in files are not built.")


class skip_data:
    """NotImplementedError: files are written with their data."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise not_implemented("skip_data is not built. Files are written with their data.")


def add_safe_globals(safe_globals: list[Any]) -> None:
    """From now on load makes objects of these classes with weights_only=True, too. An entry is a
    class, or a class with the name that files have for it."""
    archives._safe += [x for x in safe_globals if x not in archives._safe]


def get_safe_globals() -> list[Any]:
    """The classes that were added."""
    return list(archives._safe)


def clear_safe_globals() -> None:
    """Forgets the classes that were added."""
    archives._safe.clear()


class safe_globals:
    """Within a with block load makes objects of these classes."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self._classes = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._classes)

    def __exit__(self, *_: Any) -> None:
        archives._safe[:] = self._before
