"""Sorting and searching, and functions whose results' shapes depend on values."""

from __future__ import annotations

from typing import Any

from composit import numpy as cnp
from composit.flashlight.operators.promotion import floating
from composit.flashlight.operators.table import function_of
from composit.torch.calling import torch_function
from composit.torch.named_results import named


@torch_function("sort", order="first")
def _sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Sorted along a dimension, and where the elements were."""
    return named("sort")(*function_of("sort")(input, dim, descending))


@torch_function("msort", order="first")
def _msort(input: Any) -> Any:
    return function_of("sort")(input, 0, False)[0]


@torch_function("argsort", order="first")
def _argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The places of the sorted elements."""
    return function_of("argsort")(input, dim, descending)


@torch_function("topk")
def _topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The largest elements, and where they are."""
    return named("topk")(*function_of("topk")(input, k, dim, largest))


@torch_function("kthvalue")
def _kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The kth smallest element, and where it is."""
    return named("kthvalue")(*function_of("kthvalue")(input, k, dim, keepdim))


@torch_function("searchsorted", is_method=False)
def _searchsorted(
    sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Any = None,
) -> Any:  # fmt: skip
    """Where the elements belong."""
    found = function_of("searchsorted.Tensor")(
        sorted_sequence, input, right=right, side=side, sorter=sorter
    )
    return cnp.astype(found, "int32" if out_int32 else "int64")


@torch_function("bucketize", is_method=False)
def _bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Between which boundaries the elements are."""
    found = function_of("bucketize.Tensor")(input, boundaries, right=right)
    return cnp.astype(found, "int32" if out_int32 else "int64")


@torch_function("nonzero")
def _nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Where elements are not zero; values decide the shape, so they are computed now."""
    if not input.ndim:
        places = cnp.nonzero(cnp.reshape(input, (1,)))[0]
        return (places,) if as_tuple else cnp.zeros((*places.shape, 0), "int64")
    found = cnp.nonzero(input)
    return tuple(found) if as_tuple else cnp.stack(list(found), axis=1)


@torch_function("argwhere")
def _argwhere(input: Any) -> Any:
    return cnp.argwhere(input)


@torch_function("masked_select")
def _masked_select(input: Any, mask: Any) -> Any:
    """The elements where a mask is true."""
    x, chosen = cnp.broadcast_arrays(input, mask)
    return x[chosen]


@torch_function("unique")
def _unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """The different elements, sorted; where each one is among them, and how often it is."""
    found = cnp.unique(input, return_inverse=return_inverse, return_counts=return_counts, axis=dim)
    return tuple(found) if isinstance(found, (tuple, list)) else found


@torch_function("bincount")
def _bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number is there."""
    return cnp.bincount(input, weights, minlength)


@torch_function("histc")
def _histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements are in each of bins of one width."""
    ends = (float(min), float(max))
    if ends == (0.0, 0.0):
        ends = (float(input.min().evaluated()), float(input.max().evaluated()))
    counts, _ = cnp.histogram(input, bins=bins, range=ends)
    return cnp.astype(counts, input.dtype)


@torch_function("isin", is_method=False)
def _isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    """Whether each element is among others."""
    return cnp.isin(elements, test_elements, invert=invert)


@torch_function("diff")
def _diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours."""
    options = {}
    if prepend is not None:
        options["prepend"] = prepend
    if append is not None:
        options["append"] = append
    return cnp.diff(input, n, dim, **options)


@torch_function("trapezoid", "trapz", is_method=False)
def _trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral by the trapezoidal rule."""
    return cnp.trapezoid(floating(y), x if x is None else floating(x), dx, dim)
