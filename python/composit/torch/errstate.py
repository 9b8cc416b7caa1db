"""torch reports no errors of floating point: its nodes are built with all of them ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy._core.umath import _extobj_contextvar  # type: ignore[attr-defined]

with np.errstate(all="ignore"):
    _ignored = _extobj_contextvar.get()


def begin() -> Any:
    """Ignores errors of floating point until end() of what is returned."""
    return _extobj_contextvar.set(_ignored)


def end(token: Any) -> None:
    """Treats errors of floating point as before."""
    _extobj_contextvar.reset(token)
