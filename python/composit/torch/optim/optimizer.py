"""Optimizer: groups of parameters, their options and their state.

A step builds the new parameters and state as graphs over LazyTensors and has them computed at
once, with all that is alive and was not computed yet: the loss, what metrics are made of.
"""

from __future__ import annotations

import functools
import inspect
from collections import defaultdict
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, runtime_error, type_error, value_error
from composit._floating_point import in_default_state
from composit.torch import calling, errstate, materializing, steps, writing
from composit.torch.calling import TensorBase
from composit.torch.hooks import _Handle
from composit.torch.optim import recorded_step
from composit.torch.optim.parameter_state import Kept, ParameterState, counted, stored
from composit.torch.places import beside
from composit.torch.tape import enable_grad
from composit.torch.tensor import tensor


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
        own["_is_stepping"] = True
        args = (self, *args)
        try:
            pre_hooks = _global_pre_hooks, own["_optimizer_step_pre_hooks"]
            for hook in [hook for hooks in pre_hooks for hook in hooks.values()]:
                changed = hook(self, args, kwargs)
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise runtime_error(
                        f"{hook} must return None or a tuple of (new_args, new_kwargs), but "
                        f"got {changed}."
                    )
                args, kwargs = changed
            result = step(*args, **kwargs)
            post_hooks = own["_optimizer_step_post_hooks"], _global_post_hooks
            for hook in [hook for hooks in post_hooks for hook in hooks.values()]:
                hook(self, args, kwargs)
            return result
        finally:
            own["_is_stepping"] = False

    return hooked


class Optimizer:
    """The base of optimisers: `update` says what a parameter becomes."""

    _optimizer_step_pre_hooks: dict[int, Any]
    _optimizer_step_post_hooks: dict[int, Any]
    _optimizer_state_dict_pre_hooks: dict[int, Any]
    _optimizer_state_dict_post_hooks: dict[int, Any]
    _optimizer_load_state_dict_pre_hooks: dict[int, Any]
    _optimizer_load_state_dict_post_hooks: dict[int, Any]

    _rules: dict[int, Any]  # Ruled's, made anew for each step
    # The names of numbers in a parameter's state that its `numbers` counts on.
    kept_numbers: tuple[str, ...] = ()
    # The optimiser of composit::aten that knows the bounds of the options.
    _bounded = ""
    # Whether `step` is counted although `numbers` needs no count, as PyTorch's state has it.
    counts_apart = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if inspect.isfunction(cls.__dict__.get("step")):
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if self._bounded:
            _core.aten.check_optimizer_options(self._bounded, defaults)
        if isinstance(params, TensorBase):
            raise type_error("params argument given to the optimizer should be an iterable of "
                             "Tensors or dicts, but got a Tensor")  # fmt: skip
        given = list(params)
        if not given:
            raise value_error("optimizer got an empty parameter list")
        self.defaults = defaults
        self.state: Any = defaultdict(ParameterState)
        self.__dict__.update({name: {} for name in _hooks}, _rules={})
        self.param_groups: list[dict[str, Any]] = []
        groups = given if isinstance(given[0], dict) else [{"params": given}]
        for group in groups:
            self.add_param_group(dict(group))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own."""
        params = param_group["params"]
        params = [params] if isinstance(params, TensorBase) else list(params)
        if any(isinstance(x, tuple) for x in params):
            param_group["param_names"] = [x[0] for x in params]
            params = [x[1] for x in params]
        known = {id(x) for group in self.param_groups for x in group["params"]}
        for x in params:
            if not isinstance(x, TensorBase):
                raise type_error(
                    f"optimizer can only optimize Tensors, but one of the params is "
                    f"{type(x).__name__}"
                )
            if not x.is_leaf:  # type: ignore[attr-defined]
                raise value_error("can't optimize a non-leaf Tensor")
            if id(x) in known:
                raise value_error("some parameters appear in more than one parameter group")
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise value_error(f"parameter group didn't specify a value of required "
                                  f"optimization parameter {name}")  # fmt: skip
            param_group.setdefault(name, value)
        param_group["params"] = params
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients."""
        for group in self.param_groups:
            for x in group["params"]:
                if set_to_none:
                    x._grad = None
                elif x._grad is not None:
                    x._grad = x._grad.detach() * 0

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """The new parameter; the state's LazyTensors are replaced by new ones."""
        raise NotImplementedError

    numbers_are_of_groups = False  # and not of single parameters' states

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """What differs from step to step beside tensors, as `update` finds it in its group: numbers
        that it only combines with tensors, or LazyTensors where the learning rate is a tensor. The
        state's own numbers are replaced by new ones. None: update reads all by itself, and is
        called each step."""
        return None

    @in_default_state
    def step(self, closure: Any = None) -> Any:
        """One update of all parameters that have gradients."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._rules = {}
        if recorded_step.stepped(self):
            return loss
        steps.interrupt()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter._grad is None:
                    continue
                state = self.state_of(parameter)
                lazy = {
                    name: value._lazy if isinstance(value, TensorBase) else value
                    for name, value in stored(state)
                }
                x, gradient = parameter._lazy, parameter._grad._lazy
                if gradient.dtype != x.dtype:
                    raise runtime_error(f"a gradient of {gradient.dtype} for a parameter of "
                                        f"{x.dtype}")  # fmt: skip
                token = errstate.begin()
                try:
                    numbers = self.numbers(lazy, group)
                    if self.counts_apart:
                        counted(lazy)
                    numbered = group if numbers is None else {**group, **numbers}
                    updated = self.update(x, gradient, lazy, numbered)
                finally:
                    errstate.end(token)
                if writing.has_twin(parameter):
                    writing.overwrite(parameter, updated)
                else:
                    parameter._lazy.replaced(beside(updated, x))
                    _core.count_write(parameter)
                    materializing.enter(parameter)
                parameter._is_pending = True
                self._keep(parameter, state, lazy)
        materializing.materialize(with_gradients=False)
        return loss

    def state_of(self, parameter: Any) -> ParameterState:
        """The state of a parameter, with its numbers as numbers; an empty one where nothing was
        kept yet."""
        state = self.state[parameter] if parameter in self.state else ParameterState()
        if type(state) is not ParameterState:  # an ordinary dictionary that was put there
            state = self.state[parameter] = ParameterState(state)
        state.take_numbers(self.kept_numbers)
        return state

    def _keep(self, parameter: Any, state: ParameterState, lazy: dict[str, Any]) -> None:
        """Puts what a step computed into a parameter's state."""
        for name, value in lazy.items():
            held = dict.get(state, name)
            if not isinstance(value, LazyTensor):
                dict.__setitem__(state, name, value)
            elif isinstance(held, TensorBase):
                writing.overwrite(held, value)
            else:  # a cell of its own: the gradient's may be written by others
                value = beside(value, parameter._lazy).copied()
                dict.__setitem__(state, name, calling.wrapped(value))
        if state and parameter not in self.state:
            self.state[parameter] = state
        state.give_numbers()

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
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for x in group["params"]:
                numbers.setdefault(id(x), len(numbers))
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [numbers[id(x)] for x in group["params"]]})
        state: dict[Any, Any] = {}
        for x, kept in self.state.items():
            key = numbers[id(x)] if isinstance(x, TensorBase) else x
            is_own = isinstance(kept, ParameterState)
            state[key] = kept.snapshot() if is_own else kept
        made = {"state": state, "param_groups": groups}
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            changed = hook(self, made)
            made = made if changed is None else changed
        return made

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state, also of PyTorch's optimiser of the same name."""
        state_dict = dict(state_dict)
        for pre in list(self._optimizer_load_state_dict_pre_hooks.values()):
            changed = pre(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise value_error("loaded state dict has a different number of parameter groups")
        numbered: dict[int, Any] = {}
        for own, loaded in zip(self.param_groups, groups):
            if len(own["params"]) != len(loaded["params"]):
                raise value_error(
                    "loaded state dict contains a parameter group that doesn't match the size "
                    "of optimizer's group"
                )
            numbered.update(zip(loaded["params"], own["params"]))
            own.update({name: _copied(x) for name, x in loaded.items() if name != "params"})
        self.state = defaultdict(ParameterState)
        for number, kept in state_dict["state"].items():
            parameter = numbered.get(number)
            if parameter is None:
                self.state[number] = _copied(kept)
                continue
            self.state[parameter] = state = ParameterState()
            for name, value in kept.items():
                like = None if name == "step" else parameter
                dict.__setitem__(state, name, _copied(value, like))
            state.take_numbers(self.kept_numbers)
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("defaults", "state", "param_groups")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: {} for name in _hooks}, _rules={})
        self.__dict__.update(state)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines) + "\n)"


def _copied(value: Any, like: Any = None) -> Any:
    """A copy of what a state has, tensors of PyTorch's as composit's. Floats get the dtype of the
    parameter that they belong to."""
    if isinstance(value, dict):
        return {key: _copied(item, like) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_copied(item, like) for item in value])
    made: Any
    if isinstance(value, TensorBase):
        made = value.detach().clone()  # type: ignore[attr-defined]
    elif hasattr(value, "detach"):  # PyTorch's tensor
        made = tensor(value.detach().cpu().numpy())
    elif isinstance(value, np.ndarray):
        made = tensor(value)
    else:
        return value
    if like is None:
        return made
    is_cast = like.is_floating_point() and made.is_floating_point()
    return made.to(device=like.device, dtype=like.dtype if is_cast else None)


def number(value: Any) -> Any:
    """A learning rate as a number or a LazyTensor."""
    if isinstance(value, TensorBase):
        return value._lazy
    return float(value) if isinstance(value, float) else value  # also a NumPy scalar's


class Ruled(Optimizer):
    """The base of optimisers whose rule is one of composit::aten's (composit/aten/optimizers.h)."""

    _rule: Any  # makes the rule of a group's options

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, Any] | None:
        """What the rule computes with at this step beside tensors."""
        return self._rule_of(group).numbers(number(group["lr"]), state, Kept)

    def _rule_of(self, group: dict[str, Any]) -> Any:
        """The rule of a group's options, which stay as they are during a step."""
        rule = self._rules.get(id(group))
        if rule is None:
            rule = self._rules[id(group)] = self._rule(group)
        return rule

    def update(
        self, x: LazyTensor, gradient: LazyTensor, state: dict[str, Any], group: dict[str, Any]
    ) -> LazyTensor:
        """What the rule makes of the parameter; the state's LazyTensors are replaced."""
        return self._rule(group).update(x, gradient, state, group)


Optimizer.step = _with_hooks(Optimizer.step)  # type: ignore[method-assign]
