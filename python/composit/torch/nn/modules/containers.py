"""Modules and parameters in rows and under names."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import composit._core as _core
from composit._core import index_error, type_error, value_error, with_location
from composit.torch.calling import TensorBase
from composit.torch.nn.module import Module
from composit.torch.nn.modules.parameter_containers import ParameterDict, ParameterList

__all__ = ["Identity", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Identity(Module):
    """What is given to it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """input"""
        return input


class _Row:
    """What modules in a row, Sequential and ModuleList, do alike."""

    _modules: Any
    add_module: Any

    def _at(self, index: int) -> str:
        """The name of the module at a place."""
        count = len(self._modules)
        index = operator.index(index)
        if not -count <= index < count:
            raise index_error(f"index {index} is out of range")
        return list(self._modules)[index % count]

    def __setitem__(self, index: int, module: Any) -> None:
        setattr(self, self._at(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._at(index)]:
            delattr(self, name)
        self._renumber(self._modules.values())

    def _renumber(self, modules: Iterable[Any]) -> None:
        """Makes these the row, named "0", "1", …"""
        kept = list(modules)
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(kept))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._modules.values()))

    def append(self, module: Any) -> Any:
        """Adds one at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, sequential: Any) -> Any:
        """Adds several at the end."""
        for module in sequential:
            self.append(module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Adds one before a place."""
        kept = list(self._modules.values())
        kept.insert(index, module)
        self._renumber(kept)
        return self

    def pop(self, key: Any) -> Any:
        """Takes one out, or a row of them."""
        taken = self[key]  # type: ignore[index]
        del self[key]
        return taken


class Sequential(_Row, Module):
    """Modules called one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        is_named = len(args) == 1 and isinstance(args[0], dict)
        named = args[0].items() if is_named else ((str(i), m) for i, m in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._at(index)]

    def insert(self, index: int, module: Any) -> Any:
        """Adds one before a place."""
        count = len(self._modules)
        if not isinstance(module, Module):
            raise AssertionError(with_location(f"module should be of type: {Module}"))
        if not -count <= index <= count:
            raise index_error(f"Index out of range: {index}")
        return super().insert(index, module)

    def __add__(self, other: Any) -> Any:
        self._check_row(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Any:
        self._check_row(other)
        return self.extend(other)

    def _check_row(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise value_error(
                f"add operator supports only objects of Sequential class, but {type(other)} "
                "is given."
            )

    def __mul__(self, other: int) -> Any:
        self._check_times(other)
        return Sequential(*[module for _ in range(other) for module in self])

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Any:
        self._check_times(other)
        once = list(self)
        for _ in range(other - 1):
            self.extend(once)
        return self

    def _check_times(self, other: Any) -> None:
        if not isinstance(other, int):
            raise type_error(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise value_error(f"Non-positive multiplication factor {other} for {type(self)}")

    def forward(self, input: Any) -> Any:
        """What the last one makes of what the others made of input."""
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Row, Module):
    """A list of modules."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._at(index)]

    def __iadd__(self, modules: Any) -> Any:
        return self.extend(modules)

    def __add__(self, other: Any) -> Any:
        return ModuleList([*self, *other])

    def extend(self, modules: Any) -> Any:
        """Adds several at the end."""
        if not isinstance(modules, Iterable):
            raise type_error(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        return super().extend(modules)

    def __repr__(self) -> str:
        return _core.aten.shown_rows(self._get_name(), [repr(module) for module in self])


class ModuleDict(Module):
    """Modules under names."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Takes all out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Takes one out."""
        taken = self[key]
        del self[key]
        return taken

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def update(self, modules: Any) -> None:
        """Adds those of a mapping, or of pairs."""
        if isinstance(modules, TensorBase) or not isinstance(modules, Iterable):
            raise type_error(
                "ModuleDict.update should be called with an iterable of key/value pairs, but "
                f"got {type(modules).__name__}"
            )
        pairs = modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules
        for name, module in pairs:
            self[name] = module
