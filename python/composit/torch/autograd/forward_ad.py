"""torch.autograd.forward_ad: tangents that go along with values (bindings/torch_jacobians.cpp).

A dual tensor is a tensor of the tape whose tangent a level remembers. The tangent of what is
computed of it is the derivative of its gradient by the gradient that is asked for, which is the
product of the Jacobian and the tangents: no operation needs a rule of its own for it."""

from __future__ import annotations

from typing import Any, NamedTuple

import composit._core as _core
from composit.torch.function import Function

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]  # fmt: skip

_jacobians: Any = _core.jacobians


class UnpackedDualTensor(NamedTuple):
    """A dual tensor's two parts; the tangent is None where nothing has one."""

    primal: Any
    tangent: Any


class _Same(Function):
    """The primal as a tensor of the tape of its own."""

    _tangents_by_backward = True

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """The values."""
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The gradient as it comes."""
        return gradients[0]


def enter_dual_level() -> int:
    """Begins a level, in which tensors have tangents; one at a time."""
    _jacobians.enter_dual_level()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level: no tensor has a tangent any more."""
    _jacobians.exit_dual_level()


class dual_level:
    """A with block that is a level."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """The tensor with a tangent of its shape and dtype. It is recorded, as what is computed of it
    is, also where the tensor requires no gradient."""
    return _jacobians.make_dual(tensor, tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent. NotImplementedError for what was computed of a dual tensor under
    no_grad, of which the tape knows nothing."""
    return UnpackedDualTensor(*_jacobians.unpack_dual(tensor))


_core.provide("dual_of_recorded", _Same.apply)
