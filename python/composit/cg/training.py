"""Gradient descent on a module's parameters, each step one compiled program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from composit._core import LazyTensor, with_location
from composit.cg.module import Module
from composit.cg.values import described, refuse_masked
from composit.compilation import compile
from composit.evaluation import evaluate
from composit.functional import value_and_grad


class Training:
    """A module, a loss and an optimiser of composit.nn:

        training = cg.Training(model, nn.cross_entropy, nn.adam(1e-3))
        loss = training.step(images, labels)

    `loss` is a function of the module's result and of targets to a number; `step` takes a value for
    each of the module's inputs, then the targets, which are arrays. It changes the parameters and
    returns the loss before that. Batches of one shape share a program."""

    def __init__(
        self,
        module: Module,
        loss: Callable[..., Any],
        optimizer: Any,
        backend: str = "cpp",
        threads: int | None = None,
    ) -> None:
        if not isinstance(module, Module):
            raise TypeError(
                with_location(
                    f"Training: {described(module)}, of type {type(module).__name__}, is given. A "
                    "module is required."
                )
            )
        self.module, self.loss, self.optimizer = module, loss, optimizer
        self.parameters = module.parameters()
        if not self.parameters:
            raise ValueError(
                with_location(
                    f"Training: {module.functional_name} has no parameters. At least one is "
                    "required."
                )
            )
        for one in self.parameters:
            if one.tensor.dtype.kind in "iu":  # which count as float64, as in derivatives
                one._assign_own(_array(one.value).astype("float64"))
        tensors = [one.tensor for one in self.parameters]
        self._state = _arrays(optimizer.initial_state(tensors))
        self._step = compile(
            self._updated, backend=backend, threads=threads,
            name=f"train_{module.short_functional_name}",
        )  # fmt: skip

    def _updated(self, parameters: list[Any], state: list[Any], *batch: Any) -> Any:
        count = len(self.module.inputs)

        def loss_of(values: list[Any]) -> Any:
            return self.loss(self.module.apply(values, *batch[:count]), *batch[count:])

        loss, gradients = value_and_grad(loss_of)(parameters)
        updated, after = self.optimizer.step(parameters, gradients, state)
        return loss, list(updated), list(after)

    def step(self, *batch: Any) -> float:
        """One step with a batch: inputs, then targets. The loss before it."""
        count = len(self.module.inputs)
        if len(batch) < count:
            raise ValueError(
                with_location(
                    f"Training: {len(batch)} arrays are given to {self.module.functional_name}, "
                    f"which has {count} inputs. Those, then the targets, are required."
                )
            )
        refuse_masked(batch, f"Training: {self.module.functional_name}")
        values = [_array(one.value) for one in self.parameters]
        loss, updated, self._state = self._step(values, self._state, *batch)
        for parameter, value in zip(self.parameters, updated):
            parameter._assign_own(value)
        return float(loss)


def _arrays(tensors: Any) -> list[Any]:
    tensors = list(tensors)
    return list(evaluate(*tensors, always_return_tuple=True)) if tensors else []


def _array(value: Any) -> Any:
    return evaluate(value) if isinstance(value, LazyTensor) else np.asarray(value)
