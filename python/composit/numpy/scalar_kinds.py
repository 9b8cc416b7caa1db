"""NumPy's abstract kinds of numbers, of which scalars are instances by dtype.

isinstance(cnp.ones(3).sum(), cnp.floating)  # True, as of NumPy's scalars
"""

from __future__ import annotations

import functools
from typing import Any

from composit._core import LazyScalar, LazyTensor

NAMES = frozenset(
    (
        "generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact",
        "floating", "complexfloating",
    )
)  # fmt: skip


@functools.cache
def kind(name: str) -> Any:
    """NumPy's class of this name, with scalars among its instances."""
    import numpy as np

    return Kind(name, (getattr(np, name),), {"__doc__": getattr(np, name).__doc__})


class Kind(type):
    """Classes that ask NumPy's: the one that they are made of, and are equal to."""

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, LazyTensor):
            return isinstance(value, LazyScalar) and issubclass(value.dtype.type, _numpys(cls))
        return isinstance(value, _numpys(cls))

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _numpys(cls))

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is _numpys(cls)

    def __hash__(cls) -> int:
        return hash(_numpys(cls))


def _numpys(kind: type) -> Any:
    return kind.__base__
