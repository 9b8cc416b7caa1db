"""NumPy's protocols: np.exp(lazy) and np.concatenate([lazy, …]) become composit's functions."""

from __future__ import annotations

from typing import Any

from composit._core import LazyTensor, NotSupported, with_location

_other_names = {
    "absolute": "abs", "round_": "round", "around": "round", "amax": "max", "amin": "min",
    "concatenate": "concatenate", "_ones_like": "ones_like",
}  # fmt: skip


def _refused(name: str) -> NotSupported:
    return NotSupported(
        with_location(
            f"numpy.{name} of a LazyTensor is not supported. "
            f"Evaluate it first: numpy.{name}(composit.evaluate(x))."
        )
    )


def _find(name: str, module: str = "") -> Any:
    from composit import numpy as cnp

    names = vars(getattr(cnp, module)) if module else vars(cnp)
    found = names.get(name) or names.get(_other_names.get(name, ""))
    if found is None:
        raise _refused(f"{module}.{name}".lstrip("."))
    return found


def array_ufunc(self: LazyTensor, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Called by NumPy for a ufunc with a LazyTensor among its operands."""
    if not isinstance(getattr(ufunc, "__name__", None), str) or not isinstance(method, str):
        raise TypeError(
            with_location(
                f"__array_ufunc__: ufunc is {ufunc!r}, method is {method!r}. A ufunc and the name "
                "of a method are required."
            )
        )
    function = _find(ufunc.__name__)
    if method == "__call__":
        return function(*inputs, **options)
    if not hasattr(function, method):
        raise _refused(f"{ufunc.__name__}.{method}")
    return getattr(function, method)(*inputs, **options)


def array_function(self: LazyTensor, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Called by NumPy for its other functions."""
    is_call = isinstance(args, (tuple, list)) and isinstance(kwargs, dict)
    is_call = is_call and all(isinstance(name, str) for name in kwargs)
    if not isinstance(getattr(func, "__name__", None), str) or not is_call:
        raise TypeError(
            with_location(
                f"__array_function__: func is {func!r}, args are {args!r}, kwargs are {kwargs!r}. "
                "A function of NumPy, a tuple and a dict are required."
            )
        )
    module = func.__module__ or ""
    if module in ("numpy.linalg", "numpy.fft"):
        return _find(func.__name__, module.removeprefix("numpy."))(*args, **kwargs)
    if module not in ("numpy", "numpy.lib.stride_tricks", "numpy.lib._stride_tricks_impl"):
        raise _refused(f"{module.removeprefix('numpy.')}.{func.__name__}")
    return _find(func.__name__)(*args, **kwargs)
