"""Derivatives of operators, as graphs: pullbacks and Jacobians."""

from __future__ import annotations

import threading
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor, NotSupported, not_supported, type_error
from composit.cg.promotion import applied
from composit.cg.template import placeholders
from composit.cg.values import described

# Derivatives that operators give are traced when the operators are: where they use the operators
# themselves, up to this order.
ORDERS = 2


class _Tracing(threading.local):
    """The operators whose derivatives are being traced."""

    def __init__(self) -> None:
        self.kinds: list[Any] = []


_tracing = _Tracing()


def place(x: LazyTensor) -> tuple[Any, int]:
    """Where in composit's graph the tensor is."""
    return x.node, x.output_index


def called(operator: Any, tensors: list[LazyTensor]) -> LazyTensor:
    """The operator's call as one node named after it, with its own derivative if it gives one."""
    tensors = _core.cg.strong_operands(tensors)
    parameters = placeholders(operator, [(x.shape, x.dtype) for x in tensors])
    result = _traced(operator, parameters)
    name = operator.short_functional_name
    if not operator._gives_derivative() or not _is_inexact(result):
        return _core.ops.call(name, parameters, [result], tensors)[0]
    cotangent = _core.input("gradient", result.dtype, result.shape)
    kind = type(operator), operator.functional_name
    if _tracing.kinds.count(kind) == ORDERS:
        return _core.cg.refuse_gradient(
            _core.ops.call(name, parameters, [result], tensors)[0],
            f"{operator.functional_name}: a derivative of order {ORDERS + 1}, whose _gradfn uses "
            f"the operator itself. Derivatives up to order {ORDERS} are had; one that follows from "
            "call (no _gradfn) has all orders.",
        )
    _tracing.kinds.append(kind)
    try:
        gradients = [
            _pulled(operator, i, parameters, cotangent, result) for i in range(len(parameters))
        ]
    finally:
        _tracing.kinds.pop()
    return _core.cg.call_with_pullback(name, parameters, [result], [cotangent], gradients, tensors)[
        0
    ]


def _traced(operator: Any, parameters: list[LazyTensor]) -> LazyTensor:
    try:
        made = operator._computed(parameters)
        is_given = any(place(made) == place(x) for x in parameters)
        # A tensor of its own: the node's derivative is not the one of what it was given.
        return cnp.positive(made) if is_given and _is_inexact(made) else made
    except (NotSupported, ValueError) as error:
        if isinstance(error, ValueError) and "placeholder" not in str(error):
            raise
        text = str(error).partition(" [")[0].rstrip(".")
        raise not_supported(
            f"{operator.functional_name}: call cannot be traced: {text}. An operator is a "
            "function of tensors: it may not ask for their values, and uses functions of NumPy "
            "that composit has."
        ) from error


def _is_inexact(tensor: LazyTensor) -> bool:
    return tensor.dtype.kind in "fcV"


def _pulled(
    operator: Any, i: int, parameters: list[LazyTensor], cotangent: LazyTensor, result: LazyTensor
) -> LazyTensor:
    """The part of input i, from the cotangent of the result, by the operator's own derivative."""
    x, inpt = parameters[i], operator.inputs[i]
    if not _is_inexact(x):
        return cnp.zeros(x.shape, x.dtype)
    gradient = operator._gradfn(inpt)
    what = f"_gradfn({inpt.short_name!r})"
    if not callable(gradient):
        raise type_error(
            f"{operator.functional_name}: {what} returned {described(gradient)}. A function of "
            "the operator's inputs is required."
        )
    made = operator._within_trace(gradient, parameters)
    if isinstance(made, (list, tuple)):
        raise type_error(
            f"{operator.functional_name}: the function of {what} returned "
            f"{described(made)}, of type {type(made).__name__}. An array or a number, the "
            "derivative with respect to that input alone, is required."
        )
    local = operator._tensor_of(made, f"the function of {what}")
    if local.dtype.kind == "c" and "c" not in (x.dtype.kind, cotangent.dtype.kind):
        raise type_error(
            f"{operator.functional_name}: the function of {what} returned {local.dtype} for a "
            f"result of {cotangent.dtype} and an input of {x.dtype}. A derivative of real "
            "numbers is required."
        )
    return _core.cg.pulled(operator.functional_name, what, cotangent, local, x)


def local_jacobian(node: Any, child: Any, at: int | None = None) -> LazyTensor:
    """The Jacobian of a node's operator with respect to a child, over all the inputs that it is,
    or as its input `at` alone; what the other children are computed from does not count."""
    operator, children = node.ref, node._children
    taken = operator.taken_as_numbers(node._tensor, [one._tensor for one in children])
    known = {id(children[i]) for i in taken}
    if at is None:
        distinct = list({id(one): one for one in children}.values())
        position = {id(one): i for i, one in enumerate(distinct)}
        places = [position[id(one)] for one in children]
        at = position[id(child)]
    else:
        distinct, places = children, list(range(len(children)))
    given = [one._tensor for one in distinct]

    def compute(tensors: list[LazyTensor]) -> LazyTensor:
        chosen = [tensors[i] for i in places]
        return applied(operator, children, chosen)

    name = child.ref.short_name if hasattr(child.ref, "short_name") else repr(child)
    are_known = [id(one) in known for one in distinct]
    return _core.cg.jacobian_at(compute, given, at, operator.functional_name, name, are_known)
