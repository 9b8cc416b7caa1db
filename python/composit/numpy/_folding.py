"""What ufuncs' reduce, accumulate, reduceat and at have of NumPy: its dtypes, arrays and words.

The folds themselves are composit/functional/folds.h."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.numpy._ufunc_types import resolved, twin

# Of these NumPy has loops over indices, which name the function where they meet an error.
_INDEXED = frozenset(("add", "subtract", "multiply", "divide", "floor_divide"))
# What composit has reductions of, which know their dtypes themselves.
_REDUCTIONS = frozenset(
    ("add", "multiply", "maximum", "minimum", "logical_or", "logical_and")
)  # fmt: skip


_OF_AXES = ("duplicate value in 'axis'", "does not allow multiple axes")


class NoValue:
    """That no initial value was given: None means that there is to be none."""


def check_binary(ufunc: Any, method: str) -> None:
    """ValueError, NumPy's words, unless two operands give one result."""
    if ufunc.nin != 2:
        what = "outer product" if method == "outer" else method
        raise value_error(f"{what} only supported for binary functions")
    if ufunc.nout != 1:
        raise value_error(f"{method} only supported for functions returning a single value")


def loop_dtype(ufunc: Any, x: LazyTensor, dtype: Any, out: Any = None) -> Any:
    """The dtype in which a fold goes; that of an `out` takes part where none is given. None: that
    of composit's own reduction."""
    if dtype is None and not hasattr(out, "dtype") and ufunc.__name__ in _REDUCTIONS:
        return None
    numpys = twin(ufunc.__name__)
    if numpys is None or x.dtype.name in _core.extension_floats:
        return x.dtype if dtype is None else np.dtype(dtype)
    options: dict[str, Any] = {"reduction": True}
    if dtype is not None:
        given = np.dtype(_core.dtype_of(dtype))
        options.update(signature=(given, None, None), casting="unsafe")
    elif hasattr(out, "dtype"):
        common = np.result_type(x.dtype, out.dtype)
        is_predicate = all(loop.endswith("?") or "O" in loop for loop in numpys.types)
        if not is_predicate:  # else the loops are of bool
            return resolved(numpys, (None, common, None), **options)[2]
    return resolved(numpys, (None, x.dtype, None), **options)[2]


def folded(ufunc: Any, make: Callable[[Any], Any], x: LazyTensor, dtype: Any, out: Any) -> Any:
    """What is made in the dtype that NumPy folds in. What is wrong with axes and indices comes
    before what is wrong with the dtype, as in NumPy, but for one that is none."""
    if dtype is not None:
        _core.dtype_of(dtype)
    try:
        loop = loop_dtype(ufunc, x, dtype, out)
    except TypeError as refusal:
        try:
            make(x.dtype)
        except IndexError:  # an AxisError is one
            raise
        except ValueError as error:
            if any(words in str(error) for words in _OF_AXES):
                raise
        except TypeError:
            pass
        raise refusal
    return make(loop)


def name_of_at(ufunc: Any, a: Any, indices: Any, operands: tuple[Any, ...]) -> str:
    """As whose NumPy reports an error of floating point: the function's, if its loop over indices
    runs, which takes one array of indices along one axis, and operands of one dtype."""
    indices = indices[0] if isinstance(indices, tuple) and len(indices) == 1 else indices
    is_indexed = (
        ufunc.__name__ in _INDEXED
        and getattr(a, "ndim", 0) == 1
        and not isinstance(indices, (tuple, slice, type(...), type(None)))
        and [_dtype_alone(each) for each in operands] == [a.dtype]
    )
    return ufunc.__name__ if is_indexed else "at"


def _dtype_alone(value: Any) -> Any:
    return value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype


def at(ufunc: Any, a: Any, indices: Any, operands: tuple[Any, ...]) -> None:
    """a[indices] = f(a[indices], …) as if for one index after the other: where one is met again,
    its element is changed again. The indices are evaluated."""
    if ufunc.nout != 1:
        raise value_error("Only single output ufuncs supported at this time")
    if isinstance(a, LazyTensor):
        a[...] = _core.numpy.at(ufunc.__name__, a, _known(indices), list(operands))
        return
    numpys = twin(ufunc.__name__)
    if not isinstance(a, np.ndarray) or numpys is None:
        raise type_error("first operand must be array")
    numpys.at(a, _known(indices), *map(_known, operands))


def _known(indices: Any) -> Any:
    """Indices with tensors evaluated."""
    if isinstance(indices, tuple):
        return tuple(map(_known, indices))
    return indices.evaluated() if isinstance(indices, LazyTensor) else indices
