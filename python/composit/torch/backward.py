"""backward and grad: gradients of leaves by composit's vjp over the graph that was built."""

from __future__ import annotations

import warnings
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._core import (
    GradFn,
    Reaching,
    below,
    check_saved,
    free_records,
    gradients,
    not_implemented,
    runtime_error,
)
from composit.torch import anomaly, barriers, errstate, materializing, recorded_backward, steps
from composit.torch.calling import TensorBase, is_recorded, record_of, wrapped
from composit.torch.places import beside
from composit.torch.tape import is_grad_enabled


def _incoming(output: Any, gradient: Any) -> Any:
    """What flows into an output: what is given, or ones into a scalar."""
    if gradient is not None:
        if tuple(gradient.shape) != tuple(output.shape):
            raise runtime_error(
                f"Mismatch in shape: grad_output[0] has a shape of {gradient.shape} and "
                f"output[0] has a shape of {output.shape}."
            )
        if gradient._is_pending:
            materializing.materialize(gradient)
        return gradient._lazy
    if output.numel() != 1:
        raise runtime_error("grad can be implicitly created only for scalar outputs")
    return cnp.ones(output._lazy.shape, output._lazy.dtype)


def _chained(
    outputs: list[Any], incoming: list[Any], inputs: list[Any], records: list[Any],
    is_recording: bool, is_reached: Any = None,
) -> list[Any]:  # fmt: skip
    """The gradients of tensors, from what flows into the outputs' nodes. Each is a cell of its own,
    also where two are equal: writing into one leaves the others."""
    if barriers.has_barriers(records):
        found = barriers.between(records, is_recording, is_reached)
        more = [x for record in records for x in getattr(record, "nodes", ()) if x is not None]
        made = gradients(_by_graph, outputs, incoming, inputs, records, more, found)
    elif anomaly.is_checking():
        made = gradients(_by_graph, outputs, incoming, inputs, records, [], [])
    else:
        token = errstate.begin()
        try:
            made = gradients(None, outputs, incoming, inputs, records, [], [])
        finally:
            errstate.end(token)
    return [x if x is None else beside(x, to._lazy) for x, to in zip(made, inputs)]


def _by_graph(outputs: list[Any], incoming: list[Any], inputs: list[Any]) -> list[Any]:
    anomaly.check_graph(outputs, incoming, inputs)
    token = errstate.begin()
    try:
        return _core.chain_rule_of_flows(outputs, incoming, inputs)
    finally:
        errstate.end(token)


def _check(output: Any, number: int) -> None:
    if not is_recorded(output):
        raise runtime_error(
            f"element {number} of tensors does not require grad and does not have a grad_fn"
        )


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
    outputs = [tensors] if isinstance(tensors, TensorBase) else list(tensors)
    given = grad_tensors
    if given is None or isinstance(given, TensorBase):
        given = [given] * (1 if given is not None else len(outputs))
    for number, output in enumerate(outputs):
        _check(output, number)
    incoming = [_incoming(output, gradient) for output, gradient in zip(outputs, given)]
    leaves, records = below([record_of(output) for output in outputs])
    if learning is not None:
        learning.see(leaves, records)
    if inputs is not None:
        leaves = [inputs] if isinstance(inputs, TensorBase) else list(inputs)
    is_reached = None if inputs is None else Reaching(leaves)
    check_saved(records, is_reached)
    lazies = [output._lazy for output in outputs]
    found = _chained(lazies, incoming, leaves, records, create_graph, is_reached)
    for leaf, gradient in zip(leaves, found):
        accumulate(leaf, gradient, create_graph, records, outputs)
    if not (create_graph if retain_graph is None else retain_graph):
        free_records(records)
    if learning is not None:
        learning.end()


def accumulate(leaf: Any, gradient: Any, create_graph: bool, records: Any, outputs: Any) -> None:
    """Adds a gradient to a leaf's grad, through its hooks."""
    made = wrapped(gradient, is_gradient=True)
    if create_graph:
        made._record = GradFn("AccumulateGradBackward0", map(record_of, outputs))
    else:
        made._is_tainted = True
    if leaf._hooks is not None:
        made = barriers.hooked(leaf._hooks, made)
    if leaf._grad is None:
        like = leaf if leaf._is_leaf_with_grad else made
        made._lazy = _core.laid_like(made._lazy, like._lazy)
        leaf._grad = made
    elif create_graph:
        leaf._grad = leaf._grad + made
    else:
        total = leaf._grad._lazy + made._lazy
        leaf._grad._lazy.replaced(total)
        leaf._grad._is_tainted = True
        materializing.enter_gradient(leaf._grad)
    if leaf._post_hooks is not None:
        for hook in list(leaf._post_hooks.values()):
            hook(leaf)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
    is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of outputs with respect to inputs, which keep their grad as it is."""
    steps.interrupt()
    if is_grads_batched:
        raise not_implemented("grad: is_grads_batched is not built yet.")
    outs = [outputs] if isinstance(outputs, TensorBase) else list(outputs)
    ins = [inputs] if isinstance(inputs, TensorBase) else list(inputs)
    given = grad_outputs
    if given is None or isinstance(given, TensorBase):
        given = [given] * (1 if given is not None else len(outs))
    for number, output in enumerate(outs):
        _check(output, number)
    for tensor in ins:
        if not is_recorded(tensor):
            raise runtime_error("One of the differentiated Tensors does not require grad")
    incoming = [_incoming(output, gradient) for output, gradient in zip(outs, given)]
    leaves, records = below([record_of(output) for output in outs])
    seen = {id(leaf) for leaf in leaves} | {id(record) for record in records}
    is_reached = Reaching(ins)
    check_saved(records, is_reached)
    lazies = [o._lazy for o in outs]
    found = _chained(lazies, incoming, ins, records, create_graph, is_reached)
    results: list[Any] = []
    for tensor, gradient in zip(ins, found):
        if id(tensor if tensor._is_leaf_with_grad else tensor._record) not in seen:
            if not allow_unused and not materialize_grads:
                raise runtime_error(
                    "One of the differentiated Tensors appears to not have been used in the "
                    "graph. Set allow_unused=True if this is the desired behavior."
                )
            if not materialize_grads:
                results.append(None)
                continue
        made = wrapped(gradient)
        if create_graph and is_grad_enabled():
            flows = [x for x in given if x is not None]
            made._record = GradFn("GradBackward0", map(record_of, [*outs, *flows]))
        else:
            made._is_tainted = True
        if tensor._hooks is not None:
            made = barriers.hooked(tensor._hooks, made)
        results.append(made)
    if not (create_graph if retain_graph is None else retain_graph):
        free_records(records)
    return tuple(results)
