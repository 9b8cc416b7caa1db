"""Optimisers whose rates adapt to each parameter: Adagrad, RMSprop, Adadelta, Adamax and others."""

from __future__ import annotations

from typing import Any

from composit import numpy as cnp
from composit._core import LazyTensor, with_location
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.optim.optimizer import (
    Optimizer,
    check_at_least_zero,
    check_betas,
    decayed,
    number,
    zeros_like,
)
from composit.torch.optim.parameter_state import Kept, counted
from composit.torch.tape import enable_grad


def _held(state: dict[str, Any], name: str, x: LazyTensor) -> LazyTensor:
    found = state.get(name)
    return zeros_like(x) if found is None else found


class RMSprop(Optimizer):
    """RMSprop (Hinton)."""

    kept_numbers = ("step",)
    counts_apart = True

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay, momentum=momentum,
                            alpha=alpha)  # fmt: skip
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
        })  # fmt: skip

    numbers_are_of_groups = True

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """The learning rate"""
        return {"lr": number(group["lr"])}

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - lr * gradient / root of the mean square"""
        gradient = decayed(x, gradient, group)
        alpha = group["alpha"]
        square = _held(state, "square_avg", x) * alpha + gradient * gradient * (1 - alpha)
        state["square_avg"] = square
        if group["centered"]:
            mean = _held(state, "grad_avg", x)
            mean = mean + (gradient - mean) * (1 - alpha)
            state["grad_avg"] = mean
            square = square - mean * mean
        direction = gradient / (cnp.sqrt(square) + group["eps"])
        if group["momentum"]:
            direction = _held(state, "momentum_buffer", x) * group["momentum"] + direction
            state["momentum_buffer"] = direction
        return x - direction * group["lr"]


class Adagrad(Optimizer):
    """Adagrad (Duchi et al. 2011)."""

    kept_numbers = ("step",)

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, eps=eps,
                            initial_accumulator_value=initial_accumulator_value)  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        for group in self.param_groups:
            for parameter in group["params"]:
                start = calling.functions["full_like"](parameter, initial_accumulator_value)
                dict.update(self.state[parameter], step=Kept(0), sum=start)

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """The learning rate of this step"""
        step = counted(state)
        return {"_rate": number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])}

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - lr * gradient / root of the sum of squares"""
        gradient = decayed(x, gradient, group)
        total = state.get("sum")
        if total is None:  # of a parameter that was added later
            total = zeros_like(x) + group["initial_accumulator_value"]
        total = total + gradient * gradient
        state["sum"] = total
        return x - gradient / (cnp.sqrt(total) + group["eps"]) * group["_rate"]


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012)."""

    kept_numbers = ("step",)
    counts_apart = True

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(with_location(f"Invalid rho value: {rho}"))
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        })  # fmt: skip

    numbers_are_of_groups = True

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """The learning rate"""
        return {"lr": number(group["lr"])}

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - lr * gradient * root(mean square of steps / mean square of gradients)"""
        gradient = decayed(x, gradient, group)
        rho, eps = group["rho"], group["eps"]
        square = _held(state, "square_avg", x) * rho + gradient * gradient * (1 - rho)
        steps = _held(state, "acc_delta", x)
        delta = cnp.sqrt(steps + eps) / cnp.sqrt(square + eps) * gradient
        state["square_avg"] = square
        state["acc_delta"] = steps * rho + delta * delta * (1 - rho)
        return x - delta * group["lr"]


class Adamax(Optimizer):
    """Adam by the largest gradient (Kingma and Ba 2015)."""

    kept_numbers = ("step",)

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        })  # fmt: skip

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """The learning rate without the mean's bias"""
        step = counted(state)
        return {"_rate": number(group["lr"]) / (1 - group["betas"][0] ** step)}

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - lr * mean / largest gradient so far, which fades"""
        gradient = decayed(x, gradient, group)
        beta1, beta2 = group["betas"]
        mean = _held(state, "exp_avg", x)
        mean = mean + (gradient - mean) * (1 - beta1)
        largest = cnp.maximum(_held(state, "exp_inf", x) * beta2, cnp.abs(gradient) + group["eps"])
        state["exp_avg"], state["exp_inf"] = mean, largest
        return x - mean / largest * group["_rate"]


class Rprop(Optimizer):
    """Steps by the gradients' signs (Riedmiller and Braun 1993)."""

    kept_numbers = ("step",)
    counts_apart = True

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: Any = (0.5, 1.2), step_sizes: Any = (1e-6, 50), *,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(with_location(f"Invalid eta values: {etas[0]}, {etas[1]}"))
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    numbers_are_of_groups = True

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """None: the learning rate is where sizes begin"""
        return {}

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """parameter - sign(gradient) * a step that grows while the sign stays"""
        gradient = decayed(x, gradient, group)
        before = _held(state, "prev", x)
        size = state.get("step_size")
        size = cnp.full(tuple(x.shape), group["lr"], x.dtype) if size is None else size
        small, large = group["etas"]
        agreement = gradient * before
        turned = agreement < 0
        factor = cnp.where(turned, small, cnp.where(agreement > 0, large, 1.0))
        size = cnp.clip(size * cnp.astype(factor, x.dtype), *group["step_sizes"])
        gradient = cnp.where(turned, cnp.zeros((), x.dtype), gradient)
        state["prev"], state["step_size"] = gradient, size
        return x - cnp.sign(gradient) * size


class ASGD(Optimizer):
    """Stochastic gradient descent, averaged (Polyak and Juditsky 1992)."""

    kept_numbers = ("step", "eta", "mu")

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        })  # fmt: skip

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """The rate of this step, which shrinks, and the weight of the average"""
        step = counted(state)
        rate, fade = number(group["lr"]), group["lambd"]
        eta, mu = dict.get(state, "eta", rate), dict.get(state, "mu", 1.0)
        after = rate / (1 + fade * rate * step) ** group["alpha"]
        dict.__setitem__(state, "eta", Kept(after) if isinstance(after, float) else after)
        dict.__setitem__(state, "mu", Kept(1 / max(1, step - group["t0"])))
        eta = float(eta) if isinstance(eta, float) else eta
        return {"_rate": eta, "_faded": 1 - fade * eta, "_mu": float(mu)}

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """A step of a rate that shrinks; the state keeps the average"""
        gradient = decayed(x, gradient, group)
        x = x * group["_faded"] - gradient * group["_rate"]
        average = _held(state, "ax", x)
        # A choice of values, so that steps before and after t0 have one structure.
        is_first = cnp.equal(group["_mu"], 1.0)
        state["ax"] = cnp.where(is_first, x, average + (x - average) * group["_mu"])
        return x


class SparseAdam(Optimizer):
    """Adam for gradients by rows, which nothing gives here: a step with a dense gradient is
    PyTorch's error."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        check_at_least_zero(lr=lr, eps=eps)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    @in_default_state
    def step(self, closure: Any = None) -> Any:
        """RuntimeError where a parameter has a gradient, as all gradients are dense."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if any(p._grad is not None for group in self.param_groups for p in group["params"]):
            raise RuntimeError(
                with_location(
                    "SparseAdam does not support dense gradients, please consider Adam instead"
                )
            )
        return loss
