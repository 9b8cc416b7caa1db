"""Optimisers: one evaluated step, and pure ones with state; gradients clipped before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit._core.nn import Optimizer, Schedule
from composit._mismatch import wrong
from composit.evaluation import check_function, evaluate
from composit.numpy.creation import asarray

# A number, a tensor of no dimensions, a schedule, or any function of the step's number.
Rate = float | LazyTensor | Schedule | Callable[[LazyTensor], Any]


def optimize(
    inputs: Iterable[LazyTensor],
    gradients: Iterable[LazyTensor],
    optimizer_function: Callable[[LazyTensor, LazyTensor], LazyTensor],
    evaluate_function: Callable[..., Any] | None = None,
) -> list[LazyTensor]:
    """The updated inputs, evaluated together, as new leaves under the old names.

    ValueError unless there are as many gradients as inputs, and as many values as either."""
    check_function("optimize", optimizer_function)
    parameters, directions = _listed(inputs), _listed(gradients)
    _check_as_many(
        parameters, directions, f"{len(parameters)} parameters and {len(directions)} gradients"
    )
    updated = list(map(optimizer_function, parameters, directions))
    values = (evaluate_function or evaluate)(*updated)
    if len(updated) == 1 and not isinstance(values, (list, tuple)):
        values = [values]
    said = f"evaluate returned {len(values)} values for {len(updated)} parameters"
    _check_as_many(values, updated, said)
    return list(map(_under_its_name, values, parameters))


def _listed(tensors: Iterable[LazyTensor]) -> list[LazyTensor]:
    if not hasattr(tensors, "__iter__"):
        raise TypeError(wrong(tensors, "A sequence of tensors"))
    return list(tensors)


def _check_as_many(some: Sequence[Any], others: Sequence[Any], said: str) -> None:
    if len(some) != len(others):
        raise value_error(f"optimize: {said}. As many of each are required.")


def _under_its_name(value: Any, parameter: LazyTensor) -> LazyTensor:
    return asarray(value, name=parameter.name)


def sgd_optimizer(learning_rate: float) -> Callable[[LazyTensor, LazyTensor], LazyTensor]:
    """parameter - learning_rate * gradient"""

    def step(parameter: LazyTensor, gradient: LazyTensor) -> LazyTensor:
        return parameter - gradient * learning_rate

    return step


def sgd(
    learning_rate: Rate = 1e-3,
    momentum: float = 0,
    weight_decay: float = 0,
    nesterov: bool = False,
    *,
    dampening: float = 0,
    maximize: bool = False,
) -> Optimizer:
    """Stochastic gradient descent, torch's formula."""
    velocity, decay, dampened = map(_core.number, (momentum, weight_decay, dampening))
    return _core.nn.sgd(learning_rate, velocity, decay, nesterov, dampened, maximize)


def adam(
    learning_rate: Rate = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0,
    *,
    amsgrad: bool = False,
    maximize: bool = False,
) -> Optimizer:
    """Adam (Kingma and Ba 2015), torch's formula. amsgrad: divide by the largest second moment so
    far."""
    first, second, small, decay = map(_core.number, (beta1, beta2, epsilon, weight_decay))
    return _core.nn.adam(learning_rate, first, second, small, decay, amsgrad, maximize)


def adamw(
    learning_rate: Rate = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0.01,
    *,
    amsgrad: bool = False,
    maximize: bool = False,
) -> Optimizer:
    """AdamW (Loshchilov and Hutter 2019): weight decay beside the gradient."""
    first, second, small, decay = map(_core.number, (beta1, beta2, epsilon, weight_decay))
    return _core.nn.adamw(learning_rate, first, second, small, decay, amsgrad, maximize)


def rmsprop(
    learning_rate: Rate = 1e-2,
    alpha: float = 0.99,
    epsilon: float = 1e-8,
    weight_decay: float = 0,
    momentum: float = 0,
    *,
    centered: bool = False,
    maximize: bool = False,
) -> Optimizer:
    """RMSprop (Tieleman and Hinton 2012), torch's formula. centered: divide by the deviation in
    place of the root mean square."""
    mean, small, decay, velocity = map(_core.number, (alpha, epsilon, weight_decay, momentum))
    return _core.nn.rmsprop(learning_rate, mean, small, decay, velocity, centered, maximize)


def adagrad(
    learning_rate: Rate = 1e-2,
    learning_rate_decay: float = 0,
    weight_decay: float = 0,
    initial_accumulator_value: float = 0,
    epsilon: float = 1e-10,
    *,
    maximize: bool = False,
) -> Optimizer:
    """Adagrad (Duchi, Hazan and Singer 2011), torch's formula."""
    options = (learning_rate_decay, weight_decay, initial_accumulator_value, epsilon)
    slower, decay, initial, small = map(_core.number, options)
    return _core.nn.adagrad(learning_rate, slower, decay, initial, small, maximize)


def lion(
    learning_rate: Rate = 1e-4,
    beta1: float = 0.9,
    beta2: float = 0.99,
    weight_decay: float = 0,
    *,
    maximize: bool = False,
) -> Optimizer:
    """Lion (Chen et al. 2023): the sign of a mean of gradients; weight decay beside it."""
    first, second, decay = map(_core.number, (beta1, beta2, weight_decay))
    return _core.nn.lion(learning_rate, first, second, decay, maximize)


def clip_by_value(gradients: Iterable[LazyTensor], limit: float) -> list[LazyTensor]:
    """Every element between -limit and limit: torch's clip_grad_value_."""
    return _core.nn.clip_by_value(gradients, _core.number(limit))


def global_norm(gradients: Iterable[LazyTensor], order: float = 2) -> LazyTensor:
    """The norm of all elements together, of any positive order, infinity too."""
    return _core.nn.global_norm(gradients, _core.number(order))


def clip_by_global_norm(
    gradients: Iterable[LazyTensor], maximum: float, order: float = 2
) -> tuple[list[LazyTensor], LazyTensor]:
    """All gradients times min(1, maximum / (norm + 1e-6)), and the norm before: torch's
    clip_grad_norm_."""
    options = map(_core.number, (maximum, order))
    return _core.nn.clip_by_global_norm(gradients, *options)
