"""torch.nn.utils.parametrizations: weights of a length and a direction, and of spectral norm 1."""

from __future__ import annotations

from typing import Any

from composit._core import value_error
from composit.torch.calling import functions, neural
from composit.torch.nn.module import Module
from composit.torch.nn.utils.parametrize import register_parametrization
from composit.torch.tape import no_grad


def norm_except(x: Any, dim: int | None) -> Any:
    """The norm over all dimensions but one, which stays; over all for None."""
    return functions["norm_except_dim"](x, 2, -1 if dim is None else dim)


def as_matrix(weight: Any, dim: int) -> Any:
    """The weight with one dimension as rows, and all others as columns."""
    moved = weight.movedim(dim, 0)
    return moved.reshape(moved.shape[0], -1)


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """g v / |v|"""
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> Any:
        """(g, v)"""
        return norm_except(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """The weight as a length (original0), for each slice along dim, times a direction
    (original1) (Salimans and Kingma, 2016)."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(self, weight: Any, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        self.dim = dim % weight.ndim
        self.eps, self.n_power_iterations = eps, n_power_iterations
        if weight.ndim > 1:
            matrix = as_matrix(weight, self.dim)
            height, width = matrix.shape
            with no_grad():
                self.register_buffer("_u", self._unit(functions["randn"](height)))
                self.register_buffer("_v", self._unit(functions["randn"](width)))
                self._iterate(matrix.detach(), 15)

    def _unit(self, x: Any) -> Any:
        return neural["normalize"](x, dim=0, eps=self.eps)

    @no_grad()
    def _iterate(self, matrix: Any, count: int) -> None:
        for _ in range(count):
            self._u.copy_(self._unit(functions["mv"](matrix, self._v)))
            self._v.copy_(self._unit(functions["mv"](matrix.T, self._u)))

    def forward(self, weight: Any) -> Any:
        """The weight divided by its largest singular value, which is estimated."""
        if weight.ndim == 1:
            return neural["normalize"](weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / functions["vdot"](u, functions["mv"](matrix, v))

    def right_inverse(self, value: Any) -> Any:
        """The value, which need not have norm 1."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """The weight divided by its largest singular value (Miyato et al., 2018), which steps of power
    iteration estimate, in training one more each time."""
    if n_power_iterations <= 0:
        raise value_error(
            "Expected n_power_iterations to be positive, but got n_power_iterations="
            f"{n_power_iterations}"
        )
    weight = getattr(module, name)
    if dim is None:
        kind = type(module).__name__
        dim = 1 if kind.startswith("ConvTranspose") else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, made)
