"""Functions of statistics: modes and quantiles, counts, differences, segments."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit.torch.calling import torch_function
from composit.torch.functions.indexing import from_first
from composit.torch.given import constant
from composit.torch.named_results import named

_aten = _core.aten


@torch_function("mode")
def _mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element, the lowest of several, and its last place."""
    if not input.ndim:
        return named("mode")(input, cnp.zeros((), "int64"))
    return named("mode")(*_aten.mode(input, dim, keepdim))


@torch_function("nanmedian")
def _nanmedian(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle of the elements that are numbers, the lower of two."""
    if not input.ndim and dim is not None:
        return named("nanmedian")(input, cnp.zeros((), "int64"))
    found = _aten.nanmedian(input, dim, keepdim)
    return found[0] if dim is None else named("nanmedian")(*found)


@torch_function("nanquantile")
def _nanquantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *,
    interpolation: str = "linear",
) -> Any:  # fmt: skip
    """Quantiles of the elements that are numbers."""
    dim = dim if input.ndim else None
    return cnp.nanquantile(input, q, axis=dim, keepdims=keepdim, method=interpolation)


@torch_function("unique_consecutive")
def _unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Elements that differ from the one before; values decide the shape."""
    values, inverse, counts = _aten.unique_consecutive(input, dim)
    more = ((return_inverse, inverse), (return_counts, counts))
    found = (values, *(each for is_wanted, each in more if is_wanted))
    return found if len(found) > 1 else values


@torch_function("nonzero_static")
def _nonzero_static(input: Any, *, size: int, fill_value: int = -1) -> Any:
    """The first places where elements are not zero, so many."""
    rows = np.argwhere(np.asarray(input.evaluated()))[:size]
    made = np.full((size, input.ndim), fill_value)
    made[: len(rows)] = rows
    return constant(made)


@torch_function("unravel_index", is_method=False)
def _unravel_index(indices: Any, shape: Any) -> Any:
    """Places of the flat tensor as those of one of a shape."""
    return tuple(_aten.unravel_index(indices, shape))


@torch_function("histogram")
def _histogram(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many elements are in each bin, and the bins' edges."""
    counts, ends = cnp.histogram(input, bins, range, density, weight)
    return named("histogram")(cnp.astype(counts, input.dtype), cnp.astype(ends, input.dtype))


@torch_function("cumulative_trapezoid", is_method=False)
def _cumulative_trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The running integral by the trapezoidal rule."""
    return _aten.cumulative_trapezoid(y, x, dx, dim)


@torch_function("gradient", is_method=False)
def _gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Differences to both sides, for each dimension."""
    steps = 1 if spacing is None else spacing
    return tuple(_aten.gradient(input, steps, dim, edge_order))


@torch_function("combinations", is_method=False)
def _combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of r elements, as rows."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return cnp.take(input, places)


@torch_function("index_reduce", is_inplace=True)
def _index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """source reduced into places of a dimension: "prod", "mean", "amax" or "amin"."""
    index = from_first(index, input, dim)
    return _aten.index_reduce(input, dim, index, source, reduce, include_self)


@torch_function("segment_reduce", is_method=False)
def _segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None,
    dim: int = 0, unsafe: bool = False, initial: float | None = None,
) -> Any:  # fmt: skip
    """The rows of data reduced in segments of given lengths, or between offsets: "sum", "mean",
    "max", "min" or "prod"; without initial the mean of none is NaN. Lengths that do not add up to
    the number of rows are refused, unless unsafe."""
    given = lengths if offsets is None else offsets
    has_lengths, has_offsets = lengths is not None, offsets is not None
    shape = getattr(given, "shape", ())
    _aten.check_segments(indices is not None, has_lengths, has_offsets, shape, dim)
    return _aten.segment_reduce(data, reduce, given, has_offsets, unsafe, initial)
