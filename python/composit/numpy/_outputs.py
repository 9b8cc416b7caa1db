"""Where results go: `out=`."""

from __future__ import annotations

from typing import Any

import composit._core as _core

_c = _core.numpy


def write_out(
    function: str, result: Any, out: Any, casting: str = "same_kind", widens: bool = False
) -> Any:
    """The result, or `out` with the result written over it, as composit::numpy::written_as says."""
    return result if out is None else _c.write_out(function, result, out, casting, widens)
