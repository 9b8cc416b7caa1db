"""Values of nodes: what is taken as a number, and how numbers are given back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error, with_location

# refuse_masked(value, what): TypeError where the value, or one within it, is a masked array.
refuse_masked: Callable[[Any, str], None] = _core.numpy.refuse_masked


def described(value: Any) -> str:
    """A value in a message, however large."""
    if is_array(value) and len(getattr(value, "shape", ())):
        return f"{value.dtype}{list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def is_array(value: Any) -> bool:
    """Whether it is an array of any library (or a number of NumPy's), and no class of them. What
    has a value within a call (Arithmetic) says that it is none."""
    if isinstance(value, type) or hasattr(type(value), "_is_no_array"):
        return False
    return hasattr(value, "__array__")


def as_leaf(value: Any, name: str, what: str) -> LazyTensor:
    """The value as a tensor of this name: a tensor as it is, all else as a constant with a copy.
    `what` takes it, in the words of the error where it is none."""
    from composit.numpy import asarray

    if isinstance(value, LazyTensor):
        return _core.numpy.strong(value)
    refuse_masked(value, what)
    if hasattr(value, "detach") and getattr(value, "requires_grad", False):
        value = value.detach()
    if isinstance(value, int):
        check_integer(value, what)
    if not isinstance(value, (str, bytes, type(None), dict, set)):
        try:
            return asarray(value, name=name)
        except RuntimeError as error:  # torch's, of tensors without memory of their own
            raise type_error(
                f"{what} is given a {type(value).__name__} whose values cannot be had: "
                f"{str(error).partition(chr(10))[0].rstrip('.')}. A tensor with values is "
                "required, outside of torch.vmap and torch.func; composit.vmap and grad take "
                "the module's function."
            ) from error
        except (TypeError, ValueError):
            pass
    raise type_error(
        f"{what} is given {described(value)}, of type {type(value).__name__}. A number, an "
        "array or a tensor is required."
    )


def check_integer(value: int, what: str) -> None:
    """OverflowError for an integer of Python that no integer dtype has room for."""
    if not -(2**63) <= value < 2**64:
        raise OverflowError(
            with_location(
                f"{what} is given {described(value)}, which does not fit in int64 or uint64. An "
                "integer in their range, or a float, is required."
            )
        )


def given_back(array: Any) -> Any:
    """Numbers as Python's where they lose nothing, all else as arrays that are read only: writing
    into what a call computed would change what is shown of it alone."""
    if array.ndim == 0 and array.dtype.char in "ld?D":
        return array.item()
    return read_only(array) if array.ndim else array[()]


def read_only(array: Any) -> Any:
    """The array, which refuses to be written to."""
    array.setflags(write=False)
    return array


def stopped(tensor: LazyTensor) -> LazyTensor:
    """The tensor, by which nothing is differentiated. Numbers of Python, which are leaves, stay."""
    is_constant = tensor.is_weak or tensor.dtype.kind not in "fcV"
    return tensor if is_constant else _core.nn.stop_gradient(tensor)


def held(value: Any, tensor: LazyTensor) -> Any:
    """The value, which is the tensor's, where whoever gave it cannot write to it: arrays, lists and
    torch's tensors as arrays that are read only."""
    import numpy as np

    from composit.evaluation import evaluate

    if isinstance(value, np.ndarray):
        return read_only(value.copy())
    if isinstance(value, (list, tuple)) or hasattr(value, "detach"):
        return read_only(evaluate(tensor).copy())
    return value


def whole(array: Any, dtype: Any) -> Any:
    """The array in an integer dtype if that loses nothing."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        converted = array.astype(dtype)
    return converted if np.array_equal(converted.astype(array.dtype), array) else array
