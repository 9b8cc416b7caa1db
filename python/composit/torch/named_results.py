"""Named results of functions, as torch.return_types."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def pair(name: str, *fields: str) -> Any:
    """The class of named results of one of torch's functions."""
    fields = fields or ("values", "indices")
    made = namedtuple(name, fields)  # type: ignore[misc]

    def text(self: Any) -> str:
        lines = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self))
        return f"torch.return_types.{name}(\n{lines})"

    made.__repr__ = text  # type: ignore[method-assign]
    return made
