"""Optimizer: groups of parameters, their options and their state.

A step builds the new parameters and state as graphs over LazyTensors and has them computed at
once, with all that is alive and was not computed yet: the loss, what metrics are made of.
"""

from __future__ import annotations

from typing import Any

from composit._core import LazyTensor, with_location
from composit._floating_point import in_default_state
from composit.torch import calling, quiet, settling, steps, versions, writing
from composit.torch.calling import TensorBase
from composit.torch.optim import recorded_step
from composit.torch.tape import enable_grad
from composit.torch.tensor import tensor


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """The base of optimisers: `update` says what a parameter becomes."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, TensorBase):
            raise TypeError(
                with_location("params argument given to the optimizer should be an iterable of "
                              "Tensors or dicts, but got a Tensor")
            )  # fmt: skip
        given = list(params)
        if not given:
            raise ValueError(with_location("optimizer got an empty parameter list"))
        self.defaults = defaults
        self.state: dict[Any, dict[str, Any]] = {}
        self.param_groups: list[dict[str, Any]] = []
        groups = given if isinstance(given[0], dict) else [{"params": given}]
        for group in groups:
            self.add_param_group(dict(group))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own."""
        params = param_group["params"]
        params = [params] if isinstance(params, TensorBase) else list(params)
        params = [x[1] if isinstance(x, tuple) else x for x in params]
        known = {id(x) for group in self.param_groups for x in group["params"]}
        for x in params:
            if not isinstance(x, TensorBase):
                raise TypeError(
                    with_location(
                        f"optimizer can only optimize Tensors, but one of the params is "
                        f"{type(x).__name__}"
                    )
                )
            if not x.is_leaf:  # type: ignore[attr-defined]
                raise ValueError(with_location("can't optimize a non-leaf Tensor"))
            if id(x) in known:
                raise ValueError(
                    with_location("some parameters appear in more than one parameter group")
                )
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise ValueError(
                    with_location(f"parameter group didn't specify a value of required "
                                  f"optimization parameter {name}")
                )  # fmt: skip
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
        if recorded_step.stepped(self):
            return loss
        steps.interrupt()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter._grad is None:
                    continue
                state = self.state.setdefault(parameter, {})
                lazy = {
                    name: value._lazy if isinstance(value, TensorBase) else value
                    for name, value in state.items()
                }
                x, gradient = parameter._lazy, parameter._grad._lazy
                if gradient.dtype != x.dtype:
                    raise RuntimeError(
                        with_location(f"a gradient of {gradient.dtype} for a parameter of "
                                      f"{x.dtype}")
                    )  # fmt: skip
                token = quiet.begin()
                try:
                    numbers = self.numbers(lazy, group)
                    numbered = group if numbers is None else {**group, **numbers}
                    updated = self.update(x, gradient, lazy, numbered)
                finally:
                    quiet.end(token)
                parameter._lazy.replaced(updated)
                parameter._is_pending = True
                versions.written(parameter)
                settling.enter(parameter)
                for name, value in lazy.items():
                    if isinstance(value, LazyTensor):
                        held = state.get(name)
                        if held is None:
                            # A cell of its own: the gradient's may be written by others.
                            state[name] = calling.wrapped(value.copied())
                        else:
                            writing.overwrite(held, value)
                    else:
                        state[name] = value
        settling.settle(with_gradients=False)
        return loss

    def state_dict(self) -> dict[str, Any]:
        """The state by the numbers of parameters, and the groups' options."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for x in group["params"]:
                numbers.setdefault(id(x), len(numbers))
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [numbers[id(x)] for x in group["params"]]})
        state = {numbers[id(x)]: dict(kept) for x, kept in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError(
                with_location("loaded state dict has a different number of parameter groups")
            )
        numbered: dict[int, Any] = {}
        for own, loaded in zip(self.param_groups, groups):
            if len(own["params"]) != len(loaded["params"]):
                raise ValueError(
                    with_location(
                        "loaded state dict contains a parameter group that doesn't match the size "
                        "of optimizer's group"
                    )
                )
            numbered.update(zip(loaded["params"], own["params"]))
            own.update({name: value for name, value in loaded.items() if name != "params"})
        self.state = {
            numbered[number]: {name: _copied(value) for name, value in kept.items()}
            for number, kept in state_dict["state"].items()
        }

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines) + "\n)"


def _copied(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value.detach().clone()  # type: ignore[attr-defined]
    if hasattr(value, "__array__"):
        import numpy as np

        return tensor(np.asarray(value))
    return value


def number(value: Any) -> Any:
    """A learning rate as a number or a LazyTensor."""
    if isinstance(value, TensorBase):
        return value._lazy
    return float(value) if isinstance(value, float) else value  # also a NumPy scalar's


def check_at_least_zero(**options: Any) -> None:
    """ValueError for options below zero."""
    names = {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value",
             "momentum": "momentum value"}  # fmt: skip
    for name, value in options.items():
        if not isinstance(value, TensorBase) and not value >= 0.0:
            raise ValueError(with_location(f"Invalid {names.get(name, name)}: {value}"))


def check_betas(betas: Any) -> None:
    """ValueError unless 0 <= beta < 1."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(with_location(f"Invalid beta parameter at index {i}: {beta}"))


def zeros_like(x: LazyTensor) -> LazyTensor:
    """Zeros of a parameter's shape and dtype."""
    from composit import numpy as cnp

    return cnp.zeros(tuple(x.shape), x.dtype)


def stepped(state: dict[str, Any]) -> int:
    """The number of this step; it is kept as torch keeps it, a tensor."""
    count = int(state.get("_count", 0)) + 1
    state["_count"] = count
    return count


def decayed(x: LazyTensor, gradient: LazyTensor, group: dict[str, Any]) -> LazyTensor:
    """The gradient, its sign turned where it is maximised, with weight decay added."""
    if group.get("maximize"):
        gradient = -gradient
    decay = group.get("weight_decay", 0)
    return gradient + x * decay if decay else gradient
