"""The base of learning rates that change from step to step."""

from __future__ import annotations

import functools
from typing import Any

from composit._core import LazyTensor, type_error, value_error, with_location
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.calling import TensorBase


def check_optimizer(optimizer: Any) -> None:
    """TypeError for what is no optimiser."""
    from composit.torch.optim.optimizer import Optimizer

    if not isinstance(optimizer, Optimizer):
        raise type_error(f"{type(optimizer).__name__} is not an Optimizer")


def set_rate(group: dict[str, Any], rate: Any) -> None:
    """Gives a group a rate; a tensor that it has is written over."""
    held = group["lr"]
    if isinstance(held, TensorBase):
        tensor: Any = held
        number: Any = rate
        tensor.data.fill_(number.item() if isinstance(rate, TensorBase) else number)
    else:
        group["lr"] = rate


def _plain(rate: Any) -> Any:
    tensor: Any = rate
    return tensor.detach().clone() if isinstance(rate, TensorBase) else rate


class LRScheduler:
    """The base: get_lr says the groups' next rates. A class may also say, by _get_closed_form_lr,
    which rates a step has whatever came before it."""

    _is_initial = False  # while the rates of step 0 are set
    _takes_metric = False  # whether step() is given what is to become better: ReduceLROnPlateau

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _plain(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    with_location(f"param 'initial_lr' is not specified in param_groups[{i}] when "
                                  "resuming scheduler with last_epoch >= 0.")
                )  # fmt: skip
        self.base_lrs = [_plain(group["initial_lr"]) for group in optimizer.param_groups]
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
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if closed is None else closed()
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_rate(group, rate)
        self._last_lr = self._now()

    def _now(self) -> list[float]:
        return [_plain(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        self.__dict__.update(state_dict)


def of_each(formula: Any, *rates: Any) -> list[Any]:
    """What a formula of composit::aten makes of the rates of each group; of tensors a tensor."""
    made = (formula(*(getattr(x, "_lazy", x) for x in each)) for each in zip(*rates))
    return [calling.wrapped(rate) if isinstance(rate, LazyTensor) else rate for rate in made]


class OfFormula(LRScheduler):
    """The base of schedules whose formula is one of composit::aten's
    (composit/aten/schedulers.h)."""

    def _formula(self) -> Any:
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """The next rates, from those before."""
        formula = functools.partial(self._formula().next, self.last_epoch)
        return of_each(formula, self._now(), self.base_lrs)

    def _get_closed_form_lr(self) -> list[float]:
        return of_each(functools.partial(self._formula().at, self.last_epoch), self.base_lrs)


class Combined(LRScheduler):
    """The base of schedules that are made of others."""

    _schedulers: list[Any]

    def _take(self, optimizer: Any, schedulers: Any, what: str) -> None:
        """Checks and keeps the schedules. ValueError for none, for ReduceLROnPlateau and for one of
        another optimiser, TypeError for what is no schedule."""
        name = type(self).__name__
        if len(schedulers) < 1:
            raise value_error(f"{name} expects at least one scheduler{what}, but got no scheduler.")
        if optimizer is None:
            optimizer = schedulers[0].optimizer
        for i, each in enumerate(schedulers):
            if not hasattr(each, "optimizer"):
                raise type_error(f"{name} at index {i} should have `optimizer` as its attribute.")
            if getattr(each, "_takes_metric", False):
                raise value_error(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at "
                    f"index {i} in the given schedulers sequence."
                )
            if each.optimizer is not optimizer:
                raise value_error(
                    f"{name} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(each).__name__} at index {i} has {each.optimizer}, which "
                    f"is different from {type(optimizer).__name__}."
                )
        self.optimizer, self._schedulers = optimizer, schedulers

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser, with the states of the schedules."""
        state = {
            name: value for name, value in super().state_dict().items() if name != "_schedulers"
        }
        return {**state, "_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        own = {name: value for name, value in state_dict.items() if name != "_schedulers"}
        self.__dict__.update(own)
        for each, state in zip(self._schedulers, state_dict["_schedulers"]):
            each.load_state_dict(state)
