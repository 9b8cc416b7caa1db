"""Putting tensors together of parts, taking parts off, and products of stacks."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy import _arguments
from composit.numpy.creation import asarray
from composit.numpy.manipulation import _sections, _sequence

_c = _core.numpy


def column_stack(tup: Any) -> LazyTensor:
    """Joined as columns; parts of one dimension are columns."""
    return _c.column_stack(_sequence("column_stack", tup))


def row_stack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> LazyTensor:
    """Joined as rows: vstack's old name."""
    return _c.row_stack(_c.joinable("row_stack", tup, dtype, casting))


_LEAST_DIMENSIONS = {"hsplit": 1, "vsplit": 2, "dsplit": 3}


def _split(name: str, ary: Any, indices_or_sections: Any) -> list[LazyTensor]:
    sections = _sections(indices_or_sections)
    if sections is None:
        return getattr(_c, f"{name}_at")(ary, indices_or_sections)
    # NumPy asks for the number of dimensions before it wants an array.
    if asarray(ary).ndim < _LEAST_DIMENSIONS[name]:
        return getattr(_c, name)(asarray(ary), sections)
    _arguments.check_array(ary)
    return getattr(_c, name)(ary, sections)


def hsplit(ary: Any, indices_or_sections: Any) -> list[LazyTensor]:
    """split along the second axis (the only one of 1-d tensors)."""
    return _split("hsplit", ary, indices_or_sections)


def vsplit(ary: Any, indices_or_sections: Any) -> list[LazyTensor]:
    """split along the first axis."""
    return _split("vsplit", ary, indices_or_sections)


def dsplit(ary: Any, indices_or_sections: Any) -> list[LazyTensor]:
    """split along the third axis."""
    return _split("dsplit", ary, indices_or_sections)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[LazyTensor, ...]:
    """x[0], x[1], … of an axis."""
    _arguments.check_array(x)
    if x.ndim == 0:
        raise value_error("unstack: Input array must be at least 1-d.")
    return tuple(_c.unstack(x, _c.one_axis("unstack", axis, x.ndim)))


def block(arrays: Any) -> LazyTensor:
    """Nested lists of blocks, joined: the innermost along the last axis."""
    return _c.block(arrays)


def diagflat(v: Any, k: int = 0) -> LazyTensor:
    """The flattened v on the k-th diagonal of a square of zeros."""
    return _c.diagflat(v, k)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> LazyTensor:
    """Powers of x as columns, the highest first unless increasing."""
    return _c.vander(x, N, bool(increasing))


def kron(a: Any, b: Any) -> LazyTensor:
    """Kronecker's product: a block of b for each element of a."""
    return _c.kron(a, b)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> LazyTensor:  # fmt: skip
    """base to the powers of linspace(start, stop, num)."""
    return _c.logspace(start, stop, _core.integer(num), bool(endpoint), base, dtype, axis)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> LazyTensor:
    """`num` values from start to stop, each a constant multiple of the one before."""
    return _c.geomspace(start, stop, _core.integer(num), bool(endpoint), dtype, axis)


def matvec(
    x1: Any, x2: Any, /, out: Any = None, *, axes: Any = None, casting: str = "same_kind",
    order: Any = "K", dtype: Any = None, subok: Any = True,
) -> Any:  # fmt: skip
    """Products of matrices (…, m, n) and vectors (…, n)."""
    return _c.product("matvec", x1, x2, axes, -1, False, out, casting, order, dtype, subok)


def vecmat(
    x1: Any, x2: Any, /, out: Any = None, *, axes: Any = None, casting: str = "same_kind",
    order: Any = "K", dtype: Any = None, subok: Any = True,
) -> Any:  # fmt: skip
    """Products of vectors (…, n), conjugated, and matrices (…, n, m)."""
    return _c.product("vecmat", x1, x2, axes, -1, False, out, casting, order, dtype, subok)


def vecdot(
    x1: Any, x2: Any, /, out: Any = None, *, axes: Any = None, axis: int = -1,
    keepdims: bool = False, casting: str = "same_kind", order: Any = "K", dtype: Any = None,
    subok: Any = True,
) -> Any:  # fmt: skip
    """Sums of products along one axis of both, the first conjugated; the other axes broadcast."""
    return _c.product(
        "vecdot", x1, x2, axes, axis, bool(keepdims), out, casting, order, dtype, subok
    )
