"""Learning rates that rise and fall, and momentum the other way: CyclicLR and OneCycleLR."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch.optim.schedule import LRScheduler

_rates: Any = _core.aten
_groups: Any = _core.optimizers


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
        self.total_steps = _rates.cycle_steps(total_steps, epochs, steps_per_epoch)
        # The last step of each part, and the rates and momenta between which it goes.
        self._phases = _rates.one_cycle(self.total_steps, pct_start, three_phase)
        self.is_cosine = _rates.is_cosine_strategy(anneal_strategy)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _groups.check_momentum(optimizer)
        if last_epoch == -1:
            momenta = (base_momentum, max_momentum) if cycle_momentum else (None, None)
            _groups.begin_one_cycle(
                optimizer.param_groups, max_lr, div_factor, final_div_factor, *momenta
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Of the part that the step is in"""
        return _groups.one_cycle_rates(
            self.optimizer.param_groups, self._phases, self.last_epoch, self.is_cosine,
            self.cycle_momentum,
        )  # fmt: skip


class CyclicLR(LRScheduler):
    """Up from base_lr to max_lr and down again (Smith, 2017), and momentum the other way."""

    def __init__(
        self, optimizer: Any, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Any = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        groups = optimizer.param_groups
        self.scale_mode = _rates.scale_mode(mode, scale_mode, scale_fn is not None)
        self.max_lrs = _groups.one_for_each(max_lr, groups)
        if last_epoch == -1:
            _groups.begin_cycles(groups, base_lr)
        self.total_size, self.step_ratio = _groups.cycle_size(step_size_up, step_size_down)
        self.mode, self.gamma, self.cycle_momentum = mode, gamma, cycle_momentum
        self._scale_fn_custom = scale_fn
        if cycle_momentum:
            _groups.check_momentum(optimizer)
            self.base_momentums = _groups.one_for_each(base_momentum, groups)
            self.max_momentums = _groups.one_for_each(max_momentum, groups)
            _groups.set_momenta(groups, self.max_momentums)
        super().__init__(optimizer, last_epoch)

    def scale_fn(self, x: float) -> float:
        """How much of the height the cycle, or the step, x has."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return _rates.cycle_scale(self.mode, x, self.gamma)

    def get_lr(self) -> list[float]:
        """base + height * how far up"""
        up, cycle = _rates.cycle_point(self.last_epoch, self.total_size, self.step_ratio)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            momenta = _groups.cycled(self.max_momentums, self.base_momentums, up, scale)
            _groups.set_momenta(self.optimizer.param_groups, momenta)
        return _groups.cycled(self.base_lrs, self.max_lrs, up, scale)
