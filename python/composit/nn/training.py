"""chain_rule: gradients of outputs with respect to inputs; functions that end them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit._mismatch import wrong
from composit.evaluation import as_tensor


def chain_rule(
    forward_outputs: Mapping[LazyTensor, LazyTensor], inputs: Iterable[LazyTensor]
) -> list[LazyTensor]:
    """Gradients of the inputs for {output: incoming gradient}; an output that maps to itself is a
    loss and gets ones."""
    if not isinstance(forward_outputs, Mapping):
        raise TypeError(wrong(forward_outputs, "A mapping from outputs to incoming gradients"))
    outputs = list(forward_outputs)
    gradients = [as_tensor(gradient) for gradient in forward_outputs.values()]
    read: Any = _core.nn.read_by(inputs, outputs)
    return _core.nn.chain_rule(outputs, gradients, read)


def stop_gradient(x: Any) -> LazyTensor:
    """x, through which no gradient flows (torch's detach): its derivative is zero."""
    return _core.nn.stop_gradient(x)


def gradient_where(condition: Any, x: Any) -> LazyTensor:
    """x, through which gradients flow where the condition (bool, of a shape that broadcasts to x's)
    holds; elsewhere they become zeros, whatever they are, NaN too. So a choice between two
    computations, `where(c, f(gradient_where(c, x)), g(gradient_where(~c, x)))`, has the derivative
    of the one that is chosen, where the other's is infinite too.

    TypeError for another dtype of the condition, ValueError for its shape."""
    return _core.nn.gradient_where(condition, x)


def with_values(x: Any, values: Any) -> LazyTensor:
    """Values, through which the gradients of x flow, and none of their own: x after its memory was
    written behind the back of whoever differentiates.

    TypeError unless both have one dtype, ValueError unless they have one shape."""
    return _core.nn.with_values(x, values)
