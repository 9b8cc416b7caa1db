"""export: compiled functions as one C++ project that needs nothing but the standard library."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import composit._core as _core
from composit.compilation import CompiledFunction


def export(
    path: Any,
    name: str,
    functions: Sequence[CompiledFunction],
    main_text: str = "",
    *,
    style: str = "fast",
    language: str = "cpp",
    workspace: bool = False,
    strict: bool = False,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> list[str]:
    """Writes the functions, each in its latest specialisation and under its own name, into the
    folder `path`: NAME.hpp, NAME.cpp (C++17), NAME.weights (constants of more than 16 elements, if
    there are any), main.cpp (`main_text`, else a program that reads and writes files of raw
    elements) and CMakeLists.txt. More than 256 kernels continue in NAME_2.cpp, …. Returns the names
    of the files; all are written under temporary names before the first is renamed.

    style="plain" writes C++17 (NAME.hpp, NAME.cpp) or, with language="c", C99 (NAME.h, NAME.c) that
    reads as a person writes it: a function for each kernel, loops over arrays of fixed size,
    weights as constants, for one thread, with the same bits. It needs no library but what compilers
    call by themselves (memcpy, memmove, memset). Its memory is static; with workspace=True it is
    an argument `_workspace` of each function. strict=True writes the same program as checkers of
    rules such as MISRA's want it: braces around each body, one declaration a line, parentheses
    where operators of different precedence meet, prototypes, an include guard.

    `texts` are tables that the header declares beside the functions, by name: arrays of C's
    strings, as the names of classes (C: NAME_TABLE).

    ValueError for a style or language that does not exist; TypeError for a function that was not
    made by composit.compile; AttributeError for one that was neither compiled for examples nor
    called yet; NotImplementedError naming what cannot be exported; OSError when a file cannot be
    written.
    """
    cores = _core.cores_to_export(path, name, functions, CompiledFunction)
    return _core.export_cores(
        cores, os.fspath(path), name, style, language, workspace, strict, main_text, texts
    )
