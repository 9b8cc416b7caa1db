"""The back ends of this process, and back ends written in Python."""

from __future__ import annotations

from typing import Any

import composit._core as _core


def register(backend: Any) -> Any:
    """Makes a back end known by its name. It is an object with

        name                       a text
        refuses(kernel)            why a kernel cannot run here, or None (may be left out)
        compile(program)           a callable(inputs, outputs), which reads the first list of
                                   ndarrays and writes the second, in the program's order

    Kernels that it refuses run on the interpreter."""
    name = getattr(backend, "name", None)
    if not isinstance(name, str):
        raise _core.type_error(f"register: the back end's name is {name!r}. A text is required.")
    _core.backends.register(backend)
    return backend


def names() -> list[str]:
    """The names of all back ends."""
    return _core.backends.names()


def full_name(name: str) -> str:
    """The name of a back end with the number of its device: "cuda:0" for "cuda". KeyError where
    there is none, with the reason."""
    return _core.backends.full_name(name)
