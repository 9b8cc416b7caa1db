"""Learning rates that change from step to step: torch.optim.lr_scheduler."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from typing import Any

import composit._core as _core
from composit._floating_point import in_default_state
from composit.torch.optim.cycles import CyclicLR, OneCycleLR
from composit.torch.optim.schedule import (
    Combined,
    LRScheduler,
    OfFormula,
    check_optimizer,
)

_rates: Any = _core.aten
_groups: Any = _core.optimizers

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
        self.lr_lambdas = _groups.as_many(lr_lambda, optimizer.param_groups, "lr_lambdas")
        _groups.check_functions(self.lr_lambdas)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser and functions; of callable objects their attributes."""
        kept = [_groups.attributes_of_function(f) for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        self.__dict__.update({**state_dict, "lr_lambdas": self.lr_lambdas})
        for function, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            vars(function).update(kept or {})

    def get_lr(self) -> list[float]:
        """base * lambda(step)"""
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    """The rate before times a function of the step."""

    def get_lr(self) -> list[float]:
        """rate * lambda(step)"""
        rates = self._now()
        if not self._is_initial:
            rates = [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, rates)]
        return rates


class StepLR(OfFormula):
    """times gamma each step_size steps."""

    def __init__(
        self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _rates.step_lr(self.step_size, self.gamma)


class MultiStepLR(OfFormula):
    """times gamma at milestones."""

    def __init__(
        self, optimizer: Any, milestones: Any, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _rates.multi_step_lr(sorted(self.milestones.elements()), self.gamma)


class ExponentialLR(OfFormula):
    """times gamma at each step."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _rates.exponential_lr(self.gamma)


class ConstantLR(OfFormula):
    """times a factor, for the first steps."""

    def __init__(
        self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _rates.constant_lr(self.factor, self.total_iters)


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
        return _rates.linear_lr(self.start_factor, self.end_factor, self.total_iters)


class PolynomialLR(OfFormula):
    """To zero by a power of what is left."""

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _rates.polynomial_lr(self.total_iters, self.power)


class CosineAnnealingLR(OfFormula):
    """Along a cosine to eta_min, and back."""

    def __init__(
        self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _formula(self) -> Any:
        return _rates.cosine_annealing_lr(self.T_max, self.eta_min)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along a cosine to eta_min, again and again."""

    def __init__(
        self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        _rates.check_restarts(T_0, T_mult)
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Where in the period the step is"""
        return _rates.cosine_points(self.base_lrs, self.eta_min, self.T_cur, self.T_i)

    @in_default_state
    def step(self, epoch: float | None = None) -> None:
        """Goes one step on, or to a step, which may be a fraction."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: float | None = None) -> None:
        at = self.last_epoch + 1 if epoch is None else epoch
        self.T_cur, self.T_i = _rates.restart_at(at, self.T_0, self.T_mult)
        self.last_epoch = math.floor(at)
        self._set_rates(self.get_lr())


class SequentialLR(Combined):
    """Schedules one after the other, changed at milestones."""

    def __init__(
        self, optimizer: Any, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._take(optimizer, schedulers, "")
        _groups.check_milestones(len(schedulers), len(milestones))
        self._milestones, self.last_epoch = milestones, last_epoch + 1
        # What the schedules did when they were made is undone; the first one begins again.
        groups = optimizer.param_groups
        _groups.set_rates(groups, _groups.rates_of(groups, "initial_lr"))
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Takes the schedules within one step back."""
        _groups.take_back(self if sched is None else sched)

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


_WORST = {"min": math.inf, "max": -math.inf}  # of a metric, by the mode


class ReduceLROnPlateau(LRScheduler):
    """times a factor where a metric got no better for a while."""

    _takes_metric = True

    def __init__(
        self, optimizer: Any, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        _rates.plateau_options(factor, mode, threshold_mode, threshold)
        check_optimizer(optimizer)
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = _groups.as_many(min_lr, optimizer.param_groups, "min_lrs")
        self.eps, self.last_epoch = eps, 0
        self.mode_worse = _WORST[mode]
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
        return _rates.is_better(value, best, *self._how())

    def _how(self) -> tuple[bool, bool, float]:
        return self.mode == "max", self.threshold_mode == "abs", self.threshold

    @in_default_state
    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Goes one step on, with the metric's value."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        is_reduced, self.best, self.num_bad_epochs, self.cooldown_counter = _rates.reduces(
            float(metrics), self.best, self.num_bad_epochs, self.cooldown_counter, *self._how(),
            self.patience, self.cooldown,
        )  # fmt: skip
        if is_reduced:
            self.min_lrs = _groups.reduce_rates(
                self.optimizer.param_groups, self.min_lrs, self.default_min_lr, self.factor,
                self.eps,
            )  # fmt: skip
        self._last_lr = self._now()


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
