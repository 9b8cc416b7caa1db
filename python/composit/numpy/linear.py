"""Products of matrices and tensors."""

from __future__ import annotations

import operator
from typing import Any

import composit._core as _core
from composit import _mismatch
from composit._core import LazyTensor, index_error, type_error, value_error
from composit.numpy import _arguments, _casting, _core_axes
from composit.numpy._outputs import write_out
from composit.numpy.creation import asarray

_c = _core.numpy


def matmul(
    x1: Any, x2: Any, /, out: Any = None, *, axes: Any = None, casting: str = "same_kind",
    order: Any = "K", dtype: Any = None, subok: Any = True,
) -> LazyTensor:  # fmt: skip
    """Matrix product over the last two axes, or those that axes= names; the others broadcast."""
    _casting.check_layout(order, subok)
    x1, x2 = _casting.operands_in("matmul", (x1, x2), dtype, casting)
    if axes is not None and min(x1.ndim, x2.ndim) > 0:
        counts = [min(2, x.ndim) for x in (x1, x2)]
        (x1, x2), put = _core_axes.on_axes("matmul", axes, (x1, x2), counts, sum(counts) - 2)
        return write_out("matmul", put(_c.matmul(x1, x2)), out, casting, widens=True)
    return write_out("matmul", _c.matmul(x1, x2), out, casting, widens=True)


def dot(a: Any, b: Any, out: Any = None) -> LazyTensor:
    """Sum over the last axis of a and the last but one of b."""
    return _exactly("dot", _c.dot(asarray(a), asarray(b)), out)


def _exactly(function: str, result: LazyTensor, out: Any) -> Any:
    """The result written over an `out` of its own dtype and shape."""
    if hasattr(out, "dtype") and (out.dtype, out.shape) != (result.dtype, result.shape):
        raise value_error(
            f"{function}: out is {out.dtype} of shape {out.shape}. {result.dtype} of shape "
            f"{result.shape} is required."
        )
    return write_out(function, result, out)


def inner(a: Any, b: Any, /) -> LazyTensor:
    """Sum over the last axes of both."""
    return _c.inner(a, b)


def outer(a: Any, b: Any, out: Any = None) -> LazyTensor:
    """Products of all pairs of the flattened operands."""
    return write_out("outer", _c.outer(a, b), out, widens=True)


def vdot(a: Any, b: Any, /) -> LazyTensor:
    """Sum of conj(a) * b over the flattened operands."""
    return _c.vdot(a, b)


def tensordot(a: Any, b: Any, axes: Any = 2) -> LazyTensor:
    """Sum over the last `axes` axes of a and the first of b, or over listed pairs."""
    try:
        count = operator.index(axes)
    except TypeError:
        required = "An integer, or two sequences of axes,"
        if hasattr(axes, "__len__") and len(axes) != 2:
            raise ValueError(_mismatch.wrong(axes, required)) from None
        if not hasattr(axes, "__getitem__") or isinstance(axes, (str, dict)):
            raise TypeError(_mismatch.wrong(axes, required)) from None
        return _c.tensordot_pairs(a, b, axes[0], axes[1])
    if count < 0:  # no axes, as those from one to another before it
        return _c.tensordot(a, b, 0)
    shapes = [asarray(x).shape for x in (a, b)]
    pairs = zip(shapes[0][-count:], shapes[1]) if count <= len(shapes[0]) else ()
    if count > min(map(len, shapes)) and all(one == other for one, other in pairs):
        message = f"tensordot: axes is {count}, the operands have shapes {shapes}"
        raise index_error(f"{message}. At least so many axes are required.")
    return _c.tensordot(a, b, count)


def einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: str = "K",
    casting: str = "safe",
) -> LazyTensor:  # fmt: skip
    """Einstein's summation: einsum("ij,jk->ik", a, b). Where nothing is summed or multiplied
    ("ii->i") the result is a view."""
    if not operands:
        raise value_error("einsum: no arguments are given. Subscripts are required.")
    subscripts, *tensors = operands
    if not isinstance(subscripts, str):
        subscripts, tensors = _lettered(operands)
    is_alone = out is None and dtype is None and len(tensors) == 1
    if is_alone and isinstance(tensors[0], LazyTensor) and _selects(subscripts):
        return _selected(subscripts.replace(" ", ""), tensors[0])
    if dtype is not None:
        tensors = [_c.astype(tensor, dtype) for tensor in tensors]
    elif hasattr(out, "dtype"):  # which takes part in the promotion
        tensors = _with_output([asarray(tensor) for tensor in tensors], out)
    return write_out("einsum", _c.einsum(subscripts, tensors), out)


def _selects(subscripts: str) -> bool:
    """Whether every letter is in the result, once."""
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    letters = given + result
    return arrow != "" and letters.isalpha() and sorted(set(given)) == sorted(result)


def _selected(subscripts: str, x: LazyTensor) -> LazyTensor:
    """A view of x: another order of its axes, or a diagonal."""
    given, result = subscripts.split("->")
    is_order = len(given) == len(result) == x.ndim
    if is_order:
        return _c.transpose(x, [given.index(letter) for letter in result])
    return _c.einsum_of(subscripts, x)


def _with_output(tensors: list[LazyTensor], out: Any) -> list[LazyTensor]:
    """The operands in the dtype that they and out have in common, which out can hold."""
    import numpy as np

    common = np.result_type(out.dtype, *[tensor.dtype for tensor in tensors])
    if not _casting.may_cast(common, out.dtype, "safe"):
        message = f"einsum: the result is {common!r}, out {out.dtype!r}. A cast that is safe"
        raise type_error(f"{message} is required.")
    return [_c.astype(tensor, common) for tensor in tensors]


def _lettered(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """einsum(a, [0, 1], b, [1, 2], [0, 2]) as text and operands."""
    terms = []
    for numbers in (*operands[1::2], *(operands[-1:] if len(operands) % 2 else ())):
        if not isinstance(numbers, (list, tuple)):
            raise TypeError(_mismatch.wrong(numbers, "Subscripts, or a list of numbers of axes"))
        places = [i if i is Ellipsis else _core.integer(i) for i in numbers]
        if not all(i is Ellipsis or 0 <= i < 26 for i in places):
            raise value_error(f"einsum: subscripts are {numbers}. 0 to 25 required.")
        terms.append("".join("..." if i is Ellipsis else chr(ord("a") + i) for i in places))
    count = len(operands) // 2
    result = "->" + terms[count] if len(terms) > count else ""
    return ",".join(terms[:count]) + result, list(operands[0 : 2 * count : 2])


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> LazyTensor:
    """The elements at equal positions of two axes, as the last axis: a view that nobody writes."""
    if isinstance(a, LazyTensor):
        return _c.diagonal_of(a, offset, axis1, axis2)
    return _c.diagonal(a, offset, axis1, axis2)


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> LazyTensor:
    """Sum of a diagonal."""
    _arguments.check_known(dtype)
    if dtype is not None:
        _c.trace(a, offset, axis1, axis2)  # NumPy's errors of shapes come before those of dtypes
        a = _c.astype(a, dtype)
    return write_out("trace", _c.trace(a, offset, axis1, axis2), out)


def diag(v: Any, k: int = 0) -> LazyTensor:
    """The matrix with v on its k-th diagonal, or the k-th diagonal of a matrix, as `diagonal`."""
    if isinstance(v, LazyTensor) and v.ndim == 2:
        return _c.diagonal_of(v, k, 0, 1)
    return _c.diag(v, k)
