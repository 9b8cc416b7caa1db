"""Writes in place: what memory holds afterwards, and where gradients go (bindings/writing.cpp)."""

from __future__ import annotations

import threading
from typing import Any

import composit._core as _core

# Held from what is read to what is written, so that no other thread's write in place is lost
# between: PyTorch's are one call each.
_one_write = threading.RLock()

_writing: Any = _core.writing
assigned = _writing.assigned
check_in_place = _writing.check_in_place
check_overlap = _writing.check_overlap
check_writable = _writing.check_writable
has_twin = _writing.has_twin
is_alias = _writing.is_alias
lie_in = _writing.lie_in
may_see_others = _writing.may_see_others
overwrite = _writing.overwrite
replace = _writing.replace
share_memory = _writing.share_memory
stored = _writing.stored
write = _writing.write
written_in_place = _writing.written_in_place


def inplace(over_tensors: Any, name: str) -> Any:
    """The function that writes its result over its first operand."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _one_write:
            check_in_place(self, args, kwargs)
            return written_in_place(self, over_tensors(self, *args, **kwargs), args, name)

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"{name}, written over the tensor."
    return method
