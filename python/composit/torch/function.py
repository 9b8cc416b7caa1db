"""torch.autograd.Function: forward and backward that the user writes, and how gradients go through
them."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import composit._core as _core
from composit import nn
from composit._core import not_implemented, runtime_error
from composit.torch.calling import TensorBase, is_recorded, read, record_of, wrapped
from composit.torch.tape import is_grad_enabled, no_grad

_numbers = itertools.count()


class FunctionMet(Exception):
    """A Function is called in a graph that is being differentiated, which knows no backward."""


class _Graphs(threading.local):
    # What a call of a Function is in them; composit.torch.function_rules provides it.
    call_by_rules: ClassVar[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]]
    depth = 0  # of transforms of torch.func that differentiate graphs
    ruled = 0  # of those in which a call of a Function is a node with its rules
    made = 0  # such calls
    randomness = "error"  # of the vmap around


graphs = _Graphs()


class FunctionRecord(_core.GradFn):
    """The record of a call of a Function: its backward stands between outputs and inputs."""

    def __init__(self, name: str, operands: Any, function: Any, context: Any) -> None:
        self.function, self.context = function, context
        self.number = next(_numbers)
        self.inputs: list[Any] = []  # the arguments: tensors, and None for others
        self.nodes: list[Any] = []  # of the arguments that are tensors, as they were
        self.outputs: list[Any] = []  # of each output the node, or None where it has no gradient


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
        if graphs.ruled:
            return _Graphs.call_by_rules(cls, args, kwargs)
        if graphs.depth:
            raise FunctionMet
        context = FunctionCtx()
        tensors = [value if isinstance(value, TensorBase) else None for value in args]
        recorded = (
            [x for x in tensors if x is not None and is_recorded(x)] if is_grad_enabled() else []
        )
        context.needs_input_grad = tuple(
            x is not None and bool(recorded) and is_recorded(x) for x in tensors
        )
        for tensor in recorded:
            read(tensor)
        with no_grad():
            if cls.setup_context is not Function.setup_context:
                result = cls.forward(*args, **kwargs)
                cls.setup_context(context, args, result)
            else:
                result = cls.forward(context, *args, **kwargs)
        if not recorded:
            return result
        operands = map(record_of, recorded)
        record = FunctionRecord(f"{cls.__name__}Backward", operands, cls, context)
        record.inputs = list(tensors)
        record.nodes = [None if x is None else x._lazy.copied() for x in tensors]
        return _recorded(record, result, context)


def _recorded(record: FunctionRecord, result: Any, context: FunctionCtx) -> Any:
    """The result with the record; each output has a node of its own, where gradients stop."""
    is_one = not isinstance(result, (tuple, list))
    outputs = []
    for value in [result] if is_one else result:
        is_tensor = isinstance(value, TensorBase)
        is_left_out = not is_tensor or id(value) in context._not_differentiable
        if is_left_out or value._lazy.dtype.kind not in "fcV":
            outputs.append(value)
            record.outputs.append(None)
            continue
        if id(value) in context._dirty:
            made = value
            made._lazy.replaced(nn.stop_gradient(made._lazy))
        else:
            made = wrapped(nn.stop_gradient(value._lazy))
            # What backward was to have of the output is the output with its record.
            context.save_for_backward(*(made if x is value else x for x in context._saved))
        made._record, made._is_tainted = record, False
        # The node as it is now, whatever is written into the tensor later.
        record.outputs.append(made._lazy.copied())
        outputs.append(made)
    return outputs[0] if is_one else tuple(outputs)


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
        made = tuple(None if x is None else x.detach() for x in several)
        return made if isinstance(result, tuple) else made[0]

    return backward
