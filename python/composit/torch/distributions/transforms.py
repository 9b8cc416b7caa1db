"""Transforms of values with the logarithms of their Jacobians' determinants."""

from __future__ import annotations

import math
from typing import Any

from composit._core import value_error
from composit.torch import dtypes, linalg
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
    neural,
    torch,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
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
        kept = len(shape) - len(from_shape)
        if kept < 0:
            raise value_error("Too few dimensions on input")
        if tuple(shape[kept:]) != tuple(from_shape):
            raise value_error(
                f"Shape mismatch: expected {tuple(shape[kept:])} but got {tuple(from_shape)}"
            )
        return tuple(shape[:kept]) + tuple(to_shape)

    def forward_shape(self, shape: Any) -> Any:
        return self._shape(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._shape(shape, self.out_shape, self.in_shape)


class ExpTransform(_Same):
    """y = exp(x)."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """y = x ** exponent, for positive x."""

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

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def _shape(self, shape: Any) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    forward_shape = inverse_shape = _shape


class SigmoidTransform(_Same):
    """y = 1 / (1 + exp(-x)), and the logit as its inverse."""

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        numbers = dtypes.finfo(x.dtype)
        return x.sigmoid().clamp(min=numbers.tiny, max=1.0 - numbers.eps)

    def _inverse(self, y: Any) -> Any:
        numbers = dtypes.finfo(y.dtype)
        y = y.clamp(min=numbers.tiny, max=1.0 - numbers.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -neural.softplus(-x) - neural.softplus(x)


class SoftplusTransform(_Same):
    """y = log(1 + exp(x))."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return neural.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -neural.softplus(-x)


class TanhTransform(_Same):
    """y = tanh(x)."""

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - neural.softplus(-2.0 * x))


class AbsTransform(_Same):
    """y = |x|."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """y = loc + scale * x."""

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

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        scale: Any = self.scale
        if isinstance(scale, TensorBase):
            found: Any = scale
            result = found.abs().log()
        else:
            result = torch.full_like(x, math.log(abs(scale)))
        shape = x.shape
        if self.event_dim:
            result = result.reshape((*result.shape[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

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

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = torch.tanh(x)
        eps = dtypes.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        # What is left of each row's length 1 after its earlier elements.
        left = (1 - r * r).sqrt().cumprod(-1)
        r = r + torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * neural.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = 1 - torch.cumsum(y * y, -1)
        shifted = neural.pad(left[..., :-1], [1, 0], value=1)
        vector = tril_matrix_to_vec(y, diag=-1)
        t = vector / tril_matrix_to_vec(shifted, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        left = 1 - (y * y).cumsum(-1)
        of_rows = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        of_tanh = -2 * (x + neural.softplus(-2 * x) - math.log(2.0)).sum(-1)
        return of_rows + of_tanh

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise value_error("Too few dimensions on input")
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise value_error("Input is not a flattened lower-diagonal number")
        return (*tuple(shape[:-1]), size, size)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise value_error("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise value_error("Input is not square")
        size = shape[-1]
        return (*tuple(shape[:-2]), size * (size - 1) // 2)


class SoftmaxTransform(_Same):
    """y = softmax(x) over the last dimension; the inverse is the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def _shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise value_error("Too few dimensions on input")
        return shape

    forward_shape = inverse_shape = _shape


class StickBreakingTransform(_Same):
    """n numbers as n + 1 probabilities: each takes a fraction of what is left."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        count = x.shape[-1]
        offset = count + 1 - torch.ones(count, dtype=x.dtype, device=x.device).cumsum(-1)
        z = torch.sigmoid(x - offset.log())
        left = (1 - z).cumprod(-1)
        return neural.pad(z, [0, 1], value=1) * neural.pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        count = cropped.shape[-1]
        offset = y.shape[-1] - torch.ones(count, dtype=y.dtype, device=y.device).cumsum(-1)
        left = (1 - cropped.cumsum(-1)).clamp(min=dtypes.finfo(y.dtype).tiny)
        return cropped.log() - left.log() + offset.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        count = x.shape[-1]
        offset = count + 1 - torch.ones(count, dtype=x.dtype, device=x.device).cumsum(-1)
        moved = x - offset.log()
        return (-moved + neural.logsigmoid(moved) + y[..., :-1].log()).sum(-1)

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

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Same):
    """Matrices as positive definite ones, by their Cholesky factors."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


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
