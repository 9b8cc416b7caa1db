"""torch.nn.utils.parametrize: parameters that are computed from other ones each time they are
read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import composit._core as _core
from composit.torch.nn.modules.containers import ModuleDict, ModuleList

_modules = _core.modules  # composit.torch's modules in C++
_cached: list[Any] = []  # the values of this with block, by list of parametrisations


@contextmanager
def cached() -> Iterator[None]:
    """Within, parametrised tensors are computed once."""
    before = list(_cached)
    _cached[:] = before if before else [{}]
    try:
        yield
    finally:
        _cached[:] = before


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, and what it is computed from: `original`, or `original0`,
    `original1` and so on."""

    def __init__(self, modules: Any, original: Any, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.is_tensor, self.ntensors = True, 1
        _modules.begin_parametrization_list(self, original)

    def forward(self) -> Any:
        """The tensor, through all parametrisations."""
        return _modules.parametrized_value(self)

    def right_inverse(self, value: Any) -> None:
        """Changes what the tensor is computed from so that it is the value."""
        _modules.assign_parametrized(self, value)


def _parametrised(name: str) -> property:
    def get(self: Any) -> Any:
        held = self.parametrizations[name]
        if not _cached:
            return held()
        key = id(held)
        if key not in _cached[0]:
            _cached[0][key] = held()
        return _cached[0][key]

    def put(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, put)


def _own_class(module: Any) -> None:
    """Gives the module a class of its own, in which tensors can be properties."""
    kind = type(module)
    made = type(f"Parametrized{kind.__name__}", (kind,), {
        "__module__": kind.__module__, "_parametrized_from": kind,
    })  # fmt: skip
    object.__setattr__(module, "__class__", made)


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """Makes a parameter or buffer parametrization(original). ValueError where there is none, or its
    shape or dtype would change, unless unsafe."""
    _modules.register_parametrization(module, tensor_name, parametrization, unsafe)
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether the module has parametrised tensors, or that one."""
    return _modules.is_parametrized(module, tensor_name)


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Makes the tensor an ordinary one again: with its present values, or what it was computed
    from."""
    _modules.remove_parametrizations(module, tensor_name, leave_parametrized)
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class that a module had before its tensors were parametrised."""
    return type(module)._parametrized_from if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Any, to_module: Any, tensor_name: str | None = None
) -> Any:
    """Gives a module the parametrisations of another one's tensors, or of one of them, and what
    they are computed from; the module."""
    _modules.transfer_parametrizations(from_module, to_module, tensor_name)
    return to_module


_core.provide("torch_module_dict", ModuleDict)
_core.provide("parametrization_list", ParametrizationList)
_core.provide("parametrized_property", _parametrised)
_core.provide("own_class_for_parametrizations", _own_class)
_core.provide("register_parametrization", register_parametrization)
