"""Gradients clipped by the norm of all of them, or each element by its magnitude."""

from __future__ import annotations

import types
from typing import Any
from warnings import warn

import composit._core as _core
from composit._core import runtime_error
from composit.torch import operations
from composit.torch.calling import TensorBase, functions
from composit.torch.tape import no_grad

assert operations  # what the formulas are made of


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, TensorBase) else list(tensors)


def _gradients(parameters: Any) -> list[Any]:
    return [x.grad for x in _listed(parameters) if x.grad is not None]


def _total_norm(tensors: list[Any], order: float) -> Any:
    return _core.aten.total_norm(tensors, order) if tensors else functions["tensor"](0.0)


def _check_finite(total: Any, norm_type: float) -> None:
    if not bool(total.isfinite()):
        raise runtime_error(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )


@no_grad()
def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:  # fmt: skip
    """The norm of all tensors' elements. RuntimeError, if it is wished, for one that is not
    finite."""
    total = _total_norm(_listed(tensors), float(norm_type))
    if error_if_nonfinite:
        _check_finite(total, float(norm_type))
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Scales the gradients, whose norm is total_norm, so that it is at most max_norm."""
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in _gradients(parameters):
        gradient.mul_(factor.to(gradient.device))


@no_grad()
def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:  # fmt: skip
    """Scales the gradients so that the norm of all is at most max_norm; the norm before."""
    given = _listed(parameters)
    if isinstance(parameters, types.GeneratorType) and not given:
        warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3)
    norm = get_total_norm(_gradients(given), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, norm)
    return norm


def clip_grad_norm(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:  # fmt: skip
    """clip_grad_norm_, whose old name this is. Deprecated in PyTorch."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning, stacklevel=2,
    )  # fmt: skip
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Keeps each element of the gradients within clip_value of 0."""
    for gradient in _gradients(parameters):
        gradient.clamp_(-float(clip_value), float(clip_value))
