"""Hooks of tensors, and the handles that remove hooks."""

from __future__ import annotations

import itertools
from typing import Any

import composit._core as _core
from composit.torch import steps
from composit.torch.calling import TensorBase

_numbers = itertools.count()


class RemovableHandle:
    """Removes a hook, and its number from `marks`, which say how it is called."""

    def __init__(
        self, hooks: dict[int, Any], hook: Any, is_first: bool = False,
        marks: tuple[dict[int, bool], ...] = (),
    ) -> None:  # fmt: skip
        self._hooks, self._id, self._marks = hooks, next(_numbers), marks
        for mark in marks:
            mark[self._id] = True
        before = dict(hooks) if is_first else {}
        if is_first:
            hooks.clear()
        hooks[self._id] = hook
        hooks.update(before)

    def remove(self) -> None:
        """The hook is not called any more."""
        for held in (self._hooks, *self._marks):
            held.pop(self._id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


_Handle = RemovableHandle


class HookPoint:
    """The hooks of a tensor that is no leaf, at its record, with its node as it was then."""

    __slots__ = ("hooks", "lazy")

    def __init__(self, lazy: Any) -> None:
        self.lazy = lazy
        self.hooks: dict[int, Any] = {}


class Hooked(TensorBase):
    """What tensors have to watch their gradients and writes."""

    def retain_grad(self) -> None:
        """Keeps the gradient of what is no leaf, too."""
        steps.interrupt()
        if self._record is not None:
            self._record.retain_gradient_of(self)

    def register_hook(self, hook: Any) -> Any:
        """Calls hook(gradient) when the tensor's gradient is computed; what it returns goes on in
        its place. RuntimeError for a tensor that does not require a gradient."""
        return _core.register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Calls hook(leaf) after gradients were added to its grad. RuntimeError for what is no leaf
        that requires a gradient."""
        return _core.register_hook_after_gradients(self, hook)


_core.provide("hook_handle", RemovableHandle)
_core.provide("hook_point", HookPoint)
