"""export: compiled functions as one C++ project that needs nothing but the standard library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import composit._core as _core
from composit._core import type_error
from composit._mismatch import wrong
from composit.compilation import CompiledFunction


def export(
    path: Any, name: str, functions: Sequence[CompiledFunction], main_text: str = ""
) -> list[str]:
    """Writes the functions, each in its latest specialisation and under its own name, into the
    folder `path`: NAME.hpp, NAME.cpp (C++17), NAME.weights (constants of more than 16 elements, if
    there are any), main.cpp (`main_text`, else a program that reads and writes files of raw
    elements) and CMakeLists.txt. More than 256 kernels continue in NAME_2.cpp, …. Returns the names
    of the files; all are written under temporary names before the first is renamed.

    TypeError for a function that was not made by composit.compile; AttributeError for one that was
    neither compiled for examples nor called yet; NotImplementedError naming what cannot be
    exported; OSError when a file cannot be written.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(wrong(path, "A path"))
    if not isinstance(functions, Sequence):
        raise TypeError(wrong(functions, "A sequence of functions made by composit.compile"))
    for function in functions:
        if not isinstance(function, CompiledFunction):
            raise type_error(
                f"export: {function!r} is not a function made by composit.compile, "
                "which is required."
            )
    if not isinstance(name, str):
        raise type_error(f"export: {name!r} is not a name, which is required.")
    cores = [function.core for function in functions]
    return _core.export_cpp_project(cores, os.fspath(path), name, main_text)
