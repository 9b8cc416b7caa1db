"""backward() as an operation of a trace (composit/torch/steps.py)."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.torch.places import beside
from composit.torch.steps import State, Trace


class _Backward:
    """The gradients of an output with respect to the leaves that a state names."""

    def over(self, state: State, lazies: Any) -> list[LazyTensor]:
        """The gradients, of an output's, its gradient's and leaves' LazyTensors."""
        output, *given = [lazies[stands.number] for stands in state.operands]
        one = given[0] if given else cnp.ones(output.shape, output.dtype)
        leaves = [lazies[number] for number in state.leaves]
        # Each is a cell of its own, also where two are equal.
        found = _core.nn.chain_rule([output], [one], leaves)
        made: list[Any] = [_core.laid_like(beside(x, leaf), leaf) for x, leaf in zip(found, leaves)]
        return made

    def replay(self, trace: Trace, state: State) -> list[LazyTensor]:
        """The results, made from the trace's nodes."""
        return self.over(state, trace.lazies)


operation = _Backward()
