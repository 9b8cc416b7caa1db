"""The state of modules: how state_dict() and load_state_dict() walk a tree of modules, and which
methods and hooks of single modules they call."""

from __future__ import annotations

import functools
from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from typing import Any

import composit._core as _core
from composit._core import type_error
from composit.torch import materializing
from composit.torch.calling import TensorBase
from composit.torch.hooks import _Handle

_modules: Any = _core.modules


class IncompatibleKeys(
    namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])
):  # fmt: skip
    """What load_state_dict() did not find, and what it did not expect."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


# Puts a module's own tensors into a destination, and its extra state if it has one.
save_own = _modules.save_own


def save(module: Any, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """The state of the module and of all within, with the versions of their classes as the
    attribute `_metadata`."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    return _modules.save(module, destination, prefix, keep_vars)


# Gives a module's own tensors the values that a state has for them under a prefix, and the module
# its extra state if it takes one. Adds what is wrong to lists.
load_own = _modules.load_own


def _as_tensor(value: Any) -> Any:
    """A Tensor of what another library keeps (PyTorch's tensors, arrays of NumPy)."""
    if isinstance(value, TensorBase) or not hasattr(value, "__array__"):
        return value
    import numpy as np

    from composit.torch.tensor import tensor

    return tensor(np.asarray(value))


def load(module: Any, state_dict: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    """Gives the module and all within the values of a state. RuntimeError with all that is wrong;
    what fits was copied then."""
    if not isinstance(state_dict, Mapping):
        raise type_error(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    metadata = getattr(state_dict, "_metadata", None)
    missing: list[str] = []
    unexpected: list[str] = []
    problems: list[str] = []
    whole: Any = OrderedDict(state_dict)
    whole._metadata = metadata
    _modules.load(module, whole, metadata, assign, missing, unexpected, problems)
    materializing.materialize()
    _modules.check_loaded(type(module).__name__, strict, missing, unexpected, problems)
    return IncompatibleKeys(missing, unexpected)


_core.provide("as_torch_tensor", _as_tensor)
_core.provide("incompatible_keys", IncompatibleKeys)


# ----- hooks


def add_hook(module: Any, hook: Any, is_public: bool) -> _Handle:
    """Calls hook(module, state, prefix, metadata) after state_dict(). What the older kind returns
    is the state; the public one returns None."""
    return _Handle(module._state_dict_hooks, (hook, is_public))


def add_load_pre_hook(module: Any, hook: Any, with_module: bool) -> _Handle:
    """Calls the hook before the module's own tensors are loaded, with the arguments of
    _load_from_state_dict()."""
    called = functools.partial(hook, module) if with_module else hook
    return _Handle(module._load_state_dict_pre_hooks, called)
