"""Hooks of tensors, and the handles that remove hooks."""

from __future__ import annotations

from typing import Any

from composit._core import with_location
from composit.torch import calling, steps, versions
from composit.torch.calling import TensorBase


class _Handle:
    """Removes a hook."""

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._hooks, self._id = hooks, id(self)
        hooks[self._id] = hook

    def remove(self) -> None:
        """The hook is not called any more."""
        self._hooks.pop(self._id, None)

    def __enter__(self) -> _Handle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


class Hooked(TensorBase):
    """What tensors have to watch their gradients and writes."""

    @property
    def _version(self) -> int:
        """How often its memory was written."""
        return versions.owner_of(self)._writes

    def retain_grad(self) -> None:
        """Keeps the gradient of what is no leaf, too."""
        steps.interrupt()
        if self._record is not None:
            self._record.append(calling.retained(self))

    def register_hook(self, hook: Any) -> Any:
        """Calls hook(gradient) for the leaf's gradients; what it returns is added in their place.
        NotImplementedError for what is no leaf."""
        if not self._is_leaf_with_grad:
            raise NotImplementedError(
                with_location("register_hook: hooks of tensors that are no leaves are not built.")
            )
        return _Handle(self.__dict__.setdefault("_hooks", {}), hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Calls hook(leaf) after gradients were added to its grad."""
        return _Handle(self.__dict__.setdefault("_post_hooks", {}), hook)
