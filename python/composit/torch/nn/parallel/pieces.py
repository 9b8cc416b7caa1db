"""Tensors cut into pieces for several devices, and modules on each: what DataParallel is made
of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import composit._core as _core
from composit.torch.calling import functions


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """For each device a piece of every tensor along a dimension, on that device; what is no tensor
    is the same for all. Structures stay as they are: a tensor gives a tuple, others a list."""
    return _core.scattered(functions, inputs, target_gpus, dim)


def scatter_kwargs(
    inputs: Any, kwargs: Any, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """scatter of arguments and of keywords, as many of both."""
    return _core.scattered_arguments(functions, inputs, kwargs, target_gpus, dim)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Structures of pieces as one structure of tensors, joined along a dimension on a device; those
    without dimensions make a vector."""
    return _core.gathered(functions, outputs, target_device, dim)


def parallel_apply(
    modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Any = None, devices: Any = None
) -> list[Any]:
    """What each module gives for its inputs, a tuple or one tensor, one module after another.
    AssertionError for numbers that differ."""
    return _core.applied_in_order(modules, inputs, kwargs_tup, devices)


def replicate(network: Any, devices: Sequence[Any], detach: bool = False) -> list[Any]:
    """A copy of the module for each device, whose tensors are computed from the module's own, so
    that gradients reach those; with `detach` they do not."""
    return _core.replicas(network, devices, detach)
