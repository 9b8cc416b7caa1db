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
    stepped,
    zeros_like,
)


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


def _moments(
    x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
) -> tuple[LazyTensor, LazyTensor, int]:
    """The means of gradients and of their squares, and the number of the step."""
    return *_means(x, gradient, state, group), stepped(state)


def _decayed(
    x: LazyTensor, gradient: LazyTensor, group: dict[str, Any], rate: Any
) -> tuple[LazyTensor, LazyTensor]:
    """Parameter and gradient after weight decay, which acts on one of them."""
    if not group["decoupled_weight_decay"]:
        return x, decayed(x, gradient, group)
    kept = x * (1 - rate * group["weight_decay"])
    return kept, -gradient if group["maximize"] else gradient


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015)."""

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

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float] | None:
        """What bias and learning rate come to at this step"""
        rate = group["lr"]
        if not isinstance(rate, float):
            return None
        step = stepped(state)
        beta1, beta2 = group["betas"]
        return {
            "_kept": 1 - rate * group["weight_decay"], "_root": (1 - beta2**step) ** 0.5,
            "_rate": rate / (1 - beta1**step),
        }  # fmt: skip

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - lr * mean / (root of the mean square + eps), both without bias"""
        if "_rate" in group:
            kept, unbiased, rate = group["_kept"], group["_root"], group["_rate"]
        else:  # the learning rate is a tensor
            step, (beta1, beta2) = stepped(state), group["betas"]
            rate = number(group["lr"])
            kept, unbiased = 1 - rate * group["weight_decay"], (1 - beta2**step) ** 0.5
            rate = rate / (1 - beta1**step)
        if not group["decoupled_weight_decay"]:
            gradient = decayed(x, gradient, group)
        else:
            x = x * kept
            gradient = -gradient if group["maximize"] else gradient
        first, second = _means(x, gradient, state, group)
        if group["amsgrad"]:
            largest = state.get("max_exp_avg_sq")
            second = second if largest is None else cnp.maximum(largest, second)
            state["max_exp_avg_sq"] = second
        root = cnp.sqrt(second) / unbiased + group["eps"]
        return x - first / root * rate


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

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """Adam's step, looking ahead"""
        rate = number(group["lr"])
        x, gradient = _decayed(x, gradient, group, rate)
        first, second, step = _moments(x, gradient, state, group)
        beta1, beta2 = group["betas"]
        psi = group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * psi))
        ahead = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * psi))
        product = state.get("_mu_product", 1.0) * mu
        state["_mu_product"] = product
        root = cnp.sqrt(second / (1 - beta2**step)) + group["eps"]
        x = x - gradient / root * (rate * (1.0 - mu) / (1.0 - product))
        return x - first / root * (rate * ahead / (1.0 - product * ahead))


class RAdam(Optimizer):
    """Adam, rectified (Liu et al. 2020)."""

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

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """Adam's step, rectified where the variance is known well enough"""
        rate = number(group["lr"])
        x, gradient = _decayed(x, gradient, group, rate)
        first, second, step = _moments(x, gradient, state, group)
        beta1, beta2 = group["betas"]
        mean = first / (1 - beta1**step)
        most = 2 / (1 - beta2) - 1
        now = most - 2 * step * beta2**step / (1 - beta2**step)
        if now <= 5.0:
            return x - mean * rate
        rectified = (
            (now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now)
        ) ** 0.5  # fmt: skip
        scale = (1 - beta2**step) ** 0.5
        return x - mean * rate * (scale / (cnp.sqrt(second) + group["eps"])) * rectified
