"""Parameter and Buffer: tensors that modules find among their attributes."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import steps
from composit.torch.calling import _made
from composit.torch.tensor import Tensor


class Parameter(Tensor):
    """A tensor that a module learns: modules find it, and it requires a gradient."""

    _is_parameter = True

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if data is None:
            data = _made["Tensor"]()
        steps.interrupt()
        self._lie_in(data, data._lazy.leaf() if requires_grad else data._lazy.alias())
        _core.share_counter(self, data)
        if requires_grad:
            self._begin_as_leaf()


class Buffer(Tensor):
    """A tensor that a module keeps in its state and does not learn."""

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        self._lie_in(data, data._lazy.alias())
        _core.share_counter(self, data)
        self.persistent = persistent


steps.parts.classes = frozenset((Tensor, Parameter, Buffer))
