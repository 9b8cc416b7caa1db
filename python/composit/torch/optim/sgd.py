"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import value_error
from composit.torch.optim.optimizer import Ruled, check_at_least_zero


class SGD(Ruled):
    """parameter - lr * gradient, with momentum."""

    _rule = staticmethod(_core.aten.sgd)

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise value_error("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        })  # fmt: skip

    numbers_are_of_groups = True
