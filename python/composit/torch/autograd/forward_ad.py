"""torch.autograd.forward_ad: tangents that go along with values.

A dual tensor is a tensor of the tape whose tangent a level remembers. The tangent of what is
computed of it is the derivative of its gradient by the gradient that is asked for, which is the
product of the Jacobian and the tangents: no operation needs a rule of its own for it."""

from __future__ import annotations

from typing import Any, NamedTuple

from composit._core import not_implemented, runtime_error, value_error
from composit.torch import tape
from composit.torch.backward import grad
from composit.torch.calling import functions, is_recorded
from composit.torch.function import Function
from composit.torch.tensor import Tensor

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]  # fmt: skip


class UnpackedDualTensor(NamedTuple):
    """A dual tensor's two parts; the tangent is None where nothing has one."""

    primal: Any
    tangent: Any


_duals: list[tuple[Any, Any]] = []  # of the level: the dual tensor, and its tangent
_is_entered = [False]


class _Same(Function):
    """The primal as a tensor of the tape of its own."""

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
    if _is_entered[0]:
        raise runtime_error("Nested forward mode AD is not supported at the moment")
    _is_entered[0] = True
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level: no tensor has a tangent any more."""
    if not _is_entered[0]:
        raise runtime_error("Trying to exit a forward AD level but no level is entered.")
    _is_entered[0] = False
    _duals.clear()


class dual_level:
    """A with block that is a level."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """The tensor with a tangent of its shape and dtype. It is recorded, as what is computed of it
    is, also where the tensor requires no gradient."""
    if not _is_entered[0]:
        raise runtime_error(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, one in (("tensor", tensor), ("tangent", tangent)):
        if not (one.is_floating_point() or one.is_complex()):
            what = "primal" if name == "tensor" else name
            raise value_error(
                f"Expected {what} to be floating point or complex, but got: {one.dtype}"
            )
    if tensor.shape != tangent.shape or tensor.dtype != tangent.dtype:
        raise runtime_error(
            f"make_dual: the tangent is {tangent.dtype}{list(tangent.shape)} for "
            f"{tensor.dtype}{list(tensor.shape)}. The same is required."
        )
    if unpack_dual(tensor).tangent is not None:
        raise runtime_error("make_dual: the tensor has a tangent already. One without is required.")
    with tape.enable_grad():
        dual = _Same.apply(tensor) if is_recorded(tensor) else tensor.detach().requires_grad_()
    _duals.append((dual, tangent))
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent. NotImplementedError for what was computed of a dual tensor under
    no_grad, of which the tape knows nothing."""
    if not _is_entered[0] or not isinstance(tensor, Tensor):
        return UnpackedDualTensor(tensor, None)
    known = next((tangent for dual, tangent in _duals if dual is tensor), None)
    if known is not None:
        return UnpackedDualTensor(_primal(tensor), known)
    if not is_recorded(tensor):
        if tensor._is_tainted and _duals and tensor.is_floating_point():
            raise not_implemented(
                "unpack_dual: the tensor was computed under no_grad, where tangents are not "
                "built. Recording (enable_grad) is required."
            )
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(_primal(tensor), _tangent(tensor))


def _primal(tensor: Any) -> Any:
    """The value, with its gradient by what is outside of the level."""
    return tensor if _is_of_others(tensor, [dual for dual, _ in _duals]) else tensor.detach()


def _tangent(tensor: Any) -> Any:
    with tape.enable_grad():
        duals = [dual for dual, _ in _duals]
        if not duals:
            return None
        asked = functions["zeros_like"](tensor).requires_grad_()
        gradients = grad(tensor, duals, asked, create_graph=True, allow_unused=True)
        met = [
            (gradient, tangent)
            for gradient, (_, tangent) in zip(gradients, _duals)
            if gradient is not None
        ]
        if not met:
            return None
        linear = [(g, tangent) for g, tangent in met if g.requires_grad]
        if not linear:
            return functions["zeros_like"](tensor.detach())
        is_outer = any(tangent.requires_grad for _, tangent in linear)
        (made,) = grad(
            [g for g, _ in linear], asked, [tangent for _, tangent in linear],
            create_graph=True, allow_unused=True,
        )  # fmt: skip
    if made is None:
        return functions["zeros_like"](tensor.detach())
    return made if is_outer or _is_of_others(made, duals) else made.detach()


def _is_of_others(tensor: Any, duals: list[Any]) -> bool:
    """Whether a gradient of a tensor may go further than the level's own tensors."""
    return tensor.requires_grad and any(not dual.is_leaf for dual in duals)
