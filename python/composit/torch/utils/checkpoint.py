"""torch.utils.checkpoint: parts of a network whose values PyTorch computes again for gradients.
Which values are kept is the plan's matter here: a call of the function is all that is done."""

from __future__ import annotations

import contextlib
from typing import Any

from composit._core import value_error

__all__ = ["checkpoint", "checkpoint_sequential", "noop_context_fn", "set_checkpoint_debug_enabled"]


def noop_context_fn() -> Any:
    """Two with blocks that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Any, *args: Any, use_reentrant: bool | None = None, context_fn: Any = noop_context_fn,
    determinism_check: str = "default", debug: bool = False, early_stop: bool = True,
    preserve_rng_state: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """function(*args, **kwargs)."""
    if use_reentrant and kwargs:
        raise value_error(f"Unexpected keyword arguments: {','.join(kwargs)}")
    first, _ = context_fn()
    with first:
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """What functions, or the modules of a Sequential, make of the input, one after the other."""
    for function in functions:
        input = function(input)
    return input


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """A with block whose setting is accepted."""
    yield
