"""torch.nn.utils: gradients clipped, parameters as one vector, parametrisations,
sequences of different lengths."""

from __future__ import annotations

from typing import Any

from composit.torch.calling import TensorBase, functions
from composit.torch.nn.utils import parametrizations, parametrize, rnn
from composit.torch.tape import no_grad

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "get_total_norm", "parameters_to_vector",
    "parametrizations", "parametrize", "remove_spectral_norm", "remove_weight_norm", "rnn",
    "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip


def _gradients(parameters: Any) -> list[Any]:
    found: list[Any] = [parameters] if isinstance(parameters, TensorBase) else list(parameters)
    return [x.grad for x in found if x.grad is not None]


@no_grad()
def get_total_norm(tensors: Any, norm_type: float = 2.0, **_: Any) -> Any:
    """The norm of all tensors' elements."""
    norms = [tensor.norm(norm_type) for tensor in tensors]
    return functions["stack"](norms).norm(norm_type) if norms else functions["tensor"](0.0)


@no_grad()
def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:  # fmt: skip
    """Scales the gradients so that the norm of all is at most max_norm; the norm before."""
    gradients = _gradients(parameters)
    norm = get_total_norm(gradients, float(norm_type))
    if error_if_nonfinite and not bool(norm.isfinite()):
        raise RuntimeError("clip_grad_norm_: the norm of the gradients is not finite.")
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor)
    return norm


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Keeps each element of the gradients within clip_value of 0."""
    for gradient in _gradients(parameters):
        gradient.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Any) -> Any:
    """All elements in one dimension."""
    return functions["cat"]([x.reshape(-1) for x in parameters])


@no_grad()
def vector_to_parameters(vec: Any, parameters: Any) -> None:
    """Gives parameters the elements of one vector."""
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.copy_(vec[start : start + count].reshape(parameter.shape))
        start += count


_hooked_norms = ("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm")


def __getattr__(name: str) -> Any:
    """What loads when it is first used."""
    if name not in _hooked_norms:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from composit.torch.nn.utils import hooked_norms

    return getattr(hooked_norms, name)
