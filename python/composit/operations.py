"""Operations of one's own, written with NumPy: wrap_as_operation, and its older names."""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

import composit._core as _core
from composit import _opaque, _public_names
from composit._core import LazyTensor, NotSupported, not_supported, type_error
from composit._mismatch import wrong
from composit.evaluation import as_tensor, check_function
from composit.numpy.manipulation import astype


def _parameter_names(function: Any, count: int) -> list[str]:
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return [names[i] if i < len(names) else f"x{i}" for i in range(count)]


def _trace(function: Any, name: str, parameters: list[LazyTensor], call: Any) -> Any:
    try:
        return call(*parameters)
    except (NotSupported, ValueError) as error:
        if isinstance(error, ValueError) and "placeholder" not in str(error):
            raise
        # The line within the function says more than that of the call.
        line = re.search(r"( \[[^\[\]]+:\d+\])?$", str(error))[0]  # type: ignore[index]
        text = str(error).removesuffix(line)
        raise not_supported(
            f"wrap_as_operation: {name} cannot be traced: {text.rstrip('.')}. Operations "
            "on the arguments must be functions of NumPy that composit has, and may not ask "
            f"for their values.{line}"
        ) from error


def wrap_as_operation(*, opaque: bool = False, result: Any = None) -> Any:
    """A decorator: calls of the function become one node named after it. The function's NumPy code
    is traced into a graph, so that the node differentiates and compiles like any other.

        @wrap_as_operation()
        def relu(x):
            return np.maximum(x, 0)

    With `opaque=True` the function is not looked into: each evaluation calls it, with NumPy arrays
    (copies) of the operands. `result` says what it returns: (shape, dtype), a list of such pairs
    for several results, or a function of the operands that returns these. The function has to
    return the same for the same operands. The node runs in compiled programs; it has no derivative
    and no batch (NotSupported), and cannot be exported as C++.

        @wrap_as_operation(opaque=True, result=lambda x: (x.shape[:1], np.int64))
        def lengths(x):
            return [len(np.trim_zeros(row)) for row in x]
    """
    if not opaque and result is not None:
        raise type_error(
            "wrap_as_operation: `result` without opaque=True. Only opaque operations have to "
            "be told."
        )

    def decorate(function: Any) -> Any:
        check_function("wrap_as_operation", function)
        if opaque:
            return _opaque.operation(function, result)

        @functools.wraps(function)
        def operation(*operands: Any, **attributes: Any) -> Any:
            return _call(function, operands, attributes)

        return operation

    return decorate


def _call(function: Any, operands: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    name = function.__name__
    # Python scalars stay what they are inside, weak; everything else becomes a parameter.
    is_operand = [not isinstance(x, (bool, int, float, str, type(None))) for x in operands]
    if not any(is_operand):
        is_operand = [isinstance(x, (bool, int, float)) for x in operands]
    tensors = [as_tensor(x) for x, chosen in zip(operands, is_operand) if chosen]
    names = _parameter_names(function, len(operands))
    chosen_names = [name for name, chosen in zip(names, is_operand) if chosen]
    parameters = [_core.input(n, t.dtype, t.shape) for n, t in zip(chosen_names, tensors)]

    def call(*inside: LazyTensor) -> Any:
        rest = iter(inside)
        arguments = [next(rest) if chosen else x for x, chosen in zip(operands, is_operand)]
        return function(*arguments, **attributes)

    made = _trace(function, name, parameters, call)
    several = isinstance(made, (tuple, list))
    results = [as_tensor(result) for result in (made if several else [made])]
    outputs = _core.ops.call(name, parameters, results, tensors)
    return tuple(outputs) if several else outputs[0]


def create_numpy_compute_function(name: str) -> Any:
    """composit.numpy's function of that name."""
    if not isinstance(name, str):
        raise TypeError(wrong(name, "A name of composit.numpy"))
    try:
        return _public_names.find("composit.numpy", name)
    except AttributeError:
        raise AttributeError(wrong(name, "A name of composit.numpy")) from None


create_numpy_binary_compute_function = create_numpy_compute_function


def create_numpy_concatenate_function() -> Any:
    """composit.numpy.concatenate"""
    return create_numpy_compute_function("concatenate")


def create_from_numpy_compute_operation(
    *operands: Any, operation: Any, dtype_to_override: Any = None
) -> Any:
    """The node for a callable that runs NumPy operations, traced as by wrap_as_operation."""
    check_function("create_from_numpy_compute_operation", operation)
    if not hasattr(operation, "__name__"):
        operation = functools.wraps(type(operation).__call__)(operation)
        operation.__name__ = type(operation).__name__
    result = wrap_as_operation()(operation)(*operands)
    if dtype_to_override is None:
        return result
    return astype(result, dtype_to_override)


def get_operands(graph: Any, node: Any) -> list[tuple[Any, int]]:
    """(node, output index) of each operand of a node."""
    if not hasattr(node, "operand_nodes"):
        raise TypeError(wrong(node, "A node of a graph"))
    return list(node.operand_nodes)
