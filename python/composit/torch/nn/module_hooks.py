"""Hooks of all modules: what torch.nn.modules.module registers is called at every module's calls,
before the module's own hooks."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from composit.torch.tensor import _Handle


class _OfAll:
    """The hooks, under the names that a module's have."""

    def __init__(self) -> None:
        self._forward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._forward_hooks: OrderedDict[int, Any] = OrderedDict()
        self._forward_pre_hooks_with_kwargs: OrderedDict[int, Any] = OrderedDict()
        self._forward_hooks_with_kwargs: OrderedDict[int, Any] = OrderedDict()
        self._forward_hooks_always_called: OrderedDict[int, Any] = OrderedDict()
        self._backward_hooks: OrderedDict[int, Any] = OrderedDict()
        self._backward_pre_hooks: OrderedDict[int, Any] = OrderedDict()

    def are_any(self) -> Any:
        """Whether there is a hook."""
        return (
            self._forward_hooks or self._forward_pre_hooks
            or self._backward_hooks or self._backward_pre_hooks
        )  # fmt: skip


of_all = _OfAll()


def register_module_forward_hook(
    hook: Any, *, with_kwargs: bool = False, always_call: bool = False
) -> Any:
    """Calls hook(module, arguments, result) after each call of any module; what it returns is the
    result. With always_call also after an exception, with None for the result."""
    marks = [of_all._forward_hooks_with_kwargs] if with_kwargs else []
    marks += [of_all._forward_hooks_always_called] if always_call else []
    return _Handle(of_all._forward_hooks, hook, False, tuple(marks))


def register_module_forward_pre_hook(hook: Any) -> Any:
    """Calls hook(module, arguments) before each call of any module; what it returns are the
    arguments."""
    return _Handle(of_all._forward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Any) -> Any:
    """Calls hook(module, grad_input, grad_output) when the gradients of a call's arguments are
    computed, of any module; what it returns takes grad_input's place."""
    return _Handle(of_all._backward_hooks, hook)


register_module_backward_hook = register_module_full_backward_hook


def register_module_full_backward_pre_hook(hook: Any) -> Any:
    """Calls hook(module, grad_output) before the gradients of a call of any module are computed;
    what it returns takes grad_output's place."""
    return _Handle(of_all._backward_pre_hooks, hook)
