"""What an optimiser keeps of a parameter. Its numbers (how many steps were done) are tensors for
those who read them, as PyTorch's are, and plain numbers for the optimiser, whose step computes with
them in Python: so a step makes no tensor of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from composit.torch import dtypes
from composit.torch.calling import TensorBase
from composit.torch.tape import no_grad
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

    def _show(self, name: str, value: Kept) -> Any:
        shown: dict[str, tuple[Any, int]] | None = getattr(self, "_shown", None)
        if shown is None:
            shown = {}
            self._shown: dict[str, tuple[Any, int]] = shown
            ParameterState.is_touched = True
        held = shown.get(name)
        if held is None:
            held = as_tensor(value)
            shown[name] = (held, held._version)
            return held
        return held[0]

    def __getitem__(self, name: str) -> Any:
        value = dict.__getitem__(self, name)
        return self._show(name, value) if type(value) is Kept else value

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
        shown = getattr(self, "_shown", None) or {}
        return {
            name: as_tensor(value) if type(value) is Kept and name not in shown else self[name]
            for name, value in dict.items(self)
        }

    def take_numbers(self, names: tuple[str, ...]) -> None:
        """Before a step: the optimiser's numbers are what others wrote into their tensors, or put
        in their places."""
        for name in names:
            value = dict.get(self, name)
            if type(value) is Kept:
                shown = getattr(self, "_shown", None)
                if shown is not None and name in shown:
                    held, version = shown[name]
                    if held._version != version:
                        dict.__setitem__(self, name, Kept(held.item()))
            elif isinstance(value, TensorBase):
                put: Any = value
                self._show(name, Kept(0))
                self._shown[name] = (put, put._version)
                dict.__setitem__(self, name, Kept(put.item()))
            elif value is not None:
                dict.__setitem__(self, name, Kept(value))

    def give_numbers(self) -> None:
        """After a step: writes the numbers into the tensors that others have."""
        shown: dict[str, tuple[Any, int]] = getattr(self, "_shown", None) or {}
        for name in list(shown):
            value = dict.get(self, name)
            if type(value) is Kept:
                held = shown[name][0]
                with no_grad():
                    held.fill_(float(value))
                shown[name] = (held, held._version)


def as_tensor(value: float) -> Any:
    """A number of an optimiser's as PyTorch keeps it."""
    default = dtypes.default()
    is_double = default.name == "float64"
    return tensor(float(value), dtype=default if is_double else dtypes.by_name["float32"])


def counted(state: dict[str, Any]) -> int:
    """Counts a step of a parameter; its number."""
    count = int(dict.get(state, "step", 0)) + 1
    dict.__setitem__(state, "step", Kept(count))
    return count


def stored(state: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name, value) of a state as it is kept, with numbers as numbers."""
    return iter(dict.items(state))
