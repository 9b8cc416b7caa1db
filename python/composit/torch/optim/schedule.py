"""The base of learning rates that change from step to step."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import type_error
from composit._floating_point import in_default_state

_groups: Any = _core.optimizers


def check_optimizer(optimizer: Any) -> None:
    """TypeError for what is no optimiser."""
    from composit.torch.optim.optimizer import Optimizer

    if not isinstance(optimizer, Optimizer):
        raise type_error(f"{type(optimizer).__name__} is not an Optimizer")


class LRScheduler:
    """The base: get_lr says the groups' next rates. A class may also say, by _get_closed_form_lr,
    which rates a step has whatever came before it."""

    _is_initial = False  # while the rates of step 0 are set
    _takes_metric = False  # whether step() is given what is to become better: ReduceLROnPlateau

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer, self.last_epoch = optimizer, last_epoch
        self.base_lrs = _groups.initial_rates(optimizer.param_groups, last_epoch)
        self._initial_step()

    def _initial_step(self) -> None:
        """Sets the rates of step 0."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[float]:
        """The rates of step last_epoch."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rates that are in force."""
        return self._last_lr

    @in_default_state
    def step(self, epoch: int | None = None) -> None:
        """Goes one step on, or to a step."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._set_rates(self._next_rates() if epoch is None else self._rates_at(epoch))

    def _next_rates(self) -> list[float]:
        self.last_epoch += 1
        return self.get_lr()

    def _rates_at(self, epoch: int) -> list[float]:
        self.last_epoch = epoch
        return getattr(self, "_get_closed_form_lr", self.get_lr)()

    def _set_rates(self, rates: list[float]) -> None:
        _groups.set_rates(self.optimizer.param_groups, rates)
        self._last_lr = self._now()

    def _now(self) -> list[float]:
        return _groups.rates_of(self.optimizer.param_groups)

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser."""
        return _groups.attributes_but(self, ("optimizer",))

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        self.__dict__.update(state_dict)


class OfFormula(LRScheduler):
    """The base of schedules whose formula is one of composit::aten's
    (composit/aten/schedulers.h)."""

    def _formula(self) -> Any:
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """The next rates, from those before."""
        return self._formula().next(self.last_epoch, self._now(), self.base_lrs)

    def _get_closed_form_lr(self) -> list[float]:
        return self._formula().at(self.last_epoch, self.base_lrs)


class Combined(LRScheduler):
    """The base of schedules that are made of others."""

    _schedulers: list[Any]

    def _take(self, optimizer: Any, schedulers: Any, what: str) -> None:
        """Checks and keeps the schedules. ValueError for none, for ReduceLROnPlateau and for one of
        another optimiser, TypeError for what is no schedule."""
        name = type(self).__name__
        self.optimizer = _groups.optimizer_of_all(name, optimizer, schedulers, what)
        self._schedulers = schedulers

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser, with the states of the schedules."""
        own = _groups.attributes_but(self, ("optimizer", "_schedulers"))
        return {**own, "_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        self.__dict__.update({**state_dict, "_schedulers": self._schedulers})
        for each, state in zip(self._schedulers, state_dict["_schedulers"]):
            each.load_state_dict(state)
