"""Learning rates that change from step to step: torch.optim.lr_scheduler."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from typing import Any

from composit._core import with_location

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR",
    "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


class LRScheduler:
    """The base: get_lr says the groups' next rates."""

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    with_location("param 'initial_lr' is not specified when resuming an optimizer")
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def get_lr(self) -> list[float]:
        """The rates of step last_epoch."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rates that are in force."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Goes one step on."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _now(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        self.__dict__.update(state_dict)


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


class OneCycleLR(LRScheduler):
    """Up to max_lr and down again; momentum is not cycled."""

    def __init__(
        self, optimizer: Any, max_lr: float, total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: float = 0.85,
        max_momentum: float = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if cycle_momentum or three_phase:
            raise NotImplementedError(
                with_location("OneCycleLR: cycle_momentum and three_phase are not built yet; "
                              "cycle_momentum=False is.")
            )  # fmt: skip
        self.total_steps = total_steps or (epochs or 0) * (steps_per_epoch or 0)
        self.pct_start, self.is_cosine = pct_start, anneal_strategy == "cos"
        self.max_lr = max_lr
        for group in optimizer.param_groups:
            group["initial_lr"] = max_lr / div_factor
        self.final_div_factor = final_div_factor
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Up, then down"""
        turn = float(self.pct_start * self.total_steps) - 1
        end = self.total_steps - 1
        rates = []
        for base in self.base_lrs:
            if self.last_epoch <= turn:
                share = self.last_epoch / turn
                rates.append(self._between(base, self.max_lr, share))
            else:
                share = (self.last_epoch - turn) / (end - turn)
                last = base / self.final_div_factor
                rates.append(self._between(self.max_lr, last, share))
        return rates

    def _between(self, start: float, end: float, share: float) -> float:
        if self.is_cosine:
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start


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


class CyclicLR(LRScheduler):
    """Up from base_lr to max_lr and down again (Smith, 2017), and momentum the other way."""

    def __init__(
        self, optimizer: Any, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Any = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        groups = optimizer.param_groups

        def each(value: Any) -> list[float]:
            return list(value) if isinstance(value, (list, tuple)) else [value] * len(groups)

        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(with_location("mode is invalid and scale_fn is None"))
        self.max_lrs = each(max_lr)
        if last_epoch == -1:
            for group, rate in zip(groups, each(base_lr)):
                group["lr"] = group["initial_lr"] = rate
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self.cycle_momentum = mode, gamma, cycle_momentum
        self._scale_fn_custom, self.scale_mode = scale_fn, scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError(
                    with_location(
                        "optimizer must support momentum or beta1 with `cycle_momentum` option "
                        "enabled"
                    )
                )
            self.base_momentums, self.max_momentums = each(base_momentum), each(max_momentum)
            for group, momentum in zip(groups, self.max_momentums):
                self._set_momentum(group, momentum)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _set_momentum(group: dict[str, Any], momentum: float) -> None:
        if "momentum" in group:
            group["momentum"] = momentum
        else:
            group["betas"] = (momentum, *group["betas"][1:])

    def scale_fn(self, x: float) -> float:
        """How much of the height the cycle, or the step, x has."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        halves = {"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1)}
        return halves[self.mode] if self.mode in halves else self.gamma**x

    def get_lr(self) -> list[float]:
        """base + height * how far up"""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        up = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ends = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums)
            for group, low, high in ends:
                self._set_momentum(group, high - (high - low) * up * scale)
        return [base + (high - base) * up * scale
                for base, high in zip(self.base_lrs, self.max_lrs)]  # fmt: skip
