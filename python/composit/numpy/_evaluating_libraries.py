"""Functions of other libraries that must get ndarrays, because they ask `isinstance(x, np.ndarray)`
or read the memory around an array: tensors are evaluated where these functions begin.

Other functions take tensors by NumPy's protocols and need nothing of this."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from composit import _imports
from composit._core import LazyTensor
from composit.structure import mapped

_INDEXED = ("__getitem__", "__setitem__")
# Of each module the functions, by the class that has them; "" stands for the module itself.
_FUNCTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "pandas": {
        "": ("unique", "factorize"),
        "Series": (*_INDEXED, "groupby"),
        "DataFrame": (*_INDEXED, "groupby"),
    },
    "pandas.core.indexing": {"_LocIndexer": _INDEXED, "_iLocIndexer": _INDEXED},
    "xarray": {"DataArray": ("interp",), "Dataset": ("interp",)},
    # A view of a view: as_strided reads what lies before the elements that it is given.
    "scipy.linalg": {"": ("circulant",)},
}


def _evaluated(value: Any) -> Any:
    """The value, with ndarrays in place of the tensors in it."""
    return mapped(value, np.asarray, LazyTensor)


def _over_ndarrays(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def over_ndarrays(*args: Any, **options: Any) -> Any:
        given = {name: _evaluated(value) for name, value in options.items()}
        return function(*map(_evaluated, args), **given)

    return over_ndarrays


def _attach(module: ModuleType) -> None:
    for holder_name, names in _FUNCTIONS[module.__name__].items():
        holder = getattr(module, holder_name, None) if holder_name else module
        for name in names:
            function = getattr(holder, name, None)  # another version may have no such function
            if function is not None:
                setattr(holder, name, _over_ndarrays(function))


def attach() -> None:
    """Lets the functions take tensors: those of modules that are there now, the others when
    somebody imports them."""
    for name in _FUNCTIONS:
        _imports.when_imported(name, _attach)
