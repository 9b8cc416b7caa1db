"""Names of what is looked at: of a value's class, and of a call."""

from __future__ import annotations

from typing import Any


def class_name(thing: Any) -> str:
    """The name of the class of a value."""
    return type(thing).__name__


def get_name_from_args_and_kwargs(function_name: str, *args: Any, **kwargs: Any) -> str:
    """A call as text: get_name_from_args_and_kwargs("zeros", (2,), dtype="float32") is
    "zeros((2,), dtype=float32)"."""
    given = [*map(str, args), *(f"{name}={value}" for name, value in kwargs.items())]
    return f"{function_name}({', '.join(given)})"
