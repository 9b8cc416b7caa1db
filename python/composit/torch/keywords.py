"""Names that PyTorch has for arguments beside those of the functions here: other words, and names
of what is given one by one, as permute(dims=(1, 0))."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import composit._core as _core

_IN_ORDER = "*"  # lengths or dimensions, which the function takes one by one

_SPLIT = {"split_size": "split_size_or_sections", "split_sizes": "split_size_or_sections",
          "tensor": "input"}  # fmt: skip
_SECTIONS = dict.fromkeys(
    ("indices", "sections", "tensor_indices_or_sections"), "indices_or_sections"
)
_by_name: dict[str, dict[str, str]] = {
    **{name: {"tensors": "tup"}
       for name in ("hstack", "vstack", "dstack", "column_stack", "row_stack")},
    **dict.fromkeys(("split", "unsafe_split"), _SPLIT),
    **dict.fromkeys(("tensor_split", "hsplit", "vsplit", "dsplit"), _SECTIONS),
    **{name: {key: _IN_ORDER} for name, key in {
        "permute": "dims", "reshape": "shape", "flip": "dims", "tile": "dims",
        "repeat": "repeats", "expand": "size", "sum_to_size": "size",
        "broadcast_to": "size",
    }.items()},
    "view": {"size": _IN_ORDER, "dtype": _IN_ORDER},
    "linalg_tensorsolve": {"other": "B"},
    "bmm": {"mat2": "other"}, "mm": {"mat2": "other"}, "mv": {"vec": "other"},
    "dot": {"tensor": "other"}, "baddbmm": {"batch1": "mat1", "batch2": "mat2"},
    "addmv": {"mat": "mat1", "vec": "mat2"}, "kron": {"other": "b"},
    "swapaxes": {"axis0": "dim0", "axis1": "dim1"}, "orgqr": {"input2": "tau"},
    "isin": {"element": "elements", "test_element": "test_elements"},
    "igamma": {"other": _IN_ORDER}, "igammac": {"other": _IN_ORDER},
    "ormqr": {"input2": "tau", "input3": "other"},
}  # fmt: skip


def other_names(name: str) -> dict[str, str]:
    """PyTorch's other names of a function's arguments, and what they are here."""
    return _by_name.get(name, {})


@functools.lru_cache(maxsize=4096)
def _own_names(function: Callable[..., Any]) -> list[str]:
    """The names of a function's arguments; none where it does not say."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def renamed(
    function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by the names that the function has."""
    own, known = _own_names(function), _by_name.get(name, {})
    return _core.renamed_arguments(own, known, args, kwargs)
