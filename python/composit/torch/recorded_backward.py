"""backward() as an operation of a trace (composit/torch/steps.py)."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.torch import errstate, recording, steps
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


_backward = _Backward()


def _is_plain(leaf: Any) -> bool:
    return leaf._grad is None and leaf._hooks is None and leaf._post_hooks is None


def begin(trace: Trace, output: Any, gradient: Any) -> Any:
    """None where all was done; else what learns from the call that is made with nodes."""
    parts: list[Any] = [_backward, steps.place(output._place), _core.site()]
    operands: list[Any] = [parts[1]]
    if gradient is None and output._seen.size != 1:
        trace.is_open = False  # it is an error
    elif gradient is not None and (
        gradient._is_tainted
        or not trace.encode(gradient, parts, operands)
        or tuple(gradient.shape) != tuple(output.shape)
        or gradient.dtype != output.dtype
        or trace.records[gradient._place] is not None
    ):
        steps.interrupt()
    key = tuple(parts)
    if not trace.is_open:
        trace.build()
        return _Learning(trace, output, key, operands, None)
    state = trace.state.ways.get(key)
    if state is None or trace.is_built:
        trace.build()
        return _Learning(trace, output, key, operands, state)
    tensors = trace.tensors
    for number in state.leaves:
        if not _is_plain(tensors[number]):
            steps.interrupt()
            return _Learning(trace, output, key, operands, None)
    trace.add(state)
    _core.make_gradients(trace, state, state.leaves, state.freed)
    return None


class _Learning:
    """A backward() that is made with nodes, in a trace."""

    def __init__(
        self, trace: Trace, output: Any, key: Any, operands: Any, state: State | None
    ) -> None:
        self.operands = tuple(operands)
        self.trace, self.output, self.key, self.state = trace, output, key, state
        # Until it has ended well nothing can follow.
        self.is_open, trace.is_open = trace.is_open, False

    def see(self, leaves: list[Any], records: list[Any]) -> None:
        """What the walk over records found, before anything changes."""
        trace = self.trace
        places = {id(record): number for number, record in enumerate(trace.records)
                  if record is not None}  # fmt: skip
        self.is_open = self.is_open and bool(leaves) and all(
            x._mark == trace.mark and x._is_leaf_with_grad and _is_plain(x) for x in leaves
        )  # fmt: skip
        self.is_open = self.is_open and all(id(record) in places for record in records)
        self.leaves = leaves
        if self.is_open:
            self.freed = [places[id(record)] for record in records]

    def end(self) -> None:
        """The gradients were made: they are the operation's results."""
        trace = self.trace
        if not self.is_open or steps.current() is not trace:
            return
        state = self.state
        if state is None:
            state = steps.learn(trace.state, self.key, (_backward, self.key[2]), self._learnt)
            if state is None:
                return
        elif state.leaves != [leaf._place for leaf in self.leaves]:
            return
        first = trace.add(state)
        trace.is_open = True
        recording.register(trace, first, [leaf._grad for leaf in self.leaves])

    def _learnt(self) -> State:
        trace, state = self.trace, steps.new_state()
        state.leaves = [leaf._place for leaf in self.leaves]
        state.freed = self.freed
        state.operation, state.operands, state.line = _backward, self.operands, self.key[2]
        state.is_gradient = True
        recording.meet_leaves(trace, state)
        token = errstate.begin()
        try:
            state.results = _backward.over(state, trace.symbols() + state.stands)
        finally:
            errstate.end(token)
        return state
