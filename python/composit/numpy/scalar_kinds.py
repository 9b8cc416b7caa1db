"""NumPy's classes of numbers, of which scalars are instances by dtype.

isinstance(cnp.ones(3).sum(), cnp.float64)  # True, as of NumPy's scalars
"""

from __future__ import annotations

import functools
from typing import Any

from composit._core import LazyScalar, LazyTensor

NAMES = frozenset(
    (
        "generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact",
        "floating", "complexfloating",
        "bool", "bool_", "byte", "ubyte", "short", "ushort", "intc", "uintc", "int_", "uint",
        "long", "ulong", "longlong", "ulonglong", "intp", "uintp", "int8", "int16", "int32",
        "int64", "uint8", "uint16", "uint32", "uint64", "half", "single", "double", "float16",
        "float32", "float64", "csingle", "cdouble", "complex64", "complex128",
    )
)  # fmt: skip


def kind(name: str) -> Any:
    """NumPy's class of this name, with scalars among its instances where they can be; None where
    NumPy has no class of scalars under this name."""
    import numpy as np

    found = getattr(np, name, None)
    if not isinstance(found, type) or not issubclass(found, np.generic):
        return None
    return _class(found.__name__) if name in NAMES else found


@functools.cache
def _class(name: str) -> Any:
    """Of NumPy's name for the class, of which others are aliases."""
    import numpy as np

    numpys: Any = getattr(np, name)
    names = {"__doc__": numpys.__doc__, "__module__": "numpy", "__slots__": ()}
    return Kind(numpys.__name__, (numpys,), names)


class Kind(type):
    """Classes that ask NumPy's: the one that they are made of, and are equal to. What they make
    when they are called is NumPy's."""

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, LazyTensor):
            return isinstance(value, LazyScalar) and issubclass(value.dtype.type, _numpys(cls))
        return isinstance(value, _numpys(cls))

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _numpys(cls))

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return _numpys(cls)(*args, **options)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is _numpys(cls)

    def __hash__(cls) -> int:
        return hash(_numpys(cls))

    def __repr__(cls) -> str:
        return repr(_numpys(cls))

    def __reduce__(cls) -> Any:
        return kind, (cls.__name__,)


def _numpys(kind: type) -> Any:
    return kind.__base__
