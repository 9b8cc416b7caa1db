"""NumPy's protocols: np.exp(lazy) and np.concatenate([lazy, …]) become composit's functions.

What composit lacks, or does not take, evaluates its tensors, as other libraries call NumPy of what
they are given.
"""

from __future__ import annotations

import sys
from typing import Any

from composit import numpy as cnp
from composit._core import (
    LazyFloating,
    LazyInteger,
    LazyScalar,
    LazyTensor,
    NotSupported,
    not_supported,
    type_error,
    with_location,
)
from composit.numpy import _by_numpy, _numpys_names

_other_names = {
    "absolute": "abs", "round_": "round", "around": "round", "amax": "max", "amin": "min",
    "concatenate": "concatenate", "_ones_like": "ones_like",
}  # fmt: skip


def _refused(name: str) -> NotSupported:
    return not_supported(
        f"numpy.{name} of a LazyTensor is not supported. "
        f"Evaluate it first: numpy.{name}(composit.evaluate(x))."
    )


def _find(name: str, module: str = "") -> Any:
    names = vars(getattr(cnp, module)) if module else vars(cnp)
    found = names.get(name) or names.get(_other_names.get(name, ""))
    if found is None and not module:
        found = _numpys_names.found(name)  # which the module has once somebody asked it
    if found is None:
        raise _refused(f"{module}.{name}".lstrip("."))
    return found


def _is_ours(ufunc: Any) -> bool:
    """Whether composit's function of that name is meant: NumPy's ufuncs and SciPy's are, those of
    others only have names."""
    import numpy as np

    special: Any = sys.modules.get("scipy.special")
    name = ufunc.__name__
    return any(getattr(module, name, None) is ufunc for module in (np, special))


def array_ufunc(self: LazyTensor, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Called by NumPy for a ufunc with a LazyTensor among its operands."""
    if not isinstance(getattr(ufunc, "__name__", None), str) or not isinstance(method, str):
        raise type_error(
            f"__array_ufunc__: ufunc is {ufunc!r}, method is {method!r}. A ufunc and the name "
            "of a method are required."
        )
    function = _functions.get(ufunc, _unknown)
    if function is _unknown:
        function = _functions[ufunc] = _function_of(ufunc)
    is_lazy = function is not None and (method == "__call__" or hasattr(function, method))
    if not is_lazy or any(type(each) not in _plain and _is_other(each) for each in inputs):
        if not hasattr(ufunc, method):
            raise AttributeError(
                with_location(
                    f"__array_ufunc__: method is {method!r}. '__call__', 'reduce', 'accumulate', "
                    "'reduceat', 'outer' or 'at' is required."
                )
            )
        return _by_numpy.ufunc_of_values(ufunc.__name__, ufunc, method, inputs, options)
    return (function if method == "__call__" else getattr(function, method))(*inputs, **options)


_unknown = object()
_functions: dict[Any, Any] = {}  # composit's function of each ufunc; None where it has none
_plain = (LazyTensor, LazyScalar, LazyFloating, LazyInteger, float, int, bool, complex)


def _function_of(ufunc: Any) -> Any:
    try:
        return _find(ufunc.__name__) if _is_ours(ufunc) else None
    except NotSupported:
        return None


def _is_other(value: Any) -> bool:
    return _by_numpy.is_other_array(value)


def array_function(self: LazyTensor, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Called by NumPy for its other functions."""
    is_call = isinstance(args, (tuple, list)) and isinstance(kwargs, dict)
    is_call = is_call and all(isinstance(name, str) for name in kwargs)
    if not isinstance(getattr(func, "__name__", None), str) or not is_call:
        raise type_error(
            f"__array_function__: func is {func!r}, args are {args!r}, kwargs are {kwargs!r}. "
            "A function of NumPy, a tuple and a dict are required."
        )
    try:
        module = func.__module__ or ""
        if module in ("numpy.linalg", "numpy.fft"):
            return _find(func.__name__, module.removeprefix("numpy."))(*args, **kwargs)
        if module not in ("numpy", "numpy.lib.stride_tricks", "numpy.lib._stride_tricks_impl"):
            raise _refused(f"{module.removeprefix('numpy.')}.{func.__name__}")
        return _find(func.__name__)(*args, **kwargs)
    except (NotSupported, TypeError) as error:
        return _by_numpy.instead(func, args, kwargs, error)
