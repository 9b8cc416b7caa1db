"""torch.autograd.Function in a trace: what forward computes, with the derivative of its backward.

`apply` may have been looked up long before the trace (`swish = Swish.apply`), so it is not the
attribute that is replaced while a trace lasts, but the code of the one function behind all of them.
"""

from __future__ import annotations

import types
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

import composit._core as _core
from composit._core import LazyTensor
from composit.flashlight.active import current
from composit.flashlight.dtypes import numpy_dtype
from composit.flashlight.places import tensors_in
from composit.flashlight.refusals import PARTS_WRITTEN, line_of, refuse
from composit.flashlight.tensor import Tensor
from composit.flashlight.while_traced import WhileTraced

_function: Any = torch.autograd.Function.__dict__["apply"].__func__
_code = _function.__code__
_apply = types.FunctionType(
    _code, _function.__globals__, "apply", _function.__defaults__, _function.__closure__
)


def _replacement() -> Any:
    """Code with as many cells as that of apply has: one, for super()."""
    __class__ = None

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        __class__  # noqa: B018
        from composit.flashlight.functions import applied

        return applied(cls, args, kwargs)

    return apply.__code__


def _begin(is_first: bool) -> None:
    _function.__code__ = _replacement()


def _end() -> None:
    _function.__code__ = _code


# While it lasts, on the thread of a trace functions are traced with their derivatives; on others
# they are what they were.
watching = WhileTraced(_begin, _end)


class Context:
    """What forward leaves for backward; torch's ctx."""

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        self.saved_tensors: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._constant: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Forward mode goes through backward."""

    def mark_dirty(self, *tensors: Any) -> None:
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Gradients that are missing are zeros in any case."""


def applied(cls: Any, args: Any, kwargs: Any) -> Any:
    """What cls.apply gives."""
    tracer = current()
    given = tuple(tensors_in((args, kwargs)))
    if tracer is None or not torch.is_grad_enabled() or not given:
        return _apply(cls, *args, **kwargs)
    if all(tracer.is_constant(tensor) for tensor in given):
        return _apply(cls, *args, **kwargs)
    return _traced(tracer, cls, args, kwargs)


def _traced(tracer: Any, cls: Any, args: Any, kwargs: Any) -> Any:
    is_apart = cls.setup_context is not torch.autograd.Function.setup_context
    if is_apart:
        import inspect

        bound = inspect.signature(cls.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
    needs = tuple(isinstance(x, torch.Tensor) and _is_inexact(x) for x in args)
    context = Context(needs)
    with torch.no_grad():  # as torch calls it
        if is_apart:
            outputs = cls.forward(*args, **kwargs)
            cls.setup_context(context, args, outputs)
        else:
            outputs = cls.forward(context, *args, **kwargs)
    if context._dirty:
        refuse(tracer, f"{cls.__name__}.apply", "an autograd.Function writes its inputs in place.")
    several = outputs if isinstance(outputs, tuple) else (outputs,)
    constant = {id(tensor) for tensor in context._constant}
    places = [
        i
        for i, y in enumerate(several)
        if isinstance(y, torch.Tensor) and id(y) not in constant and _is_inexact(y)
        and not tracer.is_constant(y)
    ]  # fmt: skip
    if not places:
        return outputs
    wanted = [x for x, needed in zip(args, needs) if needed and not tracer.is_constant(x)]
    new = list(several)
    values = [_read(tracer, several[i]) for i in places]
    made = _with_backward(tracer, cls, context, args, wanted, several, places, values)
    for k, i in enumerate(places):
        y = several[i]
        with _disable_current_modes():
            place = tracer.place(y)
            is_shared = any(place.is_in_memory_of(tracer.place(x)) for x in wanted)
        if not is_shared:
            new[i] = tracer.tensor(made[k], _twin(tracer, y))
            continue
        if len(places) > 1:
            refuse(tracer, f"{cls.__name__}.apply", "one of several outputs is an input.")
        seen = _core.numpy.made_of(place, made[k], PARTS_WRITTEN)  # also after later writes
        new[i] = Tensor(tracer, _twin(tracer, y), seen, None, tracer.depth_of(y))
    return tuple(new) if isinstance(outputs, tuple) else new[0]


def _twin(tracer: Any, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor on the device "meta", where no trace sees it being made."""
    with _disable_current_modes():
        return tracer.twin(tensor)


def _read(tracer: Any, tensor: torch.Tensor) -> LazyTensor:
    with _disable_current_modes():
        return tracer.read(tensor)


def _is_inexact(x: torch.Tensor) -> bool:
    return x.is_floating_point() or x.is_complex()


def _with_backward(
    tracer: Any, cls: Any, context: Context, args: Any, wanted: Any, several: Any, places: Any,
    values: list[LazyTensor],
) -> list[LazyTensor]:  # fmt: skip
    """The values, with the derivative that backward computes; where it cannot be traced, with none:
    the error names the function and its line when gradients are asked for."""
    cotangents = [_core.input("gradient", value.dtype, value.shape) for value in values]
    incoming: list[Any] = []
    for i, y in enumerate(several):
        if i in places:
            with _disable_current_modes():
                twin = torch.empty(tuple(y.shape), dtype=y.dtype, device="meta")
            incoming.append(tracer.tensor(cotangents[places.index(i)], twin))
        else:
            incoming.append(torch.zeros_like(y) if isinstance(y, torch.Tensor) else None)
    try:
        with torch.no_grad():
            found = cls.backward(context, *incoming)
            gradients = _gradients(tracer, found, args, wanted)
    except Exception as error:
        message = (
            f"flashlight: {cls.__name__}.backward{line_of()} cannot be traced: "
            f"{str(error).partition(' [')[0]}"
        )
        return [_core.cg.refuse_gradient(value, message) for value in values]
    inputs = [_read(tracer, x) for x in wanted]
    return _core.cg.with_pullback(cls.__name__, inputs, values, cotangents, gradients)


def _gradients(tracer: Any, found: Any, args: Any, wanted: Any) -> list[LazyTensor]:
    """One gradient of each wanted argument, of its shape and dtype."""
    given = found if isinstance(found, (tuple, list)) else (found,)
    if len(given) < len(args) or any(extra is not None for extra in given[len(args) :]):
        raise ValueError(f"{len(given)} gradients for {len(args)} arguments")
    gradients = []
    for x, gradient in zip(args, given):
        if not any(x is each for each in wanted):
            continue
        gradient = torch.zeros_like(x) if gradient is None else gradient
        if tuple(gradient.shape) != tuple(x.shape):
            gradient = gradient.sum_to_size(x.shape)
        value = _read(tracer, gradient.to(x.dtype))
        assert value.dtype == numpy_dtype(x.dtype)
        gradients.append(value)
    return gradients
