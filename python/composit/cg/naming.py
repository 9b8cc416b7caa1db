"""Names of calls and classes."""

from __future__ import annotations

import secrets
from typing import Any


def unique_id(length: int = 6) -> str:
    """That many random hexadecimal digits."""
    return secrets.token_hex((length + 1) // 2)[:length]


def fullname(thing: Any) -> str:
    """Where a class, or that of an object, is imported from: "package.module.Class"."""
    kind = thing if isinstance(thing, type) else type(thing)
    return kind.__qualname__ if kind.__module__ == "builtins" else (
        f"{kind.__module__}.{kind.__qualname__}"
    )  # fmt: skip
