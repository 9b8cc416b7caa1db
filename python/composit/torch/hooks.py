"""Hooks of tensors, and the handles that remove hooks."""

from __future__ import annotations

import itertools
from typing import Any

from composit._core import not_implemented, runtime_error
from composit.torch import calling, steps
from composit.torch.calling import TensorBase, is_recorded

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
        if not is_recorded(self):
            raise runtime_error("cannot register a hook on a tensor that doesn't require gradient")
        if self._is_leaf_with_grad:
            if self._hooks is None:
                self._hooks = {}
            return _Handle(self._hooks, hook)
        steps.interrupt()
        record = self._record
        if record is None or record is not calling.record_of(self):
            raise not_implemented(
                "register_hook: hooks of views of what was written are not built."
            )
        lazy = self._lazy
        points = record.hook_points = record.hook_points or []
        for point in points:
            if point.lazy.node == lazy.node:
                return _Handle(point.hooks, hook)
        points.append(HookPoint(lazy.copied()))
        return _Handle(points[-1].hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Calls hook(leaf) after gradients were added to its grad. RuntimeError for what is no leaf
        that requires a gradient."""
        if not self._is_leaf_with_grad:
            said = "cannot register a hook on a tensor that doesn't require gradient"
            if is_recorded(self):
                said = "post accumulate grad hooks cannot be registered on non-leaf tensors"
            raise runtime_error(said)
        if self._post_hooks is None:
            self._post_hooks = {}
        return _Handle(self._post_hooks, hook)
