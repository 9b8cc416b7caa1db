"""Optimisers of matrices: Adafactor, which keeps means of rows and columns, and Muon, whose
directions are orthogonal."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import value_error
from composit.torch.optim.optimizer import Ruled


class Adafactor(Ruled):
    """Adafactor (Shazeer and Stern 2018): the mean squares of a matrix's gradients are kept as
    those of its rows and of its columns."""

    _bounded = "adafactor"
    _rule = staticmethod(_core.aten.adafactor)
    kept_numbers = ("step",)

    def __init__(
        self, params: Any, lr: Any = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0,
        *, foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize,
        })  # fmt: skip


class Muon(Ruled):
    """Muon (Jordan 2024), of matrices: the momentum's nearest orthogonal matrix, about, by steps of
    Newton and Schulz in bfloat16, is the direction."""

    _bounded = "muon"
    _rule = staticmethod(_core.aten.muon)

    def __init__(
        self, params: Any, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315), eps: float = 1e-7,
        ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise value_error(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": tuple(ns_coefficients), "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        })  # fmt: skip
        _core.optimizers.check_matrices(self.param_groups)

    numbers_are_of_groups = True
