"""Modules made without the initialisation of their parameters."""

from __future__ import annotations

import inspect
from typing import Any

from composit._core import runtime_error
from composit.torch.functions.random import default_generator
from composit.torch.nn.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters have no chosen values, on `device`; nothing is drawn of the
    library's generator. RuntimeError for what is no class of modules, or takes no device."""
    if not issubclass(module_cls, Module):
        raise runtime_error(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise runtime_error("Module must support a 'device' arg to skip initialization")
    # What the module draws is never computed, as nothing asks for it, and is no draw of anybody.
    state = default_generator.get_state()
    try:
        made = module_cls(*args, **kwargs)
    finally:
        default_generator.set_state(state)
    return made.to_empty(device=kwargs.get("device"))
