"""What NumPy computes from values, and no graph has a part in: printing, files, texts, records,
dates, masked arrays, objects.

Tensors among the arguments are evaluated, NumPy is called, and arrays of numbers that come back are
tensors. What tensors do not hold comes back as NumPy's own. Nothing of this is part of a graph: so
what depends on a placeholder is refused.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit import structure
from composit._core import LazyScalar, LazyTensor, NotSupported, not_supported, with_location
from composit.structure import changed

_FOLDER = os.path.dirname(os.path.dirname(__file__)) + os.sep


def values_of(function: str, value: Any) -> Any:
    """The same with NumPy's arrays and scalars for tensors, within lists, tuples and dictionaries,
    too."""
    return changed(
        value, lambda leaf: _value_of(function, leaf) if isinstance(leaf, LazyTensor) else leaf
    )


def _value_of(function: str, tensor: LazyTensor) -> Any:
    if not tensor.has_value():
        raise not_supported(
            f"{function}: an argument depends on a placeholder. NumPy computes this "
            "function from values: call it outside of compile, grad and vmap."
        )
    array = tensor.evaluated()
    return array[()] if isinstance(tensor, LazyScalar) else array


def is_held(dtype: Any) -> bool:
    """Whether tensors have this dtype."""
    return (
        dtype.kind in "biufc" and dtype.char not in "gG"
    ) or dtype.name in _core.extension_floats


def made(value: Any) -> Any:
    """The same with tensors for NumPy's arrays and scalars of numbers; subclasses stay what they
    are."""
    return changed(value, _tensor_of)


def _tensor_of(value: Any) -> Any:
    import numpy as np

    is_scalar = isinstance(value, np.generic)
    if not (type(value) is np.ndarray or is_scalar) or not is_held(value.dtype):
        return value
    tensor = _core.constant(np.asarray(value), "", True)
    return tensor[()] if is_scalar else tensor


def _any_of(value: Any, holds: Callable[[Any], bool]) -> bool:
    """Whether it holds for an array or tensor in the value, or in lists and the like within."""
    return any(holds(x) for x in structure.leaves(value) if hasattr(x, "__array__"))


def _is_differentiated(value: Any) -> bool:
    return isinstance(value, LazyTensor) and value.is_differentiated()


def called(name: str, function: Callable[..., Any], args: Any, options: Any) -> Any:
    """What NumPy's function makes of the values of its arguments."""
    given, named = values_of(name, tuple(args)), values_of(name, dict(options))
    try:
        result = made(function(*given, **named))
        if _any_of(result, lambda _: True) and _any_of((args, options), _is_differentiated):
            raise not_supported(
                f"{name}: an argument depends on what is differentiated. NumPy computes this "
                "function from values, through which no gradient goes: give it "
                "composit.nn.stop_gradient(x) where none is wanted."
            )
        return result
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as e:
        if type(e).__module__ != "builtins" or len(e.args) != 1:
            raise
        raise type(e)(with_location(f"{name}: {e}")) from None


def of_values(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, of tensors, too."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        return called(name, function, args, options)

    return call


def instead(function: Any, args: Any, options: Any, refusal: Exception) -> Any:
    """What NumPy's function makes of values that composit's refuses; the refusal where they cannot
    be known, or where NumPy refuses them, too."""
    try:
        return called(function.__name__, function, args, options)
    except Exception:  # whichever: what composit says of the call is to be read
        raise refusal from None


_OTHERS = "OSUVMmT"  # objects, texts, records, dates, by kind


def _is_other(value: Any) -> bool:
    """Whether the value is, or holds, what no tensor holds."""
    if isinstance(value, (list, tuple)):
        return any(_is_other(item) for item in value)
    return value is None or isinstance(value, (str, bytes)) or _kind(value) in _OTHERS


def _kind(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return getattr(dtype, "kind", " ")


def is_other_array(value: Any) -> bool:
    """Whether this is an ndarray of what no tensor holds, or of a class of its own."""
    import numpy as np

    kind = type(value)
    if not issubclass(kind, (np.ndarray, np.generic)):
        return False
    is_own = issubclass(kind, np.ndarray) and kind is not np.ndarray and kind is not np.memmap
    return is_own or value.dtype.kind in _OTHERS


def is_other_dtype(dtype: Any) -> bool:
    """Whether this names a dtype of objects, texts, records or dates."""
    import numpy as np

    try:
        found = np.dtype(dtype)
    except TypeError:
        return False
    return dtype is not None and found.kind in _OTHERS and not is_held(found)


def created(name: str, refusal: Exception, *args: Any, dtype: Any = None, **options: Any) -> Any:
    """What NumPy's function makes of texts, records, dates or objects, or in a dtype of those; the
    refusal of all else."""
    import numpy as np

    if not is_other_dtype(dtype) and not any(_is_other(value) for value in args):
        raise refusal
    if name == "astype":  # by position only
        args, dtype = (*args, dtype), None
    if dtype is not None:
        options["dtype"] = dtype
    given = values_of(name, args)
    try:
        return called(name, getattr(np, name), given, options)
    except Exception:  # whichever: what composit says of the call is to be read
        raise refusal from None


def also_of_others(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; NumPy's of the same name of texts, records, dates and objects."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except (NotSupported, TypeError) as refusal:
            return created(function.__name__, refusal, *args, **options)

    return call


def is_called_by_user() -> bool:
    """Whether the function that asks was called from outside of the package, for which texts and
    objects are arrays of NumPy's."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_name in ("array", "asarray", "asanyarray", "copy", "around"):
        frame = frame.f_back
    return not frame.f_code.co_filename.startswith(_FOLDER)


def ufunc_of_values(name: str, ufunc: Any, method: str, inputs: Any, options: Any) -> Any:
    """What a ufunc of another library makes of values. Tensors in out= are written."""
    outputs = options.get("out", ())
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    given = values_of(name, {key: value for key, value in options.items() if key != "out"})
    for each in outputs:
        if isinstance(each, LazyTensor):
            each.check_writeable()
    arrays = values_of(name, outputs)
    if outputs:
        given["out"] = arrays if len(arrays) > 1 or method == "__call__" else arrays[0]
    operands = values_of(name, tuple(inputs))
    result = getattr(ufunc, method)(*operands, **given)
    for tensor, array in zip(outputs, arrays):
        if isinstance(tensor, LazyTensor):
            tensor[...] = array
    if method == "at" and isinstance(inputs[0], LazyTensor):
        inputs[0][...] = operands[0]
    if len(outputs) == 1 and outputs[0] is not None:
        return outputs[0]
    if not outputs:
        return made(result)
    results = zip(outputs, result)
    return tuple(made(value) if out is None else out for out, value in results)


def module_of(module: Any, names: dict[str, Any]) -> Callable[[str], Any]:
    """`__getattr__` of a module of composit's whose functions are those of a module of NumPy's, of
    tensors, too. What it finds it puts into `names`."""

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")
        value = getattr(module, name)
        is_own = isinstance(value, (type, types.ModuleType)) or not callable(value)
        if not is_own and type(value).__name__ != "MaskedConstant":
            value = of_values(name, value)
        names[name] = value
        return value

    return get
