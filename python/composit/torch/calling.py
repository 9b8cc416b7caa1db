"""How a function over LazyTensors becomes one of torch's: over Tensors, recorded where a gradient
is wanted, as a function of the module and as a method."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit._core import is_recorded as is_recorded
from composit._core import record_of as record_of
from composit.torch import (
    casting,
    keywords,
    materializing,
    places,
    saved_values,
    steps,
    writing,
)  # fmt: skip
from composit.torch.dtypes import Size, check_device, device
from composit.torch.tensor_base import TensorBase as TensorBase

functions: dict[str, Any] = {}  # torch.NAME
methods: dict[str, Any] = {}  # Tensor.NAME
neural: dict[str, Any] = {}  # torch.nn.functional.NAME


_made: dict[str, Any] = {}  # the class Tensor, set by composit/torch/tensor.py


def wrapped(lazy: LazyTensor, is_gradient: bool = False) -> Any:
    """A Tensor of a LazyTensor."""
    tensor = _new(_made["Tensor"])
    tensor._lazy = lazy
    (materializing.enter_gradient if is_gradient else materializing.enter)(tensor)
    return tensor


_new = object.__new__


def laid_as(lazy: Any, input: Any) -> Any:
    """In memory where its axes follow each other as the tensor's do, which has the same shape."""
    like = input._seen
    return lazy if like.is_contiguous_in(False) else _core.laid_in_order_of(lazy, like)


_drawing = ("composit.torch.functions.random", "composit.flashlight.operators.random")


# Classes of operands that are no Tensors: what a function of torch does with them.
others: dict[type, Callable[[str, tuple[Any, ...], dict[str, Any]], Any]] = {}

pure: set[Any] = set()  # functions that are one object for ever and draw nothing


def call(
    function: Callable[..., Any], name: str, is_view: bool, args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """The function's result over Tensors."""
    if casting.state.dtype is not None:

        def again(*args: Any, **kwargs: Any) -> Any:
            return call(function, name, is_view, args, kwargs)

        made = casting.called(name, again, args, kwargs)
        if made is not NotImplemented:
            return made
    made = _core.follow(function, args, kwargs)
    if made is not NotImplemented:
        return made
    return call_unknown(function, name, is_view, args, kwargs)


# call_unknown(function, name, is_view, args, kwargs): the result of a function that was not met at
# this point of the trace (bindings/torch_operations.cpp).
call_unknown = _core.call_unknown
# In C++ (bindings/torch_calls.cpp): call_now(function, name, is_view, args, kwargs) is a function's
# result over Tensors, with nodes. read(tensor) notes what the leaf holds that a recorded operation
# reads.
call_now = _core.call_now
read = _core.note_read
as_views = _core.as_views
of_its_own = _core.of_its_own


def lifted(function: Callable[..., Any], name: str, is_view: bool = False) -> Any:
    """The function over Tensors that `call` makes, for calls without further work."""

    def unknown(*args: Any, **kwargs: Any) -> Any:
        return call_unknown(function, name, is_view, args, kwargs)

    return _core.TorchFunction(function, unknown)


def define(
    function: Callable[..., Any], name: str, *, is_view: bool = False, is_function: bool = True,
    is_method: bool = True, is_neural: bool = False, is_inplace: bool = False,
    doc: str | None = None, order: str | None = None,
) -> Any:  # fmt: skip
    """Makes a function over LazyTensors one of torch's, under a name. Its results lie in memory in
    row-major order (`order` "rows"), with their axes as those of the first operand ("first"), or
    as composit/eager/operation_strides.h says."""
    if order is not None:
        _core.set_order_of_results(function, order)

    over_tensors = lifted(function, name, is_view)
    functools.update_wrapper(over_tensors, function)
    if function.__module__ not in _drawing:
        pure.add(function)
    over_tensors.__name__ = over_tensors.__qualname__ = name
    over_tensors.__module__ = "composit.torch"
    over_tensors.__doc__ = doc or function.__doc__ or f"torch's {name}."
    enter(name, over_tensors, is_function, is_method, is_neural, is_inplace)
    return over_tensors


def enter(
    name: str, over_tensors: Any, is_function: bool = True, is_method: bool = True,
    is_neural: bool = False, is_inplace: bool = False,
) -> None:  # fmt: skip
    """Puts a function over Tensors where it is found."""
    if is_function:
        functions[name] = over_tensors
    if is_neural:
        neural[name] = over_tensors
    if is_method:
        methods[name] = over_tensors
    if is_inplace:
        methods[f"{name}_"] = writing.inplace(over_tensors, name)
        if is_function:
            functions[f"{name}_"] = methods[f"{name}_"]


def torch_function(
    *names: str, is_view: bool = False, is_function: bool = True, is_method: bool = True,
    is_neural: bool = False, is_inplace: bool = False, order: str | None = None,
) -> Callable[[Any], Any]:  # fmt: skip
    """Makes a function over LazyTensors these functions and methods of torch."""

    def add(function: Any) -> Any:
        for name in names or (function.__name__.strip("_"),):
            define(function, name, is_view=is_view, is_function=is_function, is_method=is_method,
                   is_neural=is_neural, is_inplace=is_inplace, order=order)  # fmt: skip
        return function

    return add


def method(function: Any) -> Any:
    """Makes a function over Tensors a method of torch's, under its own name."""
    methods[function.__name__] = function
    return function


def as_device(value: Any) -> Any:
    """A device, checked."""
    check_device(value)
    return value if isinstance(value, device) else device(value)


steps.parts.materializing = materializing
_core.provide("other_operands", others)
_core.provide("pure_functions", pure)
_core.provide("renamed_arguments", keywords.renamed)
_core.provide("torch_call", call)
_core.provide("torch_functions", functions)
_core.provide("torch_methods", methods)
_core.provide("torch_size", Size)
_core.provide("check_device", check_device)
_core.provide("joined_places", places.joined)
_core.provide("transfer_between_devices", places.transfer)
_core.provide("save_operation", saved_values.save)
