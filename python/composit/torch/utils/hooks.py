"""torch.utils.hooks: the handles that remove hooks."""

from __future__ import annotations

import warnings
from typing import Any

from composit.torch.hooks import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Any) -> Any:
    """The hook, marked as one that files do not hold."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warns of hooks that are not marked so: files do not hold them."""
    for hook in (tensor._hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(f"backward hook {hook!r} on tensor will not be serialized.", stacklevel=2)
