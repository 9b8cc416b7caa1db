"""Adam and its variants."""

from __future__ import annotations

from typing import Any

from composit import numpy as cnp
from composit._core import LazyTensor
from composit.torch.optim.optimizer import (
    Optimizer,
    check_at_least_zero,
    check_betas,
    decayed,
    number,
    zeros_like,
)
from composit.torch.optim.parameter_state import Kept, counted


def _means(
    x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
) -> tuple[LazyTensor, LazyTensor]:
    """The means of gradients and of their squares."""
    beta1, beta2 = group["betas"]
    first = state.get("exp_avg")
    second = state.get("exp_avg_sq")
    first = zeros_like(x) if first is None else first
    second = zeros_like(x) if second is None else second
    first = first + (gradient - first) * (1 - beta1)
    second = second * beta2 + gradient * gradient * (1 - beta2)
    state["exp_avg"], state["exp_avg_sq"] = first, second
    return first, second


def _decayed(
    x: LazyTensor, gradient: LazyTensor, group: dict[str, Any]
) -> tuple[LazyTensor, LazyTensor]:
    """Parameter and gradient after weight decay, which acts on one of them."""
    if not group["decoupled_weight_decay"]:
        return x, decayed(x, gradient, group)
    return x * group["_kept"], -gradient if group["maximize"] else gradient


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015)."""

    kept_numbers = ("step",)
    _decays_apart = False

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
        fused: bool | None = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay or self._decays_apart,
        })  # fmt: skip

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """What bias and learning rate come to at this step"""
        rate = number(group["lr"])
        step = counted(state)
        beta1, beta2 = group["betas"]
        return {
            "_kept": 1 - rate * group["weight_decay"], "_root": (1 - beta2**step) ** 0.5,
            "_rate": rate / (1 - beta1**step),
        }  # fmt: skip

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - lr * mean / (root of the mean square + eps), both without bias"""
        x, gradient = _decayed(x, gradient, group)
        first, second = _means(x, gradient, state, group)
        if group["amsgrad"]:
            largest = state.get("max_exp_avg_sq")
            second = second if largest is None else cnp.maximum(largest, second)
            state["max_exp_avg_sq"] = second
        root = cnp.sqrt(second) / group["_root"] + group["eps"]
        return x - first / root * group["_rate"]


class AdamW(Adam):
    """AdamW (Loshchilov and Hutter 2019): weight decay beside the gradient."""

    _decays_apart = True

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat 2016)."""

    kept_numbers = ("step", "mu_product")

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        })  # fmt: skip

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """What bias, momentum and learning rate come to at this step"""
        rate = number(group["lr"])
        step = counted(state)
        beta1, beta2 = group["betas"]
        psi = group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * psi))
        ahead = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * psi))
        product = dict.get(state, "mu_product", 1.0) * mu
        dict.__setitem__(state, "mu_product", Kept(product))
        return {
            "_kept": 1 - rate * group["weight_decay"], "_bias": 1 - beta2**step,
            "_now": rate * (1.0 - mu) / (1.0 - product),
            "_ahead": rate * ahead / (1.0 - product * ahead),
        }  # fmt: skip

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """Adam's step, looking ahead"""
        x, gradient = _decayed(x, gradient, group)
        first, second = _means(x, gradient, state, group)
        root = cnp.sqrt(second / group["_bias"]) + group["eps"]
        x = x - gradient / root * group["_now"]
        return x - first / root * group["_ahead"]


class RAdam(Optimizer):
    """Adam, rectified (Liu et al. 2020)."""

    kept_numbers = ("step",)

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
        })  # fmt: skip

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """What bias and learning rate come to at this step, and how it is rectified"""
        rate = number(group["lr"])
        step = counted(state)
        beta1, beta2 = group["betas"]
        most = 2 / (1 - beta2) - 1
        now = most - 2 * step * beta2**step / (1 - beta2**step)
        factor = 0.0
        if now > 5.0:
            factor = ((now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now)) ** 0.5
        return {
            "_kept": 1 - rate * group["weight_decay"], "_bias": 1 - beta1**step, "_rate": rate,
            "_scale": (1 - beta2**step) ** 0.5, "_rectified": factor,
        }  # fmt: skip

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """Adam's step, rectified where the variance is known well enough"""
        x, gradient = _decayed(x, gradient, group)
        first, second = _means(x, gradient, state, group)
        plain = first / group["_bias"] * group["_rate"]
        adapted = group["_scale"] / (cnp.sqrt(second) + group["eps"])
        rectified = plain * adapted * group["_rectified"]
        # A choice of values, so that steps before and after have one structure.
        is_known = cnp.greater(group["_rectified"], 0.0)
        return x - cnp.where(is_known, rectified, plain)
