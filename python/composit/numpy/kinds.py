"""Questions about dtypes and objects, which need no graph: NumPy answers them."""

from __future__ import annotations

from typing import Any

from composit._core import LazyTensor, with_location

_CLASSES = (
    TypeError, ValueError, OverflowError, KeyError, LookupError, AttributeError, BufferError,
    RuntimeError,
)  # fmt: skip


def _asked(function: str, *arguments: Any, **options: Any) -> Any:
    """What NumPy's function says; its errors, of the same class, with the user's line."""
    import numpy as np

    try:
        return getattr(np, function)(*arguments, **options)
    except _CLASSES as error:
        kind = next(known for known in _CLASSES if isinstance(error, known))
        types = ", ".join(type(argument).__name__ for argument in arguments)
        raise kind(
            with_location(
                f"{function}: NumPy's {function} does not take these values, of types ({types}). "
                "Others are required."
            )
        ) from None


def _dtype(value: Any) -> Any:
    return value.dtype if isinstance(value, LazyTensor) else value


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether a dtype, or a tensor's, may be converted under a rule of casting."""
    return _asked("can_cast", _dtype(from_), to, casting)


def promote_types(type1: Any, type2: Any, /) -> Any:
    """The smallest dtype to which both convert safely."""
    return _asked("promote_types", type1, type2)


def common_type(*arrays: Any) -> Any:
    """The floating dtype that holds all of these tensors' elements."""
    import numpy as np

    like = [np.empty(0, a.dtype) if isinstance(a, LazyTensor) else a for a in arrays]
    return _asked("common_type", *like)


def mintypecode(typechars: Any, typeset: Any = "GDFgdf", default: str = "d") -> str:
    """The character of the smallest dtype to which those of `typechars` convert safely."""
    return _asked("mintypecode", typechars, typeset, default)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is below another in NumPy's hierarchy."""
    return _asked("issubdtype", arg1, arg2)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: "bool", "integral", "real floating", …"""
    return _asked("isdtype", dtype, kind)


def isscalar(element: Any) -> bool:
    """Whether this is a number or a text, and no tensor."""
    return _asked("isscalar", element)


def iterable(y: Any) -> bool:
    """Whether iteration over y is possible."""
    return y.ndim > 0 if isinstance(y, LazyTensor) else _asked("iterable", y)


def min_scalar_type(a: Any, /) -> Any:
    """The smallest dtype that holds a number, which is evaluated; a tensor's dtype else."""
    if isinstance(a, LazyTensor):
        a = a.evaluated() if a.ndim == 0 else _empty_like(a)
    return _asked("min_scalar_type", a)


def typename(char: str) -> str:
    """What a dtype's character stands for."""
    return _asked("typename", char)


def _empty_like(a: Any) -> Any:
    """An ndarray of a tensor's shape and dtype, which takes no memory."""
    import numpy as np

    return np.broadcast_to(np.zeros((), a.dtype), a.shape)


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """The order of contractions that einsum would best take, and a table about it."""
    shapes = [_empty_like(a) if isinstance(a, LazyTensor) else a for a in operands]
    return _asked("einsum_path", *shapes, optimize=optimize, einsum_call=einsum_call)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that these promote to; Python scalars count by their kind only."""
    import numpy as np

    operands = [
        a.dtype if isinstance(a, LazyTensor) and not a.is_weak else a for a in arrays_and_dtypes
    ]
    try:
        return np.result_type(*operands)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(with_location(f"result_type: {error}")) from None
