"""What a module accepts as the name and the value of a parameter, a buffer or a module."""

from __future__ import annotations

from typing import Any

from composit._core import type_error, value_error, with_location
from composit.torch.calling import TensorBase


def type_name(value: Any) -> str:
    """The name of a value's type, or of a type, with its module, as PyTorch's messages have it."""
    if isinstance(value, TensorBase):
        return value.type()  # type: ignore[attr-defined]
    return _full_name(value if isinstance(value, type) else type(value))


def _full_name(kind: type) -> str:
    place = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{place}{kind.__qualname__}"


def unprepared(what: str) -> AttributeError:
    """The error of a module whose __init__ does not call that of Module first."""
    return AttributeError(with_location(f"cannot assign {what} before Module.__init__() call"))


def check_kind(name: str, value: Any, what: str, wanted: str, kind: Any) -> None:
    """TypeError for a value that cannot take the place of a parameter, module or buffer."""
    if value is not None and not isinstance(value, kind):
        raise type_error(f"cannot assign {type_name(value)!r} as {what} {name!r} "
                         f"({wanted} expected)")  # fmt: skip


def check_name(module: Any, name: Any, what: str, group: dict[str, Any]) -> None:
    """TypeError or KeyError for a name that what is registered cannot have."""
    if not isinstance(name, str):
        raise type_error(f"{what} name should be a string. Got {type_name(name)}")
    if name not in group and hasattr(module, name):
        raise KeyError(f"attribute '{name}' already exists")
    if "." in name:
        raise KeyError(f'{what} name can\'t contain ".", got: {name}'
                       if what == "module" else f'{what} name can\'t contain "."')  # fmt: skip
    if not name:
        raise KeyError(f'{what} name can\'t be empty string ""')


def check_parameter(name: str, param: Any, kind: type) -> None:
    """TypeError for what is no parameter, ValueError for what an operation made."""
    if param is None:
        return
    if not isinstance(param, kind):
        raise type_error(f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                         "(torch.nn.Parameter or None required)")  # fmt: skip
    if not param.is_leaf:  # type: ignore[attr-defined]
        raise value_error(
            f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
            f"created explicitly. To express '{name}' as a function of another Tensor, compute "
            "the value in the forward() method."
        )


def check_buffer(name: str, tensor: Any) -> None:
    """TypeError for what is no tensor."""
    if tensor is not None and not isinstance(tensor, TensorBase):
        raise type_error(f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                         "(torch Tensor or None required)")  # fmt: skip
