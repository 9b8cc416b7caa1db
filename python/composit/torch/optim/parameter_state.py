"""What an optimiser keeps of a parameter. Its numbers (how many steps were done) are tensors for
those who read them, as PyTorch's are, and plain numbers for the optimiser: so a step makes no
tensor of them (bindings/optimizer_states.cpp)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import composit._core as _core
from composit.torch import dtypes
from composit.torch.tensor import tensor


class Kept(float):
    """A number of an optimiser's."""

    __slots__ = ()


class ParameterState(dict[str, Any]):
    """A dictionary of tensors and numbers. A number that the optimiser keeps is read as a tensor;
    from then on the tensor is written at each step, and what others write into it counts."""

    __slots__ = ("_shown",)
    # Of all states: whether somebody has such a tensor, or put something into a state. As long as
    # nobody does, steps need not look for it.
    is_touched = False

    def __getitem__(self, name: str) -> Any:
        value = dict.__getitem__(self, name)
        return _core.optimizers.show_number(self, name, value) if type(value) is Kept else value

    def __setitem__(self, name: str, value: Any) -> None:
        ParameterState.is_touched = True
        shown = getattr(self, "_shown", None)
        if shown is not None:
            shown.pop(name, None)
        dict.__setitem__(self, name, value)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds what a mapping has."""
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def get(self, name: str, default: Any = None) -> Any:
        """What is under the name, or the default."""
        return default if name not in self else self[name]  # noqa: SIM401

    def pop(self, name: str, *default: Any) -> Any:
        """Takes out what is under the name."""
        if name not in self:
            return dict.pop(self, name, *default)
        value = self[name]
        dict.pop(self, name)
        return value

    def setdefault(self, name: str, default: Any = None) -> Any:
        """What is under the name; the default is put there where nothing is."""
        if name not in self:
            self[name] = default
        return self[name]

    def items(self) -> Any:
        """Names and values."""
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        """The values."""
        return [self[name] for name in self]

    def copy(self) -> dict[str, Any]:
        """An ordinary dictionary of the same."""
        return dict(self.items())

    def __reduce__(self) -> Any:
        return ParameterState, (), None, None, iter(self.snapshot().items())

    def snapshot(self) -> dict[str, Any]:
        """An ordinary dictionary of the same, in which numbers that nobody looked at are tensors of
        their own."""
        return _core.optimizers.snapshot(self)


def as_tensor(value: float) -> Any:
    """A number of an optimiser's as PyTorch keeps it."""
    default = dtypes.default()
    is_double = default.name == "float64"
    return tensor(float(value), dtype=default if is_double else dtypes.by_name["float32"])


def no_states() -> defaultdict[Any, ParameterState]:
    """What is kept of the parameters of an optimiser that made no step yet."""
    return defaultdict(ParameterState)


_core.provide("optimizer_number", Kept)
_core.provide("optimizer_number_as_tensor", as_tensor)
_core.provide("optimizer_state", ParameterState)
_core.provide("optimizer_states", no_states)
_core.provide("torch_tensor", tensor)
