"""Learning rates that change from step to step: torch.optim.lr_scheduler."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from typing import Any

from composit._core import with_location
from composit._floating_point import in_default_state
from composit.torch.optim.cycles import CyclicLR, OneCycleLR
from composit.torch.optim.schedule import LRScheduler

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
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else (
            [lr_lambda] * count
        )  # fmt: skip
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """base * lambda(step)"""
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    """The rate before times a function of the step."""

    def get_lr(self) -> list[float]:
        """rate * lambda(step)"""
        if self.last_epoch == 0:
            return self._now()
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, self._now())]


class StepLR(LRScheduler):
    """times gamma each step_size steps."""

    def __init__(
        self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """rate * gamma, every step_size steps"""
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._now()
        return [rate * self.gamma for rate in self._now()]


class MultiStepLR(LRScheduler):
    """times gamma at milestones."""

    def __init__(
        self, optimizer: Any, milestones: Any, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """rate * gamma, at milestones"""
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._now()]


class ExponentialLR(LRScheduler):
    """times gamma at each step."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """rate * gamma"""
        return self._now() if self.last_epoch == 0 else [r * self.gamma for r in self._now()]


class ConstantLR(LRScheduler):
    """times a factor, for the first steps."""

    def __init__(
        self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The factor's, then the initial rate"""
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._now()]
        if self.last_epoch != self.total_iters:
            return self._now()
        return [rate / self.factor for rate in self._now()]


class LinearLR(LRScheduler):
    """times a factor that goes from one to another."""

    def __init__(
        self, optimizer: Any, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
        total_iters: int = 5, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Along a line"""
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._now()]
        if self.last_epoch > self.total_iters:
            return self._now()
        way = self.end_factor - self.start_factor
        scale = 1.0 + way / (self.total_iters * self.start_factor + (self.last_epoch - 1) * way)
        return [rate * scale for rate in self._now()]


class PolynomialLR(LRScheduler):
    """To zero by a power of what is left."""

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """rate * (left now / left before) ** power"""
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self._now()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (left / before) ** self.power for rate in self._now()]


class CosineAnnealingLR(LRScheduler):
    """Along a cosine to eta_min, and back."""

    def __init__(
        self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """torch's recursion"""
        if self.last_epoch == 0:
            return self._now()
        low, period, step = self.eta_min, self.T_max, self.last_epoch
        if (step - 1 - period) % (2 * period) == 0:
            half = (1 - math.cos(math.pi / period)) / 2
            return [r + (base - low) * half for base, r in zip(self.base_lrs, self._now())]
        ratio = (1 + math.cos(math.pi * step / period)) / (
            1 + math.cos(math.pi * (step - 1) / period)
        )
        return [ratio * (rate - low) + low for rate in self._now()]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along a cosine to eta_min, again and again."""

    def __init__(
        self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Where in the period the step is"""
        step, period = self.last_epoch, self.T_0
        while step >= period:
            step -= period
            period *= self.T_mult
        share = (1 + math.cos(math.pi * step / period)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class SequentialLR:
    """Schedules one after the other, changed at milestones."""

    def __init__(
        self, optimizer: Any, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self.optimizer, self.milestones = optimizer, milestones
        self._schedulers, self.last_epoch = schedulers, last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        schedulers[0].step()
        self._last_lr = schedulers[0]._last_lr

    @in_default_state
    def step(self) -> None:
        """Goes one step on."""
        self.last_epoch += 1
        number = bisect_right(self.milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number > 0 and self.milestones[number - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def get_last_lr(self) -> list[float]:
        """The rates that are in force."""
        return self._last_lr


class ReduceLROnPlateau:
    """times a factor where a metric got no better for a while."""

    def __init__(
        self, optimizer: Any, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: float = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError(with_location("Factor should be < 1.0."))
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.min_lr, self.eps = min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs, self.cooldown_counter = 0, 0
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def _is_better(self, value: float) -> bool:
        is_down = self.mode == "min"
        if self.threshold_mode == "rel":
            bound = self.best * (1 - self.threshold if is_down else 1 + self.threshold)
        else:
            bound = self.best - self.threshold if is_down else self.best + self.threshold
        return value < bound if is_down else value > bound

    @in_default_state
    def step(self, metrics: Any) -> None:
        """Goes one step on, with the metric's value."""
        value = float(metrics)
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group in self.optimizer.param_groups:
                rate = max(group["lr"] * self.factor, self.min_lr)
                if group["lr"] - rate > self.eps:
                    group["lr"] = rate
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """The rates that are in force."""
        return self._last_lr


class ChainedScheduler:
    """Several schedulers, each of which goes on from the rates of the one before."""

    def __init__(self, schedulers: Any, optimizer: Any = None) -> None:
        self._schedulers = list(schedulers)
        if not self._schedulers:
            raise ValueError(with_location("ChainedScheduler expects at least one scheduler"))
        self.optimizer = self._schedulers[0].optimizer if optimizer is None else optimizer
        if any(each.optimizer is not self.optimizer for each in self._schedulers):
            raise ValueError(
                with_location("ChainedScheduler expects all schedulers to belong to one optimizer")
            )
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    @in_default_state
    def step(self) -> None:
        """Goes one step on."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """The rates that are in force."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """The schedulers' states."""
        return {"_schedulers": [each.state_dict() for each in self._schedulers],
                "_last_lr": self._last_lr}  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)
        self._last_lr = state_dict["_last_lr"]
