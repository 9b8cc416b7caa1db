"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from composit._core import LazyTensor, with_location
from composit.torch.optim.optimizer import Optimizer, check_at_least_zero, decayed, number


class SGD(Optimizer):
    """parameter - lr * gradient, with momentum."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                with_location("Nesterov momentum requires a momentum and zero dampening")
            )
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        })  # fmt: skip

    numbers_are_of_groups = True

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """The learning rate"""
        return {"lr": number(group["lr"])}

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - lr * direction"""
        gradient = decayed(x, gradient, group)
        momentum = group["momentum"]
        if momentum:
            held = state.get("momentum_buffer")
            kept = gradient if held is None else held * momentum + gradient * (
                1 - group["dampening"]
            )  # fmt: skip
            state["momentum_buffer"] = kept
            gradient = gradient + kept * momentum if group["nesterov"] else kept
        return x - gradient * group["lr"]
