"""torch.utils.checkpoint: parts of a network whose values PyTorch computes again for gradients.
Which values are kept is the plan's matter here: a call of the function is all that is done."""

from __future__ import annotations

import contextlib
import enum
from typing import Any

from composit._core import value_error

__all__ = [
    "CheckpointError", "CheckpointPolicy", "DefaultDeviceType", "checkpoint",
    "checkpoint_sequential", "create_selective_checkpoint_contexts", "get_device_states",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip


class CheckpointError(RuntimeError):
    """What PyTorch raises where values that are computed again differ; nothing raises it here."""


class CheckpointPolicy(enum.Enum):
    """What a policy of create_selective_checkpoint_contexts says of an operation."""

    MUST_SAVE, PREFER_SAVE, MUST_RECOMPUTE, PREFER_RECOMPUTE, MUST_CPU_OFFLOAD = range(5)


class DefaultDeviceType:
    """The kind of device whose generator PyTorch puts back; there is one generator here."""

    _name = "cuda"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Says what get_device_type answers."""
        DefaultDeviceType._name = device

    @staticmethod
    def get_device_type() -> str:
        """The kind of device."""
        return DefaultDeviceType._name


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


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> Any:
    """Two with blocks that do nothing: which values are kept is the plan's matter."""
    return noop_context_fn()


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Nothing: there is one generator for all devices."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Nothing: there is one generator for all devices."""


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Any:
    """A with block whose setting is accepted."""
    yield


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """A with block whose setting is accepted."""
    yield
