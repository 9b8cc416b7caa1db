"""What kernels are called with and give back: numbers, arrays and tensors."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, not_supported, type_error, with_location
from composit._libraries import library_of
from composit.knossos.frames import skip_frames_of


def bound_arguments(
    kernel: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, ...]:
    """The arguments of the Python function by position. TypeError for those that do not fit."""
    function = getattr(kernel, "__wrapped__", None)
    try:
        if function is None:
            raise TypeError("it is derived, and takes arguments by position only")
        bound = inspect.signature(function, follow_wrapped=False).bind(*arguments, **named)
        bound.apply_defaults()
        return bound.args
    except TypeError as error:
        kernel.procedure()  # what no kernel has, as arguments by name only, is refused first
        raise type_error(
            f"{kernel.__name__}: {error}. A value for each argument is required."
        ) from None


def check_given(name: str, leaves: list[Any]) -> None:
    """TypeError for arrays whose masks, and lists of tensors whose gradients would be lost."""
    if any(isinstance(leaf, (list, tuple, np.ma.MaskedArray)) for leaf in leaves):
        _core.numpy.refuse_masked(leaves, f"{name}: an argument")
        _core.knossos.refuse_lists_with_gradients(name, leaves)


def as_array(name: str, value: Any) -> Any:
    """What NumPy makes of an argument; errors, of its class, name the kernel and the line."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        if type(error).__module__.partition(".")[0] == "jax":
            skip_frames_of("jax")
            raise not_supported(
                f"{name}: it is called while JAX traces (jit, grad, vmap), where arrays have "
                "no elements to compute with. A call outside, with knossos.vmap, vjp or grad "
                f"of {name} in place of JAX's, or jax.pure_callback({name}, …) is required."
            ) from None
        wrong = "a list whose parts have several lengths or shapes stands for an array"
        instead = "Equal ones are"
        if not isinstance(error, ValueError) or not isinstance(value, (list, tuple)):
            wrong = f"a {type(value).__name__} is no array: {str(error).partition('. ')[0]}"
            instead = "A number, an array or a tensor is"
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(with_location(f"{name}: {wrong}. {instead} required.")) from None


def known_leaf(name: str, leaf: Any) -> Any:
    """Arrays of other libraries, JAX's among them, as NumPy's, which are computed with in their
    dtype; all else as it is."""
    known = (bool, int, float, np.ndarray, np.generic, LazyTensor)
    if isinstance(leaf, known) or not hasattr(leaf, "__array__"):
        return leaf
    if library_of([leaf]) is not None:
        return leaf
    return as_array(name, leaf)


# In C++ (bindings/knossos_given.cpp, knossos_numbers.cpp). leaves_given(kernel, arguments): the
# numbers, arrays and tensors that arguments consist of. fitted_leaves(name, leaves, kinds): what
# stands for numbers of these kinds, element by element.
leaves_given: Any = _core.knossos.leaves_given
fitted_leaves: Any = _core.knossos.fitted_leaves
# NumPy's numbers in place of arrays that have no axes, in tuples, too.
numbers_without_axes: Any = _core.knossos.numbers_without_axes
_core.provide("knossos_as_array", as_array)
