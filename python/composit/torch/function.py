"""torch.autograd.Function: forward and backward that the user writes, and how gradients go through
them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from composit import nn
from composit import numpy as cnp
from composit._core import with_location
from composit.torch import settling, versions
from composit.torch.calling import TensorBase, is_recorded, record_of, wrapped
from composit.torch.tape import mode, no_grad

_numbers = itertools.count()


class FunctionRecord(list[Any]):
    """The record of a call of a Function: its backward stands between outputs and inputs."""

    def __init__(self, parts: list[Any], function: Any, context: Any) -> None:
        super().__init__(parts)
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
        self._not_differentiable: set[int] = set()
        self._dirty: set[int] = set()
        self._materializes = True
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors for backward, as ctx.saved_tensors."""
        self._saved = tensors
        self._versions = [x._version if isinstance(x, TensorBase) else 0 for x in tensors]

    save_for_forward = save_for_backward

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward was given. RuntimeError where one was written since."""
        for tensor, version in zip(self._saved, self._versions):
            if isinstance(tensor, TensorBase) and tensor._version != version:
                raise RuntimeError(with_location(versions.of_tensor(tensor, version)))
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
        raise RuntimeError(
            with_location(f"{cls.__name__}: a Function is called by {cls.__name__}.apply(...).")
        )


class Function(metaclass=_Callable):
    """The base of functions with a backward of their own: forward(ctx, *args), or forward(*args)
    with setup_context(ctx, inputs, output), and backward(ctx, *grad_outputs), which returns a
    gradient, or None, for each argument of forward."""

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The values; each class has its own."""
        raise NotImplementedError(
            with_location("You must implement the forward function for custom autograd.Function.")
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """What backward needs, where forward is not given ctx."""
        raise NotImplementedError(with_location("setup_context is not implemented."))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments; each class has its own."""
        raise NotImplementedError(
            with_location(
                "You must implement either the backward or vjp method for your custom "
                "autograd.Function to use it with backward mode AD."
            )
        )

    vjp = backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls forward, and records backward."""
        context = FunctionCtx()
        tensors = [value if isinstance(value, TensorBase) else None for value in args]
        recorded = [x for x in tensors if x is not None and is_recorded(x)] if mode.grad else []
        context.needs_input_grad = tuple(
            x is not None and bool(recorded) and is_recorded(x) for x in tensors
        )
        for tensor in recorded:
            if tensor._is_pending:
                settling.settle(tensor)
        with no_grad():
            if cls.setup_context is not Function.setup_context:
                result = cls.forward(*args, **kwargs)
                cls.setup_context(context, args, result)
            else:
                result = cls.forward(context, *args, **kwargs)
        if not recorded:
            return result
        parts = [f"{cls.__name__}Backward", *map(record_of, recorded)]
        record = FunctionRecord(parts, cls, context)
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
            made._value = None
        else:
            made = wrapped(nn.stop_gradient(value._lazy))
            # What backward was to have of the output is the output with its record.
            context.save_for_backward(*(made if x is value else x for x in context._saved))
        made._record, made._is_tainted = record, False
        # The node as it is now, whatever is written into the tensor later.
        record.outputs.append(made._lazy.copied())
        outputs.append(made)
    return outputs[0] if is_one else tuple(outputs)


def chained(
    chain_rule: Callable[..., list[Any]], outputs: list[Any], incoming: list[Any],
    inputs: list[Any], records: list[Any], is_recording: bool,
) -> list[Any]:  # fmt: skip
    """chain_rule through Functions: the latest call first, each is given what flows into its
    outputs, and what it returns flows on from its inputs."""
    calls = sorted(
        (record for record in records if isinstance(record, FunctionRecord)),
        key=lambda record: record.number,
        reverse=True,
    )
    nodes = [node for call in calls for node in call.outputs if node is not None]
    flowing = chain_rule(outputs, incoming, [*inputs, *nodes])
    totals, into = flowing[: len(inputs)], flowing[len(inputs) :]
    place = 0
    for call in calls:
        gradients, count = [], sum(node is not None for node in call.outputs)
        own = iter(into[place : place + count])
        for node in call.outputs:
            gradients.append(None if node is None else wrapped(next(own)))
        place += count
        for tensor in gradients:
            if tensor is not None and is_recording:
                tensor._record = ["GradBackward0", *_sources(call)]
        found = _backward_of(call, gradients, is_recording)
        starts, flows = [], []
        for node, is_needed, gradient in zip(call.nodes, call.context.needs_input_grad, found):
            if is_needed and gradient is not None:
                starts.append(node)
                flows.append(_fitting(call, node, gradient))
                if is_recording and gradient._record is not None:
                    call.append(gradient._record)  # Functions that backward called are found
        rest = [*inputs, *nodes[place:]]
        if starts and rest:
            added = chain_rule(starts, flows, rest)
            totals = [x + y for x, y in zip(totals, added)]
            later = added[len(inputs) :]
            into[place:] = [x + y for x, y in zip(into[place:], later)]
    return totals


def _sources(call: FunctionRecord) -> list[Any]:
    """The records that a gradient of the call's outputs depends on."""
    return [record_of(x) for x in call.inputs if x is not None and is_recorded(x)]


def _backward_of(call: FunctionRecord, gradients: list[Any], is_recording: bool) -> list[Any]:
    if not call.context._materializes:
        gradients = [None if x is not None and _is_zero(x._lazy) else x for x in gradients]
    before, mode.grad = mode.grad, is_recording
    function = call.function
    is_vjp = function.backward is Function.backward and function.vjp is not Function.vjp
    try:
        result = (function.vjp if is_vjp else function.backward)(call.context, *gradients)
    finally:
        mode.grad = before
    found = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(found) < len(call.inputs) or any(x is not None for x in found[len(call.inputs) :]):
        raise RuntimeError(
            with_location(
                f"function {call[0]} returned an incorrect number of gradients (expected "
                f"{len(call.inputs)}, got {len(found)})"
            )
        )
    return found[: len(call.inputs)]


def _is_zero(lazy: Any) -> bool:
    """Whether a gradient is the zeros of what was not used."""
    return bool((cnp.asarray(lazy) == 0).all().evaluated())


def _fitting(call: FunctionRecord, node: Any, gradient: Any) -> Any:
    lazy = gradient._lazy
    if tuple(lazy.shape) != tuple(node.shape):
        raise RuntimeError(
            with_location(
                f"Function {call[0]} returned an invalid gradient: got {list(lazy.shape)} but "
                f"expected shape compatible with {list(node.shape)}"
            )
        )
    return lazy if lazy.dtype == node.dtype else cnp.astype(lazy, node.dtype)


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
