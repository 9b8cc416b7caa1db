"""torch.autograd.Function: forward and backward that the user writes, and how gradients go through
them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import composit._core as _core
from composit._core import not_implemented, runtime_error
from composit.torch.calling import TensorBase
from composit.torch.tape import no_grad

_numbers = itertools.count()


class FunctionMet(Exception):
    """A Function is called in a graph that is being differentiated, which knows no backward."""


class FunctionRecord(_core.GradFn):
    """The record of a call of a Function: its backward stands between outputs and inputs."""

    def __init__(self, name: str, operands: Any, function: Any, context: Any) -> None:
        self.function, self.context = function, context
        self.number = next(_numbers)
        self.inputs: list[Any]  # the arguments: tensors, and None for others
        self.nodes: list[Any]  # of the arguments that are tensors, as they were
        self.outputs: list[Any]  # of each output the node, or None where it has no gradient
        self.zeros: list[Any]  # what backward is given of tensors that have none
        self.has_tangents = False  # its results have those of its jvp


class FunctionCtx:
    """What forward leaves for backward."""

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()
        self._versions: list[int] = []
        self._saved_for_forward: tuple[Any, ...] = ()
        self._results: list[Any] = []
        self._not_differentiable: set[int] = set()
        self._dirty: set[int] = set()
        self._materializes = True
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors for backward, as ctx.saved_tensors."""
        self._saved = tensors
        self._versions = [x._version if isinstance(x, TensorBase) else 0 for x in tensors]

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps tensors for jvp, as ctx.saved_tensors."""
        self._saved_for_forward = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward was given. RuntimeError where one was written since."""
        for tensor, version in zip(self._saved, self._versions):
            if isinstance(tensor, TensorBase) and tensor._version != version:
                raise runtime_error(_core.changed_value(tensor, version))
        return self._saved

    def mark_non_differentiable(self, *args: Any) -> None:
        """Outputs through which no gradient goes."""
        self._not_differentiable = {id(tensor) for tensor in args}

    def mark_dirty(self, *args: Any) -> None:
        """Inputs that forward wrote into, and returns."""
        self._dirty = {id(tensor) for tensor in args}

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward is given zeros (True) or None for outputs nobody used."""
        self._materializes = bool(value)


class _Callable(type):
    """Function is called by apply."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise runtime_error(f"{cls.__name__}: a Function is called by {cls.__name__}.apply(...).")


class Function(metaclass=_Callable):
    """The base of functions with a backward of their own: forward(ctx, *args), or forward(*args)
    with setup_context(ctx, inputs, output), and backward(ctx, *grad_outputs), which returns a
    gradient, or None, for each argument of forward. For torch.func's forward mode jvp(ctx,
    *tangents) returns a tangent for each result, for its vmap vmap(info, in_dims, *args) results
    and their dimensions; generate_vmap_rule = True makes that of the others."""

    generate_vmap_rule = False
    _tangents_by_backward = False  # jvp is not asked for tangents: backward is linear

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The values; each class has its own."""
        raise not_implemented(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """What backward needs, where forward is not given ctx."""
        raise not_implemented("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments; each class has its own."""
        raise not_implemented(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the results; each class has its own."""
        raise not_implemented(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The results over a dimension of the arguments, and theirs; each class has its own."""
        raise not_implemented(
            "To use autograd.Function with vmap, you must either override the vmap "
            "staticmethod or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls forward, and records backward."""
        return _core.apply_function(cls, args, kwargs)


class InplaceFunction(Function):
    """A Function under the name that those had which write their inputs (mark_dirty says that)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """A backward through which no gradient goes: what it returns is detached."""

    @functools.wraps(function)
    def backward(ctx: Any, *args: Any) -> Any:
        with no_grad():
            result = function(ctx, *args)
        several = result if isinstance(result, tuple) else (result,)
        made = tuple(x.detach() if isinstance(x, TensorBase) else x for x in several)
        return made if isinstance(result, tuple) else made[0]

    return backward


class VmapInfo(NamedTuple):
    """What a Function's vmap is told."""

    batch_size: int
    randomness: str


_core.provide("function_context", FunctionCtx)
_core.provide("function_met", FunctionMet)
_core.provide("vmap_info", VmapInfo)
