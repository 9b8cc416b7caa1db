"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch.optim.optimizer import Ruled


class SGD(Ruled):
    """parameter - lr * gradient, with momentum."""

    _bounded = "sgd"
    _rule = staticmethod(_core.aten.sgd)

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        })  # fmt: skip

    numbers_are_of_groups = True
