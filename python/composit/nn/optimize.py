"""Optimisers: one evaluated step as in the seed, and pure ones with state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from composit import _core
from composit._core import LazyTensor
from composit._core.nn import Optimizer
from composit.evaluation import evaluate


def optimize(
    inputs: Iterable[LazyTensor],
    gradients: Iterable[LazyTensor],
    optimizer_function: Callable[[LazyTensor, LazyTensor], LazyTensor],
    evaluate_function: Callable[..., Any] | None = None,
) -> list[LazyTensor]:
    """The updated inputs, evaluated together, as new leaves under the old names."""
    from composit.numpy import asarray

    parameters = list(inputs)
    updated = [optimizer_function(x, gradient) for x, gradient in zip(parameters, gradients)]
    values = (evaluate_function or evaluate)(*updated)
    if len(updated) == 1 and not isinstance(values, (list, tuple)):
        values = [values]
    return [asarray(value, name=x.name) for value, x in zip(values, parameters)]


def sgd_optimizer(learning_rate: float) -> Callable[[LazyTensor, LazyTensor], LazyTensor]:
    """parameter - learning_rate * gradient"""

    def step(parameter: LazyTensor, gradient: LazyTensor) -> LazyTensor:
        return parameter - gradient * learning_rate

    return step


def sgd(
    learning_rate: float = 1e-3,
    momentum: float = 0,
    weight_decay: float = 0,
    nesterov: bool = False,
) -> Optimizer:
    """Stochastic gradient descent, torch's formula."""
    return _core.nn.sgd(float(learning_rate), float(momentum), float(weight_decay), bool(nesterov))


def adam(
    learning_rate: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0,
) -> Optimizer:
    """Adam (Kingma and Ba 2015), torch's formula."""
    return _core.nn.adam(*map(float, (learning_rate, beta1, beta2, epsilon, weight_decay)))


def adamw(
    learning_rate: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0.01,
) -> Optimizer:
    """AdamW (Loshchilov and Hutter 2019): weight decay beside the gradient."""
    return _core.nn.adamw(*map(float, (learning_rate, beta1, beta2, epsilon, weight_decay)))
