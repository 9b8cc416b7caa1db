"""What distributions share: operators of torch by name, broadcasting of parameters, attributes that
are computed when they are first read, conversions of probabilities."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import composit._core as _core
from composit._core import value_error
from composit.torch import calling, dtypes, operations
from composit.torch.tape import enable_grad

assert operations  # what the formulas are made of
torch = SimpleNamespace(**calling.functions)
neural = SimpleNamespace(**calling.neural)

euler_constant = 0.57721566490153286060
log_2pi = math.log(2 * math.pi)


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape. Numbers take the dtype of the first tensor, or
    the default dtype. ValueError for other types."""
    tensors: Any = _core.aten.broadcast_all(values)
    return tensors


def as_tensor(value: Any, **options: Any) -> Any:
    """A tensor as it is; a number as one of a dtype and on a device."""
    return value if hasattr(value, "_version") else torch.tensor(float(value), **options)


def sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[: value.dim() - dim], -1)).sum(-1)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities of logits: by sigmoid, or by softmax over the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def clamp_probs(probs: Any) -> Any:
    """Probabilities in [eps, 1 - eps], eps being the dtype's."""
    eps = dtypes.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Logits of probabilities, which are clamped first: log-odds, or logarithms."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The elements on and below a diagonal, row by row: (..., D, D) to (..., D (D + 1) / 2) for the
    main one."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise value_error(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = torch.tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """The inverse of tril_matrix_to_vec: zeros elsewhere."""
    count = vec.shape[-1]
    n = (
        -(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5
    ) / 2
    if round(n) - n > 1e-6 or round(n) - n < -1e-6:
        raise value_error(
            f"The size of last dimension is {count} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    size = round(n)
    rows, columns = torch.tril_indices(size, size, diag)
    flat = vec.new_zeros((*vec.shape[:-1], size * size))
    places = (rows * size + columns).expand(vec.shape)
    return flat.scatter(-1, places, vec).reshape((*vec.shape[:-1], size, size))


class lazy_property:
    """An attribute that is computed when it is first read, with gradients, and kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return _Shown(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.wrapped.__name__] = value
        return value


class _Shown(property):
    """What a lazy_property is on its class."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        super().__init__(wrapped)


def uniform_inside(shape: Any, like: Any) -> Any:
    """Draws in (0, 1), whose ends are left out: [0, 1) clamped to the smallest normal number."""
    drawn = torch.rand(shape, dtype=like.dtype, device=like.device)
    return drawn.clamp(min=dtypes.finfo(like.dtype).tiny)


def standard_normal(shape: Any, like: Any) -> Any:
    """Draws of mean 0 and deviation 1, of the dtype and the device of a tensor."""
    return torch.randn(shape, dtype=like.dtype, device=like.device)
