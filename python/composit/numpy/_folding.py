"""Folds of an elementwise function of two operands: reduce, accumulate, reduceat, at, outer.

Associative functions combine neighbours, then the results of that: some operations on vectors. The
others go from the first element to the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, with_location
from composit.loops import fori_loop
from composit.numpy._ufunc_types import resolved, twin
from composit.numpy.creation import asarray, full
from composit.numpy.manipulation import broadcast_to, concatenate, moveaxis, reshape, transpose
from composit.numpy.selecting import where

# However it is bracketed, the result has the same bits (equal operands give the first).
ASSOCIATIVE = frozenset(
    (
        "maximum", "minimum", "fmax", "fmin", "gcd", "logical_and", "logical_or",
        "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
    )
)  # fmt: skip
# Without an identity, but NumPy reduces several axes at once.
_REORDERABLE = frozenset(("maximum", "minimum", "fmax", "fmin"))
# Of these NumPy has loops over indices, which name the function where they meet an error.
_INDEXED = frozenset(("add", "subtract", "multiply", "divide", "floor_divide"))
_UNROLLED = 16  # longer folds are loops


class NoValue:
    """That no initial value was given: None means that there is to be none."""


def check_binary(ufunc: Any, method: str) -> None:
    """ValueError, NumPy's words, unless two operands give one result."""
    if ufunc.nin != 2:
        what = "outer product" if method == "outer" else method
        raise ValueError(with_location(f"{what} only supported for binary functions"))
    if ufunc.nout != 1:
        raise ValueError(
            with_location(f"{method} only supported for functions returning a single value")
        )


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes from 0, ascending; None means all, and 0 and -1 none of a number's."""
    if axis is None:
        return tuple(range(ndim))
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if ndim == 0 and given in ((0,), (-1,)):
        return ()
    axes = []
    for each in given:
        index = _core.integer(each)
        if not -ndim <= index < ndim:
            raise np.exceptions.AxisError(
                with_location(f"axis {index} is out of bounds for array of dimension {ndim}")
            )
        axes.append(index % ndim)
    if len(set(axes)) < len(axes):
        raise ValueError(with_location("duplicate value in 'axis'"))
    return tuple(sorted(axes))


def _one_axis(axis: Any, ndim: int, method: str) -> int:
    axes = axes_of(axis, ndim)
    if len(axes) > 1 or (axis is None and ndim == 0):
        raise ValueError(with_location(f"{method} does not allow multiple axes"))
    if ndim == 0:
        raise TypeError(with_location(f"cannot {method} on a scalar"))
    return axes[0]


def loop_dtype(ufunc: Any, x: LazyTensor, dtype: Any, out: Any = None) -> Any:
    """The dtype in which a fold goes; that of an `out` takes part where none is given."""
    numpys = twin(ufunc.__name__)
    if numpys is None or x.dtype.name == "bfloat16":
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


def _at_front(x: LazyTensor, axes: tuple[int, ...]) -> LazyTensor:
    """The axes as one, before the others."""
    kept = [d for d in range(x.ndim) if d not in axes]
    moved = transpose(x, (*axes, *kept))
    count = int(np.prod([x.shape[d] for d in axes], dtype=np.int64))
    return reshape(moved, (count, *(x.shape[d] for d in kept)))


def _fold(f: Any, x: LazyTensor, start: Any) -> LazyTensor:
    """f(f(start, x[0]), x[1]), …; without a start, from x[0]."""
    if f.__name__ in ASSOCIATIVE:
        while x.shape[0] > 1:
            even = x.shape[0] // 2 * 2
            rest = x[even:]
            x = f(x[0:even:2], x[1:even:2])
            x = concatenate([x, rest]) if rest.shape[0] else x
        return x[0] if start is None else f(start, x[0])
    first = 0 if start is not None else 1
    total = x[0] if start is None else start
    if x.shape[0] - first <= _UNROLLED:
        for i in range(first, x.shape[0]):
            total = f(total, x[i])
        return total
    return fori_loop(first, x.shape[0], lambda i, total: f(total, x[i]), total)


def reduce(
    ufunc: Any, array: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any,
    out: Any = None,
) -> LazyTensor:  # fmt: skip
    """The function between all elements along axes."""
    name = ufunc.__name__
    x = asarray(array)
    axes = axes_of(axis, x.ndim)
    identity = ufunc.identity
    loop = loop_dtype(ufunc, x, dtype, out)
    if len(axes) > 1 and identity is None and name not in _REORDERABLE:
        raise ValueError(
            with_location(
                f"reduction operation {name!r} is not reorderable, so at most one axis may be "
                "specified"
            )
        )
    if identity is not None:  # -1 stands for all bits
        identity = np.asarray(identity).astype(loop)
    start = identity if initial is NoValue else initial
    mask = None if where is True else broadcast_to(asarray(where), x.shape)
    if mask is not None and start is None:
        raise ValueError(
            with_location(
                f"reduction operation {name!r} does not have an identity, so to use a where mask "
                "one has to specify 'initial'"
            )
        )
    kept = tuple(n for d, n in enumerate(x.shape) if d not in axes)
    items = _at_front(x.astype(loop), axes)
    if items.shape[0] == 0 and start is None:
        raise ValueError(
            with_location(f"zero-size array to reduction operation {name} which has no identity")
        )
    begin: Any = None
    # NumPy begins with the first element where no value was given and none is masked out.
    if start is not None and (initial is not NoValue or mask is not None or items.shape[0] == 0):
        begin = full(kept, start, dtype=loop)
    if items.shape[0] == 0:
        result = begin
    elif mask is None:
        result = _fold(ufunc, items, begin)
    else:
        filler = begin if identity is None else identity
        result = _masked_fold(ufunc, items, _at_front(mask, axes), begin, filler)
    result = result.astype(loop)
    if keepdims:
        shape = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
        result = reshape(result, shape)
    return result


def _masked_fold(f: Any, x: LazyTensor, mask: LazyTensor, begin: Any, filler: Any) -> LazyTensor:
    """The filler changes nothing: it is the identity, or what the fold begins with, which may be
    applied again and again to all functions that are associative and have no identity."""
    if f.__name__ in ASSOCIATIVE:
        return _fold(f, where(mask, x, filler), begin)

    def step(i: Any, total: LazyTensor) -> LazyTensor:
        return where(mask[i], f(total, x[i]), total)

    return fori_loop(0, x.shape[0], step, begin)


def accumulate(ufunc: Any, array: Any, axis: Any, dtype: Any, out: Any = None) -> LazyTensor:
    """Running results along an axis."""
    x = asarray(array)
    axis = _one_axis(axis, x.ndim, "accumulate")
    loop = loop_dtype(ufunc, x, dtype, out)
    items = _at_front(x.astype(loop), (axis,))
    return moveaxis(_running(ufunc, items).astype(loop), 0, axis)


def _running(f: Any, x: LazyTensor) -> LazyTensor:
    n = x.shape[0]
    if f.__name__ in ASSOCIATIVE:
        distance = 1
        while distance < n:
            x = concatenate([x[:distance], f(x[:-distance], x[distance:])])
            distance *= 2
        return x
    if n <= _UNROLLED:
        totals = [x[i : i + 1] for i in range(min(n, 1))]
        for i in range(1, n):
            totals.append(f(totals[-1], x[i : i + 1]))
        return concatenate(totals) if totals else x

    def step(i: Any, state: Any) -> Any:
        total, totals = state
        total = f(total, x[i])
        following = totals.copy()
        following[i] = total
        return total, following

    return fori_loop(1, n, step, (x[0], x))[1]


def reduceat(
    ufunc: Any, array: Any, indices: Any, axis: Any, dtype: Any, out: Any = None
) -> LazyTensor:
    """The reduction from each index up to the next one, or the element there if that is not
    behind it. The indices are evaluated."""
    x = asarray(array)
    dtype = None if dtype is None else _core.dtype_of(dtype)
    axis = _one_axis(axis, x.ndim, "reduceat")
    places = np.asarray(indices.evaluated() if isinstance(indices, LazyTensor) else indices)
    if places.ndim != 1:
        raise ValueError(with_location("object too deep for desired array"))
    is_listed = places.size == 0 or isinstance(indices, (list, tuple))
    if not is_listed and places.dtype.kind not in "biu":
        message = f"{ufunc.__name__}.reduceat: indices are {places.dtype}. Integers are required."
        raise TypeError(with_location(message))
    places = places.astype(np.intp)
    n = x.shape[axis]
    for place in places:
        if not 0 <= place < n:
            raise IndexError(
                with_location(f"index {place} out-of-bounds in {ufunc.__name__}.reduceat [0, {n})")
            )
    items = moveaxis(x, axis, 0)
    loop = loop_dtype(ufunc, x, dtype, out)
    parts = []
    for begin, end in zip(places, [*places[1:], n]):
        part = items[int(begin) : int(end)] if begin < end else items[int(begin) : int(begin) + 1]
        parts.append(ufunc.reduce(part, axis=0, dtype=loop, keepdims=True).astype(loop))
    result = concatenate(parts) if parts else items[:0].astype(loop)
    return moveaxis(result, 0, axis)


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
    numpys = twin(ufunc.__name__)
    if ufunc.nout != 1:
        raise ValueError(with_location("Only single output ufuncs supported at this time"))
    if isinstance(a, np.ndarray) and numpys is not None:
        numpys.at(a, _known(indices), *map(_known, operands))
        return
    if not isinstance(a, LazyTensor):
        raise TypeError(with_location("first operand must be array"))
    if len(operands) != ufunc.nin - 1:
        said = (
            "second operand provided when ufunc is unary"
            if operands
            else ("second operand needed for ufunc")
        )
        raise ValueError(with_location(said))
    places = np.arange(a.size).reshape(a.shape)[_known(indices)]
    given = [broadcast_to(asarray(each), places.shape).reshape(-1) for each in operands]
    flat, places = a.reshape(-1), places.reshape(-1)
    for which in _rounds(places):
        where = places[which]
        others = [each if len(which) == each.size else each[which] for each in given]
        changed = ufunc(flat[where], *others)
        following = flat.copy()
        following[where] = changed.astype(a.dtype)
        flat = following
    a[...] = flat.reshape(a.shape)


def _known(indices: Any) -> Any:
    """Indices with tensors evaluated."""
    if isinstance(indices, tuple):
        return tuple(map(_known, indices))
    return indices.evaluated() if isinstance(indices, LazyTensor) else indices


def _rounds(places: Any) -> list[Any]:
    """Numbers of places, so that in each list no place comes twice, and equal ones in order."""
    if places.size == 0:
        return []
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    is_new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    begin = np.maximum.accumulate(np.where(is_new, np.arange(places.size), 0))
    turn = np.arange(places.size) - begin
    return [np.sort(order[turn == t]) for t in range(int(turn.max()) + 1)]
