"""TensorBase: what tells tensors apart, below all that makes them."""

from __future__ import annotations

from typing import Any

import composit._core as _core


class TensorBase(_core.TensorFields):
    """What Tensor derives from, so that files below it can tell tensors apart."""

    # Fields of a struct of the bindings: None, 0 and False at first, and no _lazy is there.
    _lazy: Any
    _has_lazy: bool
    _seen: Any  # what has its dtype and shape: _like or _lazy
    _record: Any  # a GradFn, the operation that made it on the tape (composit/eager/tape.h)
    _is_leaf_with_grad: bool
    _is_tainted: bool  # its node depends on a leaf, but no gradient goes through it
    _root: Any  # the Tensor this is a view of
    _record_of_root: Any  # when the view was made
    _is_shared: bool  # there were views of it, or its node was given away
    _grad: Any
    _twin: Any  # a reference to the Tensor this was detached from, whose memory it shares
    _twins: Any  # references to those that were detached from this
    _is_pending: bool  # a leaf with a gradient whose node is to be a constant before it is used
    _number: int  # of a view that a function made with others, from 1 on; -1: a view that became
    # a leaf; else 0
    _version: int  # how often its memory was written, also by views of it
    _is_data: bool  # its twin does not count its writes
    _hooks: Any  # of its gradient, where there are some
    _post_hooks: Any
    _trace: Any  # the operations that make its node (composit/torch/steps.py)
    _mark: int  # of the trace in which it has a place
    _place: int  # its number there
    _like: Any  # while it has no node: a placeholder of its dtype and shape

    def __getattr__(self, name: str) -> Any:
        if name == "_lazy":
            trace = self._trace
            if trace is not None:
                trace.build()
                if self._has_lazy:
                    return self._lazy
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
