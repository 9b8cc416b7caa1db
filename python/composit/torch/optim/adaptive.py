"""Optimisers whose rates adapt to each parameter: Adagrad, RMSprop, Adadelta, Adamax and others."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import runtime_error
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.optim.optimizer import Optimizer, Ruled, of_closure
from composit.torch.optim.parameter_state import Kept


class RMSprop(Ruled):
    """RMSprop (Hinton)."""

    _bounded = "rmsprop"
    _rule = staticmethod(_core.aten.rmsprop)
    kept_numbers = ("step",)
    counts_apart = True

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
        })  # fmt: skip

    numbers_are_of_groups = True


class Adagrad(Ruled):
    """Adagrad (Duchi et al. 2011)."""

    _bounded = "adagrad"
    _rule = staticmethod(_core.aten.adagrad)
    kept_numbers = ("step",)

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        for parameter in _core.optimizers.all_parameters(self.param_groups):
            start = calling.functions["full_like"](parameter, initial_accumulator_value)
            dict.update(self.state[parameter], step=Kept(0), sum=start)


class Adadelta(Ruled):
    """Adadelta (Zeiler 2012)."""

    _bounded = "adadelta"
    _rule = staticmethod(_core.aten.adadelta)
    kept_numbers = ("step",)
    counts_apart = True

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        })  # fmt: skip

    numbers_are_of_groups = True


class Adamax(Ruled):
    """Adam by the largest gradient (Kingma and Ba 2015)."""

    _bounded = "adamax"
    _rule = staticmethod(_core.aten.adamax)
    kept_numbers = ("step",)

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        })  # fmt: skip


class Rprop(Ruled):
    """Steps by the gradients' signs (Riedmiller and Braun 1993)."""

    _bounded = "rprop"
    _rule = staticmethod(_core.aten.rprop)
    kept_numbers = ("step",)
    counts_apart = True

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: Any = (0.5, 1.2), step_sizes: Any = (1e-6, 50), *,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    numbers_are_of_groups = True


class ASGD(Ruled):
    """Stochastic gradient descent, averaged (Polyak and Juditsky 1992)."""

    _bounded = "asgd"
    _rule = staticmethod(_core.aten.asgd)
    kept_numbers = ("step", "eta", "mu")

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        })  # fmt: skip


class SparseAdam(Optimizer):
    """Adam for gradients by rows, which nothing gives here: a step with a dense gradient is
    PyTorch's error."""

    _bounded = "sparseadam"

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    @in_default_state
    def step(self, closure: Any = None) -> Any:
        """RuntimeError where a parameter has a gradient, as all gradients are dense."""
        loss = of_closure(closure)
        if any(p._grad is not None for p in _core.optimizers.all_parameters(self.param_groups)):
            raise runtime_error(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
        return loss
