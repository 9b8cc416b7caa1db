"""Where results go: `out=`, and `where=`, which say what is written and where."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import (
    LazyScalar,
    LazyTensor,
    not_supported,
    type_error,
    value_error,
    with_location,
)
from composit.numpy import _casting
from composit.numpy.creation import asarray


def refuse(function: str, **arguments: Any) -> None:
    """NotSupported for the first argument that was given (is not None)."""
    for name, value in arguments.items():
        if value is not None:
            raise not_supported(f"{function}: {name}={value!r} is not supported yet. Leave it out.")


def the_output(out: Any) -> Any:
    """out= itself, or the only entry of the tuple that ufuncs take."""
    if not isinstance(out, tuple):
        return out
    if len(out) != 1:
        raise value_error("The 'out' tuple must have exactly one entry per ufunc output")
    return out[0]


def write_out(
    function: str, result: LazyTensor, out: Any, casting: str = "same_kind", widens: bool = False
) -> Any:
    """The result written over `out`, as NumPy's out= does: cast by the rule, and broadcast where
    the function `widens`, as ufuncs do."""
    if out is None:
        return result
    import numpy as np

    out = the_output(out)
    if out is None:
        return result
    if not isinstance(out, (LazyTensor, np.ndarray)) or isinstance(out, LazyScalar):
        raise type_error("return arrays must be of ArrayType")
    if widens and result.shape != out.shape and _fits_into(result.shape, out.shape):
        result = _core.numpy.broadcast_to(result, out.shape)
    if not _casting.is_usual(casting):
        result = _casting.cast_output(function, result, out, casting)
    if isinstance(out, LazyTensor):
        out.check_writeable()
        out.replaced(_core.fitted(function, result, out))
        return out
    if out.shape != result.shape:
        raise value_error(
            f"{function}: out has shape {out.shape}, the result {result.shape}. Equal shapes "
            "are required."
        )
    values = result.evaluated()
    try:
        np.copyto(out, values, casting="same_kind")
    except (TypeError, ValueError) as error:  # what out holds, or that it is read-only
        raise type(error)(with_location(f"{function}: {error}")) from None
    return out


def _fits_into(shape: tuple[int, ...], wide: tuple[int, ...]) -> bool:
    """Whether broadcasting makes the shape the wide one."""
    behind = wide[len(wide) - len(shape) :]
    return len(shape) <= len(wide) and all(a in (1, b) for a, b in zip(shape, behind))


def masked_by(function: str, result: LazyTensor, where: Any, out: Any) -> LazyTensor:
    """The result where `where` holds; elsewhere what `out` has, or zeros without one (NumPy leaves
    there what was in memory)."""
    if where is True:
        return result
    out = the_output(out)
    if out is None:
        return _core.numpy.apply("where", where, result, _core.numpy.astype(0, result.dtype))
    out = out if isinstance(out, LazyTensor) else asarray(out)
    if _fits_into(result.shape, out.shape):
        result = _core.numpy.broadcast_to(result, out.shape)
    return _core.numpy.apply("where", where, _core.fitted(function, result, out), out)
