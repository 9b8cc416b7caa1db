"""numpy.lib.stride_tricks: windows and repetitions of tensors, which share their memory."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit.numpy.creation import asarray
from composit.numpy.manipulation import broadcast_to, sliding_window_view

__all__ = ["as_strided", "broadcast_to", "sliding_window_view"]


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> LazyTensor:
    """Elements of the memory of x, from where x begins, at steps of so many bytes: a view, which
    can be written if it is `writeable`. ValueError for steps between elements, and where there are
    no elements."""
    return _core.numpy.as_strided_in_bytes(asarray(x), shape, strides, bool(writeable))
