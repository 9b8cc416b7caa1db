"""composit's own floating-point state for work that is Python's and NumPy's."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

import composit._core as _core

Function = TypeVar("Function")


def in_default_state(function: Function) -> Function:
    """The function, run in the default floating-point state whatever its caller's is: rounding to
    nearest, keeping subnormal numbers."""

    @functools.wraps(function)  # type: ignore[arg-type]
    def called(*args: Any, **kwargs: Any) -> Any:
        return _core.called(function, *args, **kwargs)

    return called  # type: ignore[return-value]
