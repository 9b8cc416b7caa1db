"""Learning rates that change from step to step: torch.optim.lr_scheduler."""

from __future__ import annotations

import math
import types
from bisect import bisect_right
from collections import Counter
from typing import Any

import composit._core as _core
from composit._core import runtime_error, type_error, value_error
from composit._floating_point import in_default_state
from composit.torch.optim.cycles import CyclicLR, OneCycleLR
from composit.torch.optim.schedule import (
    Combined,
    LRScheduler,
    OfFormula,
    check_optimizer,
    of_each,
    set_rate,
)

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR",
    "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


class LambdaLR(LRScheduler):
    """The initial rate times a function of the step."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        count = len(optimizer.param_groups)
        is_list = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas = list(lr_lambda) if is_list else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise value_error(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        for function in self.lr_lambdas:
            if not callable(function):
                raise type_error(
                    f"lr_lambda should be a function, but got {type(function).__name__}"
                )
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser and functions; of callable objects their attributes."""
        kept = [
            None if isinstance(f, types.FunctionType) else dict(f.__dict__) for f in self.lr_lambdas
        ]
        return {**super().state_dict(), "lr_lambdas": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        own = {name: value for name, value in state_dict.items() if name != "lr_lambdas"}
        self.__dict__.update(own)
        for function, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if kept is not None:
                function.__dict__.update(kept)

    def get_lr(self) -> list[float]:
        """base * lambda(step)"""
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    """The rate before times a function of the step."""

    def get_lr(self) -> list[float]:
        """rate * lambda(step)"""
        if self._is_initial:
            return self._now()
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, self._now())]


class StepLR(OfFormula):
    """times gamma each step_size steps."""

    def __init__(
        self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _core.aten.step_lr(self.step_size, self.gamma)


class MultiStepLR(OfFormula):
    """times gamma at milestones."""

    def __init__(
        self, optimizer: Any, milestones: Any, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _core.aten.multi_step_lr(sorted(self.milestones.elements()), self.gamma)


class ExponentialLR(OfFormula):
    """times gamma at each step."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _core.aten.exponential_lr(self.gamma)


class ConstantLR(OfFormula):
    """times a factor, for the first steps."""

    def __init__(
        self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _core.aten.constant_lr(self.factor, self.total_iters)


class LinearLR(OfFormula):
    """times a factor that goes from one to another."""

    def __init__(
        self, optimizer: Any, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
        total_iters: int = 5, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _core.aten.linear_lr(self.start_factor, self.end_factor, self.total_iters)


class PolynomialLR(OfFormula):
    """To zero by a power of what is left."""

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _core.aten.polynomial_lr(self.total_iters, self.power)


class CosineAnnealingLR(OfFormula):
    """Along a cosine to eta_min, and back."""

    def __init__(
        self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _core.aten.cosine_annealing_lr(self.T_max, self.eta_min)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along a cosine to eta_min, again and again."""

    def __init__(
        self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        _core.aten.check_restarts(T_0, T_mult)
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Where in the period the step is"""
        point = _core.aten.cosine_point
        return of_each(lambda base: point(base, self.eta_min, self.T_cur, self.T_i), self.base_lrs)

    @in_default_state
    def step(self, epoch: float | None = None) -> None:
        """Goes one step on, or to a step, which may be a fraction."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: float | None = None) -> None:
        at = self.last_epoch + 1 if epoch is None else epoch
        self.T_cur, self.T_i = _core.aten.restart_at(at, self.T_0, self.T_mult)
        self.last_epoch = math.floor(at)
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            set_rate(group, rate)
        self._last_lr = self._now()


class SequentialLR(Combined):
    """Schedules one after the other, changed at milestones."""

    def __init__(
        self, optimizer: Any, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._take(optimizer, schedulers, "")
        if len(milestones) != len(schedulers) - 1:
            raise value_error(
                "Sequential Schedulers expects number of schedulers provided to be one more "
                "than the number of milestone points, but got number of schedulers "
                f"{len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._milestones, self.last_epoch = milestones, last_epoch + 1
        # What the schedules did when they were made is undone; the first one begins again.
        for group in optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Takes the schedules within one step back."""
        whole = self if sched is None else sched
        if hasattr(whole, "_schedulers"):
            for each in whole._schedulers:
                self.recursive_undo(each)
        elif hasattr(whole, "last_epoch"):
            whole.last_epoch -= 1

    @in_default_state
    def step(self) -> None:  # type: ignore[override]
        """Goes one step on."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number > 0 and self._milestones[number - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ReduceLROnPlateau(LRScheduler):
    """times a factor where a metric got no better for a while."""

    _takes_metric = True

    def __init__(
        self, optimizer: Any, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        _core.aten.plateau_options(factor, mode, threshold_mode, threshold)
        check_optimizer(optimizer)
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        groups, is_list = optimizer.param_groups, isinstance(min_lr, (list, tuple))
        if is_list and len(min_lr) != len(groups):
            raise value_error(f"expected {len(groups)} min_lrs, got {len(min_lr)}")
        self.default_min_lr = None if is_list else min_lr
        self.min_lrs = list(min_lr) if is_list else [min_lr] * len(groups)
        self.eps, self.last_epoch = eps, 0
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self._last_lr = self._now()
        self._reset()

    def _reset(self) -> None:
        """Forgets what was seen."""
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    @property
    def in_cooldown(self) -> bool:
        """Whether it waits after a reduction."""
        return self.cooldown_counter > 0

    def is_better(self, value: float, best: float) -> bool:
        """Whether a value is better than the best one by more than the threshold."""
        return _core.aten.is_better(value, best, *self._how())

    def _how(self) -> tuple[bool, bool, float]:
        return self.mode == "max", self.threshold_mode == "abs", self.threshold

    @in_default_state
    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Goes one step on, with the metric's value."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        is_reduced, self.best, self.num_bad_epochs, self.cooldown_counter = _core.aten.reduces(
            float(metrics), self.best, self.num_bad_epochs, self.cooldown_counter, *self._how(),
            self.patience, self.cooldown,
        )  # fmt: skip
        if is_reduced:
            self._reduce()
        self._last_lr = self._now()

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):  # a group was added
            if self.default_min_lr is None:
                raise runtime_error(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs "
                    "from when `ReduceLROnPlateau` was initialized "
                    f"({len(self.min_lrs)}), usually due to a new param group being added to "
                    "the optimizer. Please modify the `min_lrs` field to match the length of "
                    "the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs):
            rate = float(group["lr"])
            reduced = _core.aten.reduced_rate(rate, self.factor, least, self.eps)
            if reduced != rate:
                set_rate(group, reduced)


class ChainedScheduler(Combined):
    """Several schedulers, each of which goes on from the rates of the one before."""

    def __init__(self, schedulers: Any, optimizer: Any = None) -> None:
        self._take(optimizer, schedulers, " to be chained")
        self._last_lr = self._now()

    @in_default_state
    def step(self) -> None:  # type: ignore[override]
        """Goes one step on."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._now()


_LRScheduler = LRScheduler  # the name in older programs
