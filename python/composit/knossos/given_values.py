"""What kernels are called with and give back: numbers, arrays and tensors."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from composit._core import LazyTensor, not_supported, type_error, with_location
from composit._libraries import library_of
from composit._masked import refuse_masked
from composit.knossos.annotations import all_leaves, taken_apart
from composit.knossos.frames import skip_frames_of
from composit.knossos.short_floats import is_floating


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


def leaves_given(kernel: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """The numbers, arrays and tensors that arguments of a kernel consist of. TypeError where they
    do not fit the annotations."""
    structures = kernel.parameter_structures
    leaves: list[Any] = []
    if len(arguments) < len(structures) and kernel._source is not None:
        kernel.procedure()  # which refuses defaults that are no numbers
        arguments = tuple(kernel._source.with_defaults(arguments))
    arguments = _with_left_out(kernel, arguments)
    try:
        if kernel._whole is not None:
            arguments = taken_apart(kernel._whole, arguments, len(structures))
        if len(arguments) == len(structures):
            for name, structure, argument in zip(_names(kernel), structures, arguments):
                leaves += structure.numbers(argument, name)
            return leaves
    except (TypeError, AttributeError) as error:
        raise type_error(f"{kernel.__name__}: {error}, as the annotation says.") from None
    kernel.procedure()  # what no kernel has, as arguments by name only, is refused first
    raise type_error(
        f"{kernel.__name__}: got {len(arguments)} arguments. {len(structures)} are required."
    )


def _with_left_out(kernel: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a derivative, among them those that the function has defaults for and that
    were left out: how many stand before the gradients or tangents says which. A tangent that was
    left out with its argument is 0."""
    function: Any = kernel._made_of[1] if kernel._made_of and kernel._source is None else None
    defaults = {} if getattr(function, "_source", None) is None else function._source.defaults
    counts = {len(kernel.parameter_structures), len(kernel._whole or kernel.parameter_structures)}
    if not defaults or len(arguments) in counts:
        return arguments
    is_jvp, own = kernel._made_of[2] == "jvp", function.parameter_structures
    whole = function._whole or own
    values = list(defaults.values())
    for full, count in ((len(kernel._whole or ()), len(whole)),
                        (len(kernel.parameter_structures), len(all_leaves_of(own)))):  # fmt: skip
        for left in range(1, len(values) + 1):
            floats = sum(each.kind == "float" for each in all_leaves_of(own)[-left:])
            tangents = floats if is_jvp else 0
            if len(arguments) == full - left - tangents:
                place = count - left
                return (*arguments[:place], *values[-left:], *arguments[place:],
                        *[0.0] * tangents)  # fmt: skip
    return arguments


def all_leaves_of(structures: list[Any]) -> list[Any]:
    return [leaf for each in structures for leaf in all_leaves(each)]


def _names(kernel: Any) -> Iterator[str]:
    """What errors call the arguments, in order."""
    function = getattr(kernel, "__wrapped__", None)
    if function is not None:
        yield from function.__code__.co_varnames[: function.__code__.co_argcount]
    yield from (f"argument {i}" for i in itertools.count())  # of derivatives and of text


def numbers_without_axes(made: Any) -> Any:
    """NumPy's numbers in place of arrays that have no axes."""
    if isinstance(made, tuple):
        return tuple(numbers_without_axes(each) for each in made)
    return made[()] if made.ndim == 0 else made


def check_given(name: str, leaves: list[Any]) -> None:
    """TypeError for arrays whose masks, and lists of tensors whose gradients would be lost."""
    if any(isinstance(leaf, (list, tuple, np.ma.MaskedArray)) for leaf in leaves):
        refuse_masked(leaves, f"{name}: an argument")
        _check_lists(name, leaves)


def _check_lists(name: str, leaves: list[Any]) -> None:
    """TypeError for lists of tensors that require gradients."""
    waiting = [leaf for leaf in leaves if isinstance(leaf, (list, tuple))]
    while waiting:
        for part in waiting.pop():
            if isinstance(part, (list, tuple)):
                waiting.append(part)
            elif getattr(part, "requires_grad", False):
                raise type_error(
                    f"{name}: an argument is a list of tensors that require gradients, which "
                    "would be lost. One tensor is required: torch.stack(x)."
                )


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


def check_leaf(name: str, leaf: Any) -> None:
    if isinstance(leaf, (bool, int, float, list)) or hasattr(leaf, "dtype"):
        return
    if hasattr(leaf, "__array__"):
        return
    raise type_error(f"{name}: {leaf!r} is no number. A number, an array or a tensor is required.")


def check_size(name: str, value: Any, kind: str) -> None:
    """OverflowError for an integer of Python that numbers of the kind do not hold."""
    if type(value) is not int or -(2**63) <= value < 2**63:
        return
    if kind == "float":
        with contextlib.suppress(OverflowError):
            float(value)
            return
    dtype = "float64" if kind == "float" else "int64"
    raise OverflowError(
        with_location(
            f"{name}: an integer of {value.bit_length()} bits stands for {kind}, and does not fit "
            f"in {dtype}, which is required."
        )
    )


def fitted_leaves(name: str, leaves: list[Any], kinds: list[str]) -> list[Any]:
    """What stands for numbers of these kinds, element by element. Integers and truths where floats
    are wanted are float64 unless there are arrays of floats, whose dtype they take, as in NumPy."""
    for leaf, kind in zip(leaves, kinds):
        check_leaf(name, leaf)
        check_size(name, leaf, kind)
    leaves = [as_array(name, leaf) if isinstance(leaf, list) else leaf for leaf in leaves]
    has_floats = any(isinstance(leaf, (np.ndarray, LazyTensor)) and leaf.dtype.kind in "fV"
                     and leaf.ndim for leaf in leaves)  # fmt: skip
    return [_fitted(name, *each, has_floats) for each in zip(leaves, kinds)]


def _fitted(name: str, leaf: Any, kind: str, has_floats: bool) -> Any:
    if not isinstance(leaf, (np.ndarray, np.generic, LazyTensor)):
        return leaf
    check_kind(name, kind, leaf.dtype, "an array" if leaf.ndim else "a number")
    if kind == "float" and leaf.dtype.kind in "iub":
        return leaf if has_floats else leaf.astype("float64")
    return checked_integers(name, leaf) if kind == "int" else leaf


def check_kind(name: str, kind: str, given: Any, what: str = "an array") -> None:
    """TypeError where elements of a dtype stand for numbers of a kind that they are none of."""
    is_float = kind == "float" and is_floating(given)
    if not is_float and given.kind not in ("b" if kind == "bool" else "biu"):
        wanted = "Real numbers are" if given.kind == "c" else "Elements of that type are"
        raise type_error(
            f"{name}: {what} of dtype {given} stands for one of {kind}. {wanted} required."
        )


def checked_integers(name: str, array: Any) -> Any:
    """The array, whose integers must fit in int64. OverflowError for others."""
    if array.dtype != np.uint64:
        return array
    largest = np.iinfo("int64").max
    if isinstance(array, LazyTensor):
        raise type_error(
            f"{name}: a tensor of dtype uint64 stands for int. Integers that fit in int64 are "
            "required (astype)."
        )
    if (array > largest).any():
        raise OverflowError(
            with_location(
                f"{name}: {array.max()} stands for int, and does not fit in int64, which is "
                "required."
            )
        )
    return array.astype("int64")
