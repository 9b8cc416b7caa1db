"""Optimizer: groups of parameters, their options and their state.

A step builds the new parameters and state as graphs and has them computed at once, with all that is
alive and was not computed yet: the loss, what metrics are made of (bindings/optimizer_steps.cpp).
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import composit._core as _core
from composit._floating_point import in_default_state
from composit.torch import errstate, materializing, steps
from composit.torch.hooks import _Handle
from composit.torch.optim import recorded_step
from composit.torch.optim.parameter_state import no_states
from composit.torch.tape import enable_grad

_optimizers: Any = _core.optimizers


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()

_hooks = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks", "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks",
)  # fmt: skip


# Of all optimisers.
_global_pre_hooks: dict[int, Any] = {}
_global_post_hooks: dict[int, Any] = {}


def register_optimizer_step_pre_hook(hook: Any) -> Any:
    """Calls hook(optimizer, args, kwargs) before each step of every optimiser; what it returns are
    new ones."""
    return _Handle(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Any) -> Any:
    """Calls hook(optimizer, args, kwargs) after each step of every optimiser."""
    return _Handle(_global_post_hooks, hook)


def _with_hooks(step: Any) -> Any:
    """A step that calls the hooks that are registered."""

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        if own.get("_is_stepping") or not (
            own.get("_optimizer_step_pre_hooks")
            or own.get("_optimizer_step_post_hooks")
            or _global_pre_hooks
            or _global_post_hooks
        ):
            return step(self, *args, **kwargs)
        return _optimizers.step_with_hooks(
            step, self, args, kwargs, _global_pre_hooks, _global_post_hooks
        )

    return hooked


class Optimizer:
    """The base of optimisers: `step` says what parameters become."""

    _optimizer_step_pre_hooks: dict[int, Any]
    _optimizer_step_post_hooks: dict[int, Any]
    _optimizer_state_dict_pre_hooks: dict[int, Any]
    _optimizer_state_dict_post_hooks: dict[int, Any]
    _optimizer_load_state_dict_pre_hooks: dict[int, Any]
    _optimizer_load_state_dict_post_hooks: dict[int, Any]

    # The names of numbers in a parameter's state that the rule counts on.
    kept_numbers: tuple[str, ...] = ()
    # The optimiser of composit::aten that knows the bounds of the options.
    _bounded = ""
    # Whether `step` is counted although the rule needs no count, as PyTorch's state has it.
    counts_apart = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if inspect.isfunction(cls.__dict__.get("step")):
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if self._bounded:
            _core.aten.check_optimizer_options(self._bounded, defaults)
        groups = _optimizers.given_groups(params)
        self.defaults = defaults
        self.state: Any = no_states()
        self.__dict__.update({name: {} for name in _hooks})
        self.param_groups: list[dict[str, Any]] = []
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own."""
        _optimizers.add_group(self, param_group, required)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients."""
        _optimizers.zero_gradients(self.param_groups, set_to_none)

    def step(self, closure: Any = None) -> Any:
        """One update of all parameters that have gradients."""
        raise NotImplementedError

    # ----- hooks

    def register_step_pre_hook(self, hook: Any) -> Any:
        """Calls hook(optimizer, args, kwargs) before each step; what it returns are new ones."""
        return _Handle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Any) -> Any:
        """Calls hook(optimizer, args, kwargs) after each step."""
        return _Handle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Calls hook(optimizer) before state_dict()."""
        return _Handle(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Calls hook(optimizer, state_dict) after state_dict(); what it returns takes its place."""
        return _Handle(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Calls hook(optimizer, state_dict) before load_state_dict(); what it returns is loaded."""
        return _Handle(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Calls hook(optimizer) after load_state_dict()."""
        return _Handle(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # ----- states

    def state_dict(self) -> dict[str, Any]:
        """The state by the numbers of parameters, and the groups' options."""
        for pre in list(self._optimizer_state_dict_pre_hooks.values()):
            pre(self)
        made = _optimizers.state_dictionary(self.param_groups, self.state)
        return _optimizers.through_hooks(self._optimizer_state_dict_post_hooks, self, made)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state, also of PyTorch's optimiser of the same name."""
        state_dict = dict(state_dict)
        state_dict = _optimizers.through_hooks(
            self._optimizer_load_state_dict_pre_hooks, self, state_dict
        )
        _optimizers.load_state(self, state_dict)
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("defaults", "state", "param_groups")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: {} for name in _hooks})
        self.__dict__.update(state)

    def __repr__(self) -> str:
        return _optimizers.text_of_groups(type(self).__name__, self.param_groups)


def of_closure(closure: Any) -> Any:
    """The loss that a step's closure computes; None without one."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


class Ruled(Optimizer):
    """The base of optimisers whose rule is one of composit::aten's (composit/aten/optimizers.h)."""

    _rule: Any  # makes the rule of a group's options
    # Whether the numbers that differ from step to step are those of a group: no parameter's count.
    numbers_are_of_groups = False

    @in_default_state
    def step(self, closure: Any = None) -> Any:
        """One update of all parameters that have gradients."""
        loss = of_closure(closure)
        token = errstate.begin()
        try:
            if recorded_step.stepped(self):
                return loss
            steps.interrupt()
            _optimizers.step(self)
        finally:
            errstate.end(token)
        materializing.materialize(with_gradients=False)
        return loss
