"""The files that exports of kernels are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import value_error


def files_of(name: Any, language: str, families: Callable[[], list[Any]]) -> list[tuple[str, str]]:
    """Names and texts, of families of procedures: a function with its derivatives, in double and
    in float."""
    if not isinstance(name, str) or not name.isidentifier():
        raise value_error(f"export: {name!r} cannot name a file. An identifier is required.")
    if language == "cpp":
        header, source = _core.procedure.print_file(name, families())
        return [(name + ".hpp", header), (name + ".cpp", source)]
    if language in ("opencl", "cuda"):
        return _core.procedure.print_kernel_files(language, name, families())
    if language == "mlir":
        return [(name + ".mlir", _core.procedure.print_mlir(families(), name))]
    raise value_error(
        f"export: there is no language {language!r}. One of cpp, opencl, cuda, mlir is required."
    )
