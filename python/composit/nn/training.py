"""chain_rule: gradients of outputs with respect to inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from composit import _core
from composit._core import LazyTensor
from composit.evaluation import as_tensor


def chain_rule(
    forward_outputs: Mapping[LazyTensor, LazyTensor], inputs: Iterable[LazyTensor]
) -> list[LazyTensor]:
    """Gradients of the inputs for {output: incoming gradient}; an output that maps to itself is a
    loss and gets ones."""
    outputs = list(forward_outputs)
    gradients = [as_tensor(gradient) for gradient in forward_outputs.values()]
    return _core.nn.chain_rule(outputs, gradients, list(inputs))
