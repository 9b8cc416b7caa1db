"""Transforms of values with the logarithms of their Jacobians' determinants."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import value_error
from composit.torch import dtypes
from composit.torch.calling import TensorBase
from composit.torch.distributions import constraints
from composit.torch.distributions.composed_transforms import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    StackTransform,
    Transform,
    _Same,
    identity_transform,
)
from composit.torch.distributions.utils import (
    broadcast_all,
    lazy_property,
    torch,
)


class ReshapeTransform(Transform):
    """Another shape of the last dimensions."""

    _made_of = ("in_shape", "out_shape")

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = dtypes.Size(in_shape), dtypes.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise value_error("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """Real, with the dimensions of in_shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Real, with the dimensions of out_shape."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def _shape(self, shape: Any, from_shape: Any, to_shape: Any) -> Any:
        return _core.aten.reshaped_event(tuple(shape), tuple(from_shape), tuple(to_shape))

    def forward_shape(self, shape: Any) -> Any:
        return self._shape(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._shape(shape, self.out_shape, self.in_shape)


class ExpTransform(_Same):
    """y = exp(x)."""

    _formulas = "exp"

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1


class PowerTransform(Transform):
    """y = x ** exponent, for positive x."""

    _formulas = "power"

    _made_of = ("exponent",)

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @lazy_property
    def sign(self) -> Any:  # type: ignore[override]
        """The exponent's."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(
            self.exponent.eq(other.exponent).all().item()
        )

    __hash__ = object.__hash__

    def _shape(self, shape: Any) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    forward_shape = inverse_shape = _shape


class SigmoidTransform(_Same):
    """y = 1 / (1 + exp(-x)), and the logit as its inverse."""

    _formulas = "sigmoid"

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1


class SoftplusTransform(_Same):
    """y = log(1 + exp(x))."""

    _formulas = "softplus"

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1


class TanhTransform(_Same):
    """y = tanh(x)."""

    _formulas = "tanh"

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1


class AbsTransform(_Same):
    """y = |x|."""

    _formulas = "abs"

    domain = constraints.real
    codomain = constraints.positive


class AffineTransform(Transform):
    """y = loc + scale * x."""

    _formulas = "affine"

    _made_of = ("loc", "scale", "event_dim")

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """How many dimensions are transformed together."""
        return self._event_dim

    def _constraint(self) -> Any:
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Real."""
        return self._constraint()

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """Real."""
        return self._constraint()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform)
            and _are_equal(self.loc, other.loc)
            and _are_equal(self.scale, other.scale)
        )

    __hash__ = object.__hash__

    @property
    def sign(self) -> Any:
        """The scale's."""
        if isinstance(self.scale, TensorBase):
            scale: Any = self.scale
            return scale.sign()
        return 1 if float(self.scale) > 0 else -1 if float(self.scale) < 0 else 0

    def _shape(self, shape: Any) -> Any:
        return torch.broadcast_shapes(
            shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())
        )

    forward_shape = inverse_shape = _shape


def _are_equal(a: Any, b: Any) -> bool:
    is_equal: Any = a == b
    return bool(is_equal.all()) if isinstance(is_equal, TensorBase) else bool(is_equal)


class CorrCholeskyTransform(Transform):
    """A vector of D (D - 1) / 2 numbers as the Cholesky factor of a correlation matrix of D rows,
    by partial correlations tanh(x), row by row."""

    _formulas = "corr_cholesky"

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def forward_shape(self, shape: Any) -> Any:
        return _core.aten.matrices_of_below(tuple(shape))

    def inverse_shape(self, shape: Any) -> Any:
        return _core.aten.below_of_matrices(tuple(shape))


class SoftmaxTransform(_Same):
    """y = softmax(x) over the last dimension; the inverse is the logarithm."""

    _formulas = "softmax"

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise value_error("Too few dimensions on input")
        return shape

    forward_shape = inverse_shape = _shape


class StickBreakingTransform(_Same):
    """n numbers as n + 1 probabilities: each takes a fraction of what is left."""

    _formulas = "stick_breaking"

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise value_error("Too few dimensions on input")
        return (*tuple(shape[:-1]), shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise value_error("Too few dimensions on input")
        return (*tuple(shape[:-1]), shape[-1] - 1)


class LowerCholeskyTransform(_Same):
    """Matrices as lower triangular ones with a positive diagonal, its exp."""

    _formulas = "lower_cholesky"

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky


class PositiveDefiniteTransform(_Same):
    """Matrices as positive definite ones, by their Cholesky factors."""

    _formulas = "positive_definite"

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite


class CumulativeDistributionTransform(Transform):
    """y = the distribution's cdf at x."""

    _made_of = ("distribution",)

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The distribution's support."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)


__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform",
    "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip
