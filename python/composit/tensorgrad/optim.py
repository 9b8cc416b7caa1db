"""Optimisers: composit.torch's where composit computes, the same formulas elsewhere."""

from __future__ import annotations

from typing import Any

import composit.torch as torch
from composit._core import value_error
from composit.tensorgrad.ctx import no_grad
from composit.tensorgrad.tensor import Tensor

__all__ = ["SGD", "Adam", "Optimizer"]


class Optimizer:
    """Parameters that `step` changes by their gradients."""

    def __init__(self, parameters: Any) -> None:
        self.parameters = list(parameters)
        if not self.parameters:
            raise value_error("optimiser: there are no parameters. One is required.")
        self._on_cpu: Any = None  # composit.torch's optimiser, and the tensors that it holds
        self._of: list[Any] = []
        self._state: list[Any] = []

    def zero_grad(self) -> None:
        """Gradients become zeros."""
        for each in self.parameters:
            each.grad = None

    def step(self) -> None:
        """One step of all parameters."""
        if all(each._of is not None for each in self.parameters):
            self._cpu_optimizer().step()
            return
        with no_grad():
            for i, each in enumerate(self.parameters):
                gradient = Tensor(each.grad, each.dtype, each.device, requires_grad=False)
                each.data = self._updated(i, each, gradient).data

    def _cpu_optimizer(self) -> Any:
        held = [each._of for each in self.parameters]
        if self._on_cpu is None or any(a is not b for a, b in zip(held, self._of)):
            self._on_cpu, before = self._made(held), self._on_cpu
            if before is not None:  # some have moved or were written: their state goes on
                for new, old in zip(held, self._of):
                    if old in before.state:
                        self._on_cpu.state[new] = before.state[old]
            self._of = held
        return self._on_cpu

    def _made(self, tensors: list[Any]) -> Any:
        raise NotImplementedError

    def _updated(self, i: int, parameter: Tensor, gradient: Tensor) -> Tensor:
        raise NotImplementedError


class SGD(Optimizer):
    """Gradient descent, with momentum if given."""

    def __init__(self, parameters: Any, lr: float, momentum: float | None = None) -> None:
        super().__init__(parameters)
        self.lr, self.momentum = lr, momentum
        self._state = [None] * len(self.parameters)

    def _made(self, tensors: list[Any]) -> Any:
        return torch.optim.SGD(tensors, lr=self.lr, momentum=self.momentum or 0)

    def _updated(self, i: int, parameter: Tensor, gradient: Tensor) -> Tensor:
        if self.momentum:
            before = self._state[i]
            gradient = gradient if before is None else before * self.momentum + gradient
            self._state[i] = gradient
        return parameter - gradient * self.lr


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015)."""

    def __init__(
        self, parameters: Any, lr: float = 0.001, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:  # fmt: skip
        super().__init__(parameters)
        self.lr, self.betas, self.eps = lr, betas, eps
        self._state = [None] * len(self.parameters)
        self._steps = [0] * len(self.parameters)

    def _made(self, tensors: list[Any]) -> Any:
        return torch.optim.Adam(tensors, lr=self.lr, betas=self.betas, eps=self.eps)

    def _updated(self, i: int, parameter: Tensor, gradient: Tensor) -> Tensor:
        first, second = self.betas
        mean, square = self._state[i] or (gradient * 0, gradient * 0)
        mean = mean * first + gradient * (1 - first)
        square = square * second + gradient * gradient * (1 - second)
        self._state[i] = mean, square
        self._steps[i] += 1
        unbiased = (square * (1 / (1 - second ** self._steps[i]))).sqrt() + self.eps
        return parameter - mean * (self.lr / (1 - first ** self._steps[i])) / unbiased
