"""Which torch module is being called: its path gives names to weights and places to nodes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.modules import module as hooks

import composit._core as _core
from composit.flashlight.tensor import Tensor

_set_part: Any = _core.set_current_part  # type: ignore[attr-defined]


_GROUPS = ("_parameters", "_buffers", "_modules")


@contextlib.contextmanager
def kept_as_they_are(model: Any) -> Iterator[None]:
    """What the parts of a model have as attributes, buffers and parameters is the same afterwards:
    what a trace assigns to them has no elements. Parts that are initialised by their first call
    are left to that."""
    parts = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    before = [
        (vars(part), dict(vars(part)), {name: dict(vars(part)[name]) for name in _GROUPS})
        for part in parts
        if not isinstance(part, torch.nn.modules.lazy.LazyModuleMixin)
    ]
    try:
        yield
    finally:
        for own, attributes, groups in before:
            own.clear()
            own.update(attributes)
            for name, members in groups.items():
                own[name].clear()
                own[name].update(members)


def _members(root: torch.nn.Module) -> Iterator[tuple[dict[str, Any], str, Any]]:
    for part in root.modules():
        for group in ("_parameters", "_buffers"):
            for name, tensor in vars(part)[group].items():
                yield vars(part)[group], name, tensor


class ModulePaths:
    """The modules being called on the thread of the trace, outermost first."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._stack: list[str] = []
        self._paths: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._held: list[Any] = []  # so that ids stay theirs
        self._before: list[tuple[dict[str, Any], str, Any]] = []  # parameters and buffers

    @property
    def current(self) -> str:
        """The path of the innermost module, such as "encoder.layer.0"; empty outside of modules."""
        return self._stack[-1] if self._stack else ""

    def name_of(self, tensor: torch.Tensor) -> str:
        """The name of a parameter or buffer in the module that was called; else empty."""
        return self._names.get(tensor.untyped_storage()._cdata, "")

    def add(self, root: torch.nn.Module) -> None:
        """Takes the names of a module's parts, weights and buffers."""
        self._held.append(root)
        self._before += _members(root)
        for path, part in root.named_modules():
            self._paths.setdefault(id(part), path)
        for weights in (root.named_parameters(), root.named_buffers()):
            for name, weight in weights:
                self._names.setdefault(weight.untyped_storage()._cdata, name)

    def _enter(self, module: Any, *_: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        if id(module) not in self._paths:
            self.add(module)
        self._stack.append(self._paths[id(module)])
        _set_part(self.current)

    def _leave(self, *_: Any) -> None:
        if threading.get_ident() == self._thread and self._stack:
            self._stack.pop()
            _set_part(self.current)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """While it lasts, calls of modules are followed."""
        entering = hooks.register_module_forward_pre_hook(self._enter)
        leaving = hooks.register_module_forward_hook(self._leave, always_call=True)
        try:
            yield
        finally:
            entering.remove()
            leaving.remove()
            _set_part("")
            self._put_back()

    def _put_back(self) -> None:
        """Parameters and buffers that were replaced by values of the trace, which have no memory,
        are again what they were."""
        for members, name, tensor in reversed(self._before):
            if isinstance(members.get(name), Tensor) and not isinstance(tensor, Tensor):
                members[name] = tensor
