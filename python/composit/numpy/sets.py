"""Sets: elements that differ, and what two arrays have in common. All but isin evaluate now."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple as _NamedTuple

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy import _by_numpy

_c = _core.numpy


@_by_numpy.also_of_others
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Any:  # fmt: skip
    """The elements (slices along an axis) without repetition, ascending; where each occurs first,
    which one each element is, and how often each occurs."""
    return _c.unique(ar, axis, equal_nan, return_index, return_inverse, return_counts)


class UniqueAllResult(_NamedTuple):
    """What unique_all returns."""

    values: LazyTensor
    indices: LazyTensor
    inverse_indices: LazyTensor
    counts: LazyTensor


class UniqueCountsResult(_NamedTuple):
    """What unique_counts returns."""

    values: LazyTensor
    counts: LazyTensor


class UniqueInverseResult(_NamedTuple):
    """What unique_inverse returns."""

    values: LazyTensor
    inverse_indices: LazyTensor


def unique_all(x: Any, /) -> UniqueAllResult:
    """Values, first positions, inverse and counts of unique; each NaN is a value of its own."""
    return UniqueAllResult(*_c.unique(x, None, False, True, True, True))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Values and counts of unique; each NaN is a value of its own."""
    return UniqueCountsResult(*_c.unique(x, None, False, False, False, True))


def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """Values and inverse of unique; each NaN is a value of its own."""
    return UniqueInverseResult(*_c.unique(x, None, False, False, True, False))


def unique_values(x: Any, /) -> LazyTensor:
    """Values of unique, ascending; each NaN is a value of its own."""
    return _c.unique(x, None, False, False, False, False)


@_by_numpy.also_of_others
def union1d(ar1: Any, ar2: Any) -> LazyTensor:
    """The elements of either."""
    return _c.union1d(ar1, ar2)


@_by_numpy.also_of_others
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The elements of both; where each occurs first in either."""
    results = _c.intersect1d(ar1, ar2, assume_unique, return_indices)
    return results if return_indices else results[0]


@_by_numpy.also_of_others
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> LazyTensor:
    """The elements of ar1 that are not in ar2."""
    return _c.setdiff1d(ar1, ar2, assume_unique)


@_by_numpy.also_of_others
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> LazyTensor:
    """The elements of only one."""
    return _c.setxor1d(ar1, ar2, assume_unique)


@_by_numpy.also_of_others
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    kind: str | None = None,
) -> LazyTensor:  # fmt: skip
    """Whether each element is among the others; one way serves for every kind."""
    if kind not in (None, "sort", "table"):
        raise value_error(f"isin: Invalid kind: {kind!r}. None, 'sort' or 'table' is required.")
    return _c.isin(element, test_elements, invert, kind == "table")
