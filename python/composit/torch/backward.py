"""backward and grad: gradients of leaves by composit's vjp over the graph that was built."""

from __future__ import annotations

import warnings
from typing import Any

import composit._core as _core
from composit._core import (
    Reaching,
    below,
    check_saved,
    free_records,
    gradients,
    not_implemented,
    runtime_error,
)
from composit.torch import anomaly, recorded_backward, steps
from composit.torch.calling import TensorBase, is_recorded, record_of
from composit.torch.function import Function, FunctionRecord
from composit.torch.tape import is_grad_enabled


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Adds to the leaves' grad the gradients of the tensors. grad_variables is an older name of
    grad_tensors."""
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise runtime_error(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    steps.check_not_capturing("it takes gradients")
    is_plain = isinstance(tensors, TensorBase) and inputs is None
    is_plain = is_plain and (grad_tensors is None or isinstance(grad_tensors, TensorBase))
    is_plain = is_plain and not retain_graph and not create_graph and not anomaly.is_checking()
    trace: Any = steps.open_trace() if is_plain else None
    learning = None
    if trace is None or tensors._mark != trace.mark:
        steps.interrupt()
    else:
        learning = recorded_backward.begin(trace, tensors, grad_tensors)
        if learning is None:
            return
    outputs, _, incoming = _core.flows_into(tensors, grad_tensors)
    leaves, records = below([record_of(output) for output in outputs])
    if learning is not None:
        learning.see(leaves, records)
    if inputs is not None:
        leaves = [inputs] if isinstance(inputs, TensorBase) else list(inputs)
    is_reached = None if inputs is None else Reaching(leaves)
    check_saved(records, is_reached)
    lazies = [output._lazy for output in outputs]
    found = gradients(
        lazies, incoming, leaves, records, create_graph, is_reached, anomaly.is_checking()
    )
    for leaf, gradient in zip(leaves, found):
        accumulate(leaf, gradient, create_graph, outputs)
    if not (create_graph if retain_graph is None else retain_graph):
        free_records(records)
    if learning is not None:
        learning.end()


# accumulate(leaf, gradient, create_graph, outputs): adds a gradient to a leaf's grad, through its
# hooks.
accumulate = _core.accumulate
_core.provide("check_function_gradients", anomaly.check_function)
_core.provide("autograd_function", Function)
_core.provide("function_record", FunctionRecord)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
    is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of outputs with respect to inputs, which keep their grad as it is."""
    steps.interrupt()
    if is_grads_batched:
        raise not_implemented("grad: is_grads_batched is not built yet.")
    outs, given, incoming = _core.flows_into(outputs, grad_outputs)
    ins = [inputs] if isinstance(inputs, TensorBase) else list(inputs)
    for tensor in ins:
        if not is_recorded(tensor):
            raise runtime_error("One of the differentiated Tensors does not require grad")
    leaves, records = below([record_of(output) for output in outs])
    is_reached = Reaching(ins)
    check_saved(records, is_reached)
    lazies = [o._lazy for o in outs]
    found = gradients(
        lazies, incoming, ins, records, create_graph, is_reached, anomaly.is_checking()
    )
    flows = None
    if create_graph and is_grad_enabled():
        flows = [*outs, *(x for x in given if x is not None)]
    results = _core.gradients_given(
        ins, found, [*leaves, *records], flows, bool(allow_unused), materialize_grads
    )
    if not (create_graph if retain_graph is None else retain_graph):
        free_records(records)
    return results
