"""Optimisers made of others: gradients clipped, summed over several steps, or scaled, on their way;
weights in the precision in which a model computes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit._core.nn import Optimizer
from composit._mismatch import wrong

__all__ = ["accumulating", "cast_floating", "clipping", "loss_scaling", "scale_loss"]


def clipping(optimizer: Optimizer, maximum: float, order: float = 2) -> Optimizer:
    """The optimiser on gradients that clip_by_global_norm made. No state of its own."""
    return _core.nn.clipping(_checked(optimizer), _core.number(maximum), _core.number(order))


def accumulating(optimizer: Optimizer, steps: int) -> Optimizer:
    """Every `steps`-th step is made, with the mean of the gradients since the last one; the others
    leave parameters as they are. State: how many are summed, the sums, then the optimiser's."""
    return _core.nn.accumulating(_checked(optimizer), _core.integer(steps))


def loss_scaling(
    optimizer: Optimizer,
    initial: float = 65536,
    growth: float = 2,
    backoff: float = 0.5,
    interval: int = 2000,
) -> Optimizer:
    """For losses in float16, whose gradients vanish or overflow: takes gradients of
    scale_loss(loss, state), as torch's GradScaler.

    Where one of them is not finite, the step is left out and the scale multiplied by `backoff`;
    after `interval` steps without that by `growth`. State: the scale, how many steps it is as it
    is, then the optimiser's. Clip within: loss_scaling(clipping(adam(), 1.0))."""
    return _core.nn.loss_scaling(
        _checked(optimizer),
        _core.number(initial),
        _core.number(growth),
        _core.number(backoff),
        _core.integer(interval),
    )


def scale_loss(loss: LazyTensor, state: Iterable[LazyTensor]) -> LazyTensor:
    """The loss times the scale that `state`, loss_scaling's, begins with; at least float32."""
    return _core.nn.scale_loss(loss, state)


def cast_floating(tensors: Iterable[LazyTensor], dtype: Any) -> list[LazyTensor]:
    """The tensors of real floating dtypes converted to another one, the others as they are: weights
    in the precision in which a model computes. Gradients come back in the dtype of what was
    converted."""
    return _core.nn.cast_floating(tensors, dtype)


def _checked(optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(wrong(optimizer, "An optimiser"))
    return optimizer
