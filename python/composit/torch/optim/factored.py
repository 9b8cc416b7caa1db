"""Optimisers of matrices: Adafactor, which keeps means of rows and columns, and Muon, whose
directions are orthogonal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from composit import numpy as cnp
from composit._core import LazyTensor, with_location
from composit.torch.calling import TensorBase
from composit.torch.optim.optimizer import (
    Optimizer,
    check_at_least_zero,
    number,
    zeros_like,
)
from composit.torch.optim.parameter_state import counted


def _root_mean_square(x: LazyTensor) -> LazyTensor:
    return cnp.sqrt(cnp.mean(x * x))


class Adafactor(Optimizer):
    """Adafactor (Shazeer and Stern 2018): the mean squares of a matrix's gradients are kept as
    those of its rows and of its columns."""

    kept_numbers = ("step",)

    def __init__(
        self, params: Any, lr: Any = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0,
        *, foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, weight_decay=weight_decay)
        if beta2_decay > 0:
            raise ValueError(with_location(f"beta2_decay should be <= 0 but is: {beta2_decay}"))
        if eps[0] is not None and eps[0] < 0:
            raise ValueError(with_location(f"epsilon1 should be >= 0 but is: {eps[0]}"))
        if eps[1] < 0:
            raise ValueError(with_location(f"epsilon2 should be >= 0 but is: {eps[1]}"))
        if d < 1:
            raise ValueError(with_location(f"Clipping threshold d should be >= 1 but is: {d}"))
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize,
        })  # fmt: skip

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """How much of the new squares is taken, the largest rate, and what decay leaves."""
        step, lr = counted(state), group["lr"]
        lr = lr.item() if isinstance(lr, TensorBase) else lr  # type: ignore[attr-defined]
        return {
            "_taken": float(step) ** group["beta2_decay"],
            "_most": min(float(lr), 1 / math.sqrt(step)),
            "_left": 1.0 - float(lr) * group["weight_decay"],
        }

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - rate * gradient / root of the estimated mean square, whose own root mean
        square is at most d"""
        least, scale = group["eps"]
        if least is None:
            least = float(np.finfo(np.dtype(x.dtype)).eps)
        if group["maximize"]:
            gradient = -gradient
        rate = cnp.maximum(_root_mean_square(x), scale) * group["_most"]
        if group["weight_decay"]:
            x = x * group["_left"]
        square = gradient * gradient
        if gradient.ndim > 1:
            rows = self._mean(state, "row_var", cnp.mean(square, axis=-1, keepdims=True), group)
            columns = self._mean(state, "col_var", cnp.mean(square, axis=-2, keepdims=True), group)
            whole = cnp.maximum(cnp.mean(rows, axis=-2, keepdims=True), least)
            estimate = rows * columns / whole
        else:
            estimate = self._mean(state, "variance", square, group)
        direction = gradient / cnp.sqrt(cnp.maximum(estimate, least * least))
        clipped = cnp.maximum(_root_mean_square(direction) / group["d"], 1.0)
        return x - direction * (rate / clipped)

    @staticmethod
    def _mean(
        state: dict[str, Any], name: str, new: LazyTensor, group: dict[str, Any]
    ) -> LazyTensor:
        before = state.get(name)
        if before is None:
            before = zeros_like(new)
        state[name] = made = before + (new - before) * group["_taken"]
        return made


class Muon(Optimizer):
    """Muon (Jordan 2024), of matrices: the momentum's nearest orthogonal matrix, about, by steps of
    Newton and Schulz in bfloat16, is the direction."""

    def __init__(
        self, params: Any, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315), eps: float = 1e-7,
        ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                with_location(f"Adjust learning rate function {adjust_lr_fn} is not supported")
            )
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": tuple(ns_coefficients), "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        })  # fmt: skip
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ValueError(
                        with_location("Muon only supports 2D parameters whereas we found a "
                                      f"parameter with size: {parameter.shape}")
                    )  # fmt: skip

    numbers_are_of_groups = True

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """The learning rate, and what decay leaves"""
        lr = number(group["lr"])
        return {"lr": lr, "_left": 1 - lr * group["weight_decay"]}

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - rate * the orthogonal matrix"""
        share = 1 - group["momentum"]
        momentum = state.get("momentum_buffer")
        momentum = zeros_like(x) if momentum is None else momentum
        state["momentum_buffer"] = momentum = momentum + (gradient - momentum) * share
        direction = gradient + (momentum - gradient) * group["momentum"]
        direction = _orthogonal(direction if group["nesterov"] else momentum, group)
        rows, columns = (int(n) for n in x.shape)
        if group["adjust_lr_fn"] == "match_rms_adamw":
            factor = 0.2 * math.sqrt(max(rows, columns))
        else:
            factor = math.sqrt(max(1.0, rows / columns))
        return x * group["_left"] - direction * (group["lr"] * factor)


def _rounded(x: LazyTensor) -> LazyTensor:
    """In float32, of bfloat16's precision."""
    return cnp.astype(cnp.astype(x, "bfloat16"), "float32")


def _orthogonal(matrix: LazyTensor, group: dict[str, Any]) -> LazyTensor:
    """Each product, with what is added to it, is rounded to bfloat16 once."""
    a, b, c = group["ns_coefficients"]
    is_tall = int(matrix.shape[0]) > int(matrix.shape[1])
    x = _rounded(matrix.T if is_tall else matrix)
    norm = cnp.maximum(_rounded(cnp.sqrt(cnp.sum(x * x))), group["eps"])
    x = _rounded(x / norm)
    for _ in range(group["ns_steps"]):
        gram = _rounded(cnp.matmul(x, x.T))
        polynomial = _rounded(gram * b + cnp.matmul(gram, gram) * c)
        x = _rounded(x * a + cnp.matmul(polynomial, x))
    return cnp.astype(x.T if is_tall else x, matrix.dtype)
