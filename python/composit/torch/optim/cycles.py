"""Learning rates that rise and fall, and momentum the other way: CyclicLR and OneCycleLR."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import value_error
from composit.torch.optim.schedule import LRScheduler, of_each


def _each(value: Any, groups: list[dict[str, Any]]) -> list[float]:
    """One for each group, of as many or one."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * len(groups)


def _check_momentum(optimizer: Any) -> None:
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise value_error(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )


def _set_momentum(group: dict[str, Any], momentum: float) -> None:
    if "momentum" in group:
        group["momentum"] = momentum
    else:
        group["betas"] = (momentum, *group["betas"][1:])


class OneCycleLR(LRScheduler):
    """Up from max_lr / div_factor to max_lr, and down below where it began (Smith and Topin, 2018),
    momentum the other way; with three_phase down as it went up, then further."""

    def __init__(
        self, optimizer: Any, max_lr: Any, total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: Any = 0.85,
        max_momentum: Any = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.total_steps = _core.aten.cycle_steps(total_steps, epochs, steps_per_epoch)
        # The last step of each part, and the rates and momenta between which it goes.
        self._phases = _core.aten.one_cycle(self.total_steps, pct_start, three_phase)
        self.is_cosine = _core.aten.is_cosine_strategy(anneal_strategy)
        self.cycle_momentum = cycle_momentum
        groups = optimizer.param_groups
        if last_epoch == -1:
            for group, rate in zip(groups, _each(max_lr, groups)):
                group["initial_lr"], group["max_lr"] = rate / div_factor, rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            _check_momentum(optimizer)
            momenta = _each(base_momentum, groups), _each(max_momentum, groups)
            for group, least, most in zip(groups, *momenta) if last_epoch == -1 else ():
                _set_momentum(group, most)
                group["base_momentum"], group["max_momentum"] = least, most
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Of the part that the step is in"""
        if self.last_epoch > self.total_steps:
            raise value_error(
                f"Tried to step {self.last_epoch} times. The specified number of total steps "
                f"is {self.total_steps}"
            )
        number, share = _core.aten.position_in(self._phases, self.last_epoch)
        _, rate, next_rate, momentum, next_momentum = self._phases[number]
        rates = []
        for group in self.optimizer.param_groups:
            rates += self._between(share, group[rate], group[next_rate])
            if self.cycle_momentum:
                _set_momentum(group, self._between(share, group[momentum], group[next_momentum])[0])
        return rates

    def _between(self, share: float, start: Any, end: Any) -> list[Any]:
        formula = _core.aten.annealed
        return of_each(lambda a, b: formula(a, b, share, self.is_cosine), [start], [end])


class CyclicLR(LRScheduler):
    """Up from base_lr to max_lr and down again (Smith, 2017), and momentum the other way."""

    def __init__(
        self, optimizer: Any, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Any = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        groups = optimizer.param_groups
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise value_error("mode is invalid and scale_fn is None")
        self.max_lrs = _each(max_lr, groups)
        if last_epoch == -1:
            for group, rate in zip(groups, _each(base_lr, groups)):
                group["lr"] = group["initial_lr"] = rate
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self.cycle_momentum = mode, gamma, cycle_momentum
        self._scale_fn_custom, self.scale_mode = scale_fn, scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        if cycle_momentum:
            _check_momentum(optimizer)
            self.base_momentums = _each(base_momentum, groups)
            self.max_momentums = _each(max_momentum, groups)
            for group, momentum in zip(groups, self.max_momentums):
                _set_momentum(group, momentum)
        super().__init__(optimizer, last_epoch)

    def scale_fn(self, x: float) -> float:
        """How much of the height the cycle, or the step, x has."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return _core.aten.cycle_scale(self.mode, x, self.gamma)

    def get_lr(self) -> list[float]:
        """base + height * how far up"""
        up, cycle = _core.aten.cycle_point(self.last_epoch, self.total_size, self.step_ratio)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ends = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums)
            for group, low, high in ends:
                _set_momentum(group, high - (high - low) * up * scale)
        return [base + (high - base) * up * scale
                for base, high in zip(self.base_lrs, self.max_lrs)]  # fmt: skip
