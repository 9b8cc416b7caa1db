"""backward and grad: gradients of leaves by composit's vjp over the graph that was built
(bindings/tape_gradients.cpp)."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import not_implemented
from composit.torch import anomaly, recorded_backward, steps
from composit.torch.function import Function, FunctionRecord


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Adds to the leaves' grad the gradients of the tensors. grad_variables is an older name of
    grad_tensors."""
    _core.backward(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
    is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of outputs with respect to inputs, which keep their grad as it is."""
    if is_grads_batched:
        raise not_implemented("grad: is_grads_batched is not built yet.")
    return _core.grad(
        outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
    )


_core.provide("autograd_function", Function)
_core.provide("backward_operation", recorded_backward.operation)
_core.provide("check_function_gradients", anomaly.check_function)
_core.provide("check_not_capturing", steps.check_not_capturing)
_core.provide("function_record", FunctionRecord)
_core.provide("gradients_are_checked", anomaly.is_checking)
