"""torch.nn.utils.parametrizations: weights of a length and a direction, of spectral norm 1, and
orthogonal ones (composit/aten/orthogonal.h)."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import not_implemented, value_error
from composit.torch import dtypes
from composit.torch.calling import define, functions, neural
from composit.torch.nn.module import Module
from composit.torch.nn.utils.parametrize import register_parametrization
from composit.torch.tape import no_grad

_modules = _core.modules  # composit.torch's modules in C++


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

    def _iterate(self, matrix: Any, count: int) -> None:
        _modules.iterate_power(functions, neural, matrix.T, self._v, self._u, count, self.eps)

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
    _modules.check_count_of_iterations(n_power_iterations)
    rows_of = _modules.dimension_of_rows(module, dim)
    made = _SpectralNorm(getattr(module, name), n_power_iterations, rows_of, eps)
    return register_parametrization(module, name, made)


def _orthogonal_of(x: Any, orthogonal_map: str) -> Any:
    return _core.aten.orthogonal(x, orthogonal_map)


def _householder_form(q: Any) -> Any:
    return _core.aten.householder_form(q)


def _nearest_orthogonal(a: Any) -> Any:
    return _core.aten.nearest_orthogonal(a)


_here: dict[str, Any] = {"is_function": False, "is_method": False}
orthogonal_of = define(_orthogonal_of, "orthogonal", **_here)
householder_form = define(_householder_form, "householder_form", **_here)
nearest_orthogonal = define(_nearest_orthogonal, "nearest_orthogonal", **_here)


def _upright(x: Any, like: Any) -> Any:
    """x, turned where the other one has fewer rows than columns."""
    return x.mT if like.size(-2) < like.size(-1) else x


class _Orthogonal(Module):
    """A matrix, or a batch of them, whose shorter side's vectors are orthonormal. With a `base` the
    result is the base times the map's, so that the map begins at the identity."""

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        """The orthogonal matrix."""
        made = orthogonal_of(_upright(X, X), self.orthogonal_map)
        if "base" in self._buffers:
            made = self.base @ made
        return _upright(made, X)

    def _check(self, shape: Any) -> None:
        if shape != self.shape:
            raise value_error(
                f"Expected a matrix or batch of matrices of shape {self.shape}. "
                f"Got a tensor of shape {shape}."
            )
        if "base" not in self._buffers and self.orthogonal_map != "householder":
            raise not_implemented(
                "It is not possible to assign to the matrix exponential "
                "or the Cayley parametrizations when use_trivialization=False."
            )

    @no_grad()
    def right_inverse(self, Q: Any) -> Any:
        """What gives Q, or the orthogonal matrix of its QR factors."""
        self._check(Q.shape)
        tall = _upright(Q, Q)
        if "base" not in self._buffers:
            return _upright(householder_form(tall), Q)
        precision = dtypes.finfo(Q.dtype).eps
        self.base = _modules.orthogonal_base(functions, nearest_orthogonal, tall, precision)
        # The maps have the identity here, Householder's by the signs of its diagonal.
        return -functions["eye"](*Q.shape[-2:], dtype=Q.dtype, device=Q.device).expand(Q.shape)


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *,
    use_trivialization: bool = True,
) -> Any:  # fmt: skip
    """The weight as an orthogonal (unitary) matrix, by "matrix_exp", "cayley" or "householder";
    unless given, the first of square and complex ones, the last of others. use_trivialization keeps
    the matrix that there was as a buffer. ValueError: what is no matrix, or another map."""
    weight = getattr(module, name, None)
    orthogonal_map = _modules.orthogonal_map(module, name, weight, orthogonal_map)
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
