"""A kernel's Python text as a procedure (composit/knossos/translate.h)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core.procedure import Procedure
from composit.knossos.annotations import Leaf, annotated
from composit.knossos.functions import known
from composit.knossos.outside import Outside
from composit.knossos.source import Source


def translate(
    source: Source, dtype: Any, as_kernel: Callable[[Any], Any]
) -> tuple[Procedure, Leaf]:  # fmt: skip
    """The procedure in one floating dtype, and the structure of what it returns.

    `as_kernel(function)` is the kernel of another function that is called."""
    made, value = _core.knossos.translate(source, dtype, Outside(as_kernel), known)
    return made, annotated.structure_of(value)
