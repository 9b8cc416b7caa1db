"""Parameter and Buffer: tensors that modules find among their attributes; and those whose shape is
not known yet."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import runtime_error
from composit.torch import steps
from composit.torch.calling import _made, functions
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


class UninitializedTensorMixin:
    """What tensors without a shape have: `materialize` gives them one, and makes them ordinary."""

    cls_to_become: Any
    is_uninitialized = True

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Gives it a shape, and other devices and dtypes; it has zeros then."""
        object.__setattr__(self, "__class__", self.cls_to_become)
        self.data = functions["zeros"](
            tuple(shape), device=self.device if device is None else device,
            dtype=self.dtype if dtype is None else dtype,
        )  # fmt: skip

    @property
    def shape(self) -> Any:
        """RuntimeError: there is none."""
        raise runtime_error(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(functions["zeros"](0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer whose shape is not known yet."""

    cls_to_become = Tensor

    def __init__(
        self, requires_grad: bool = False, device: Any = None, dtype: Any = None,
        persistent: bool = True,
    ) -> None:  # fmt: skip
        made = functions["zeros"](0, device=device, dtype=dtype)
        super().__init__(made, persistent=persistent)
        if requires_grad:
            self.requires_grad_()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


def is_lazy(param: Any) -> bool:
    """Whether its shape is not known yet."""
    return isinstance(param, UninitializedTensorMixin)


_core.provide("torch_parameter", Parameter)
_core.provide("torch_buffer", Buffer)
