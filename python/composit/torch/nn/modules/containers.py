"""Modules and parameters in rows and under names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from composit._core import with_location
from composit.torch.nn.module import Module

__all__ = ["Identity", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Identity(Module):
    """What is given to it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """input"""
        return input


class _Row(Module):
    """Modules under the names "0", "1", …"""

    def _at(self, index: int) -> str:
        count = len(self._modules)
        if not -count <= index < count:
            raise IndexError(with_location(f"index {index} is out of range"))
        return list(self._modules)[index % count]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(*list(self._modules.values())[index])
        return self._modules[self._at(index)]

    def __setitem__(self, index: int, module: Any) -> None:
        self._modules[self._at(index)] = module

    def __delitem__(self, index: int) -> None:
        kept = [m for i, m in enumerate(self._modules.values()) if i != index % len(self)]
        self._modules.clear()
        self._modules.update((str(i), m) for i, m in enumerate(kept))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._modules.values()))

    def append(self, module: Any) -> Any:
        """Adds one at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Any) -> Any:
        """Adds several at the end."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Adds one before a place."""
        kept = list(self._modules.values())
        kept.insert(index, module)
        self._modules.clear()
        self._modules.update((str(i), m) for i, m in enumerate(kept))
        return self


class Sequential(_Row):
    """Modules called one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        is_named = len(args) == 1 and isinstance(args[0], dict)
        named = args[0].items() if is_named else ((str(i), m) for i, m in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """What the last one makes of what the others made of input."""
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Row):
    """A list of modules."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ModuleList(list(self._modules.values())[index])
        return super().__getitem__(index)


class ModuleDict(Module):
    """Modules under names."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

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
        for name, module in dict(modules).items():
            self.add_module(name, module)


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values: Any = None) -> None:
        super().__init__()
        self.extend(values or ())

    def __getitem__(self, index: int) -> Any:
        return list(self._parameters.values())[index]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._parameters.values()))

    def append(self, value: Any) -> Any:
        """Adds one at the end."""
        self.register_parameter(str(len(self)), value)
        return self

    def extend(self, values: Any) -> Any:
        """Adds several at the end."""
        for value in values:
            self.append(value)
        return self


class ParameterDict(Module):
    """Parameters under names."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        for name, value in dict(parameters or {}).items():
            self.register_parameter(name, value)

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.register_parameter(key, value)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: str) -> bool:
        return key in self._parameters

    def keys(self) -> Any:
        """The names."""
        return self._parameters.keys()

    def values(self) -> Any:
        """The parameters."""
        return self._parameters.values()

    def items(self) -> Any:
        """Names and parameters."""
        return self._parameters.items()
