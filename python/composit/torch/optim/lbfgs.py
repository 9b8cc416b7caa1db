"""LBFGS: the quasi-Newton method of limited memory, whose steps call the loss again and again."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import runtime_error, type_error, value_error
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.optim.optimizer import Optimizer
from composit.torch.tape import enable_grad, no_grad


class LBFGS(Optimizer):
    """LBFGS (Nocedal); step needs a closure that computes the loss and its gradients anew."""

    _bounded = "lbfgs"

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        if line_search_fn not in (None, "strong_wolfe"):
            raise runtime_error("only 'strong_wolfe' is supported")
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise value_error("LBFGS doesn't support per-parameter options (parameter groups)")

    def _gradient(self) -> Any:
        parts = [
            calling.functions["zeros_like"](x) if x.grad is None else x.grad
            for x in self.param_groups[0]["params"]
        ]
        return calling.functions["cat"]([x.detach().reshape(-1) for x in parts])

    def _move(self, starts: list[Any], t: float, direction: Any) -> None:
        place = 0
        for x, start in zip(self.param_groups[0]["params"], starts):
            count = x.numel()
            x.copy_(start + direction[place : place + count].reshape(x.shape) * t)
            place += count

    @no_grad()
    @in_default_state
    def step(self, closure: Any = None) -> Any:
        """Several updates, until max_iter, max_eval or a tolerance is reached; the first loss."""
        if closure is None:
            raise type_error("LBFGS.step() needs a closure that computes the loss.")
        group = self.param_groups[0]
        losses: list[Any] = []
        starts: list[Any] = []

        def compute() -> tuple[float, Any]:
            with enable_grad():
                losses.append(closure())
            return float(losses[-1]), self._gradient()

        def begin() -> None:
            starts[:] = [x.detach().clone() for x in group["params"]]

        def move(length: float, direction: Any) -> None:
            self._move(starts, length, direction)

        state = self.state.setdefault(group["params"][0], {"func_evals": 0, "n_iter": 0})
        _core.aten.lbfgs(state, group, compute, begin, move)
        return losses[0]
