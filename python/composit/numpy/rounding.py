"""Rounding to decimals."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.numpy._outputs import write_out

__all__ = ["around", "round"]


def round(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """Rounded to so many decimals, halves to even; negative ones are places before the point."""
    result = _core.numpy.round(a, _core.integer(decimals))
    size = getattr(out, "size", result.size)
    if size != result.size:
        message = f"round: invalid output shape: {size} elements. {result.size} are required."
        raise _core.value_error(message)
    return write_out("round", result, out, widens=True)


around = round
