"""Distributions of vectors and matrices: normal, Wishart's, Lewandowski, Kurowicka and Joe's."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from composit._core import value_error
from composit.torch import dtypes, linalg
from composit.torch.distributions import constraints
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.positive import Beta
from composit.torch.distributions.utils import (
    lazy_property,
    log_2pi,
    neural,
    standard_normal,
    torch,
)
from composit.torch.dtypes import Size
from composit.torch.tape import no_grad


def _batch_mv(matrices: Any, vectors: Any) -> Any:
    return torch.matmul(matrices, vectors.unsqueeze(-1)).squeeze(-1)


def _mahalanobis(factor: Any, x: Any) -> Any:
    """The squared length of factor^-1 x, of batches that broadcast."""
    solved = linalg.solve_triangular(factor, x.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def _precision_to_scale_tril(precision: Any) -> Any:
    """The Cholesky factor of the inverse, by the Cholesky factor of the flipped matrix."""
    flipped = linalg.cholesky(torch.flip(precision, (-2, -1)))
    upper = torch.transpose(torch.flip(flipped, (-2, -1)), -2, -1)
    identity = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return linalg.solve_triangular(upper, identity.expand(precision.shape), upper=False)


def _log_diagonal(factor: Any) -> Any:
    """The sum of the logarithms of the diagonal."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _given_of(names: tuple[str, ...], values: tuple[Any, ...]) -> tuple[str, Any]:
    given = [(name, value) for name, value in zip(names, values) if value is not None]
    if len(given) != 1:
        raise value_error(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    return given[0]


_FORMS = ("covariance_matrix", "precision_matrix", "scale_tril")


class _ByCovariance:
    """A matrix, given as itself, as its inverse or as its Cholesky factor."""

    _unbroadcasted_scale_tril: Any
    _batch_shape: Size
    _event_shape: Size

    def _matrix(self, x: Any) -> Any:
        size = self._event_shape[-1]
        return x.expand((*self._batch_shape, size, size))

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return self._matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._matrix(torch.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _factor_of(self, name: str, value: Any) -> Any:
        if name == "scale_tril":
            return value
        if name == "covariance_matrix":
            return linalg.cholesky(value)
        return _precision_to_scale_tril(value)


class MultivariateNormal(_ByCovariance, Distribution):
    """The normal distribution of vectors, of a mean and a covariance, a precision or a Cholesky
    factor."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True
    _event_dims: ClassVar[dict[str, int]] = {
        "loc": 1,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
    }

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise value_error("loc must be at least one-dimensional.")
        name, given = _given_of(_FORMS, (covariance_matrix, precision_matrix, scale_tril))
        if given.dim() < 2:
            raise value_error(
                f"{name} matrix must be at least two-dimensional, with optional leading batch "
                "dimensions"
                if name == "scale_tril"
                else f"{name} must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        shape = Size(torch.broadcast_shapes(given.shape[:-2], loc.shape[:-1]))
        self.__dict__[name] = given.expand(shape + given.shape[-2:])
        self.loc = loc.expand(shape + loc.shape[-1:])
        super().__init__(shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = self._factor_of(name, given)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        squared = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squared.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        noise = standard_normal(shape, self.loc)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        factor = self._unbroadcasted_scale_tril
        length = _mahalanobis(factor, value - self.loc)
        return -0.5 * (self._event_shape[0] * log_2pi + length) - _log_diagonal(factor)

    def entropy(self) -> Any:
        half = _log_diagonal(self._unbroadcasted_scale_tril)
        found = 0.5 * self._event_shape[0] * (1.0 + log_2pi) + half
        return found if len(self._batch_shape) == 0 else found.expand(self._batch_shape)


def _capacitance_factor(factor: Any, diagonal: Any) -> Any:
    """The Cholesky factor of 1 + W^T D^-1 W."""
    rank = factor.size(-1)
    scaled = factor.mT / diagonal.unsqueeze(-2)
    identity = torch.eye(rank, dtype=factor.dtype, device=factor.device)
    return linalg.cholesky(torch.matmul(scaled, factor).contiguous() + identity)


def _low_rank_log_determinant(diagonal: Any, capacitance: Any) -> Any:
    return 2 * _log_diagonal(capacitance) + diagonal.log().sum(-1)


def _low_rank_mahalanobis(factor: Any, diagonal: Any, x: Any, capacitance: Any) -> Any:
    """x^T (W W^T + D)^-1 x, by Woodbury's identity."""
    projected = _batch_mv(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - _mahalanobis(capacitance, projected)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution whose covariance is cov_factor cov_factor^T + diag(cov_diag)."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True
    _event_dims: ClassVar[dict[str, int]] = {"loc": 1, "cov_factor": 2, "cov_diag": 1}

    def __init__(
        self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise value_error("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise value_error(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if cov_factor.shape[-2:-1] != event_shape:
            raise value_error(
                f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m"
            )
        if cov_diag.shape[-1:] != event_shape:
            raise value_error(
                f"cov_diag must be a batch of vectors with shape {tuple(event_shape)}"
            )
        try:
            shape = Size(
                torch.broadcast_shapes(
                    loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
                )
            )  # fmt: skip
        except RuntimeError as error:
            raise value_error(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand(shape + event_shape)
        self.cov_factor = cov_factor.expand(shape + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(shape + event_shape)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _capacitance_factor(cov_factor, cov_diag)
        super().__init__(shape, event_shape, validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:  # type: ignore[override]
        """The diagonal of the covariance."""
        found = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return found.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        found = torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag)
        return found.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        half = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        found = torch.diag_embed(diagonal.reciprocal()) - torch.matmul(half.mT, half)
        return found.expand(self._batch_shape + self._event_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        inner = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        own = standard_normal(shape, self.loc)
        return (
            self.loc
            + _batch_mv(self._unbroadcasted_cov_factor, inner)
            + self._unbroadcasted_cov_diag.sqrt() * own
        )

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        factor, diagonal = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        difference = value - self.loc
        length = _low_rank_mahalanobis(factor, diagonal, difference, self._capacitance_tril)
        determinant = _low_rank_log_determinant(diagonal, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * log_2pi + determinant + length)

    def entropy(self) -> Any:
        determinant = _low_rank_log_determinant(
            self._unbroadcasted_cov_diag, self._capacitance_tril
        )
        found = 0.5 * (self._event_shape[0] * (1.0 + log_2pi) + determinant)
        return found if len(self._batch_shape) == 0 else found.expand(self._batch_shape)


class Wishart(_ByCovariance, ExponentialFamily):
    """The sum of `df` outer products of normal vectors with themselves."""

    arg_constraints: ClassVar[Any] = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(0),
    }  # fmt: skip
    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _event_dims: ClassVar[dict[str, int]] = {
        "df": 0,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
    }

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        name, given = _given_of(_FORMS, (covariance_matrix, precision_matrix, scale_tril))
        if given.dim() < 2:
            raise value_error(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if not hasattr(df, "_version"):
            df = torch.tensor(float(df), dtype=given.dtype, device=given.device)
        shape = Size(torch.broadcast_shapes(given.shape[:-2], df.shape))
        event_shape = given.shape[-2:]
        if (df <= event_shape[-1] - 1).any():
            raise value_error(
                f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}."
            )
        self.df = df.expand(shape)
        self.__dict__[name] = given.expand(shape + event_shape)
        self.arg_constraints = {  # type: ignore[misc]
            **type(self).arg_constraints, "df": constraints.greater_than(event_shape[-1] - 1)
        }  # fmt: skip
        super().__init__(shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_scale_tril = self._factor_of(name, given)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new.arg_constraints = self.arg_constraints

    @property
    def mean(self) -> Any:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = torch.where(factor <= 0, torch.full_like(factor, math.nan), factor)
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * (v.pow(2) + products)

    def rsample(self, sample_shape: Any = (), max_try_correction: Any = None) -> Any:
        """Draws by Bartlett's decomposition: chi-squared roots on the diagonal, normal variables
        below."""
        sample_shape = Size(sample_shape)
        size = self._event_shape[-1]
        shape = sample_shape + self._batch_shape
        steps = torch.arange(size, dtype=self.df.dtype, device=self.df.device)
        freedom = (self.df.unsqueeze(-1) - steps) / 2
        roots = (2 * torch._standard_gamma(freedom.expand((*shape, size)))).sqrt()
        roots = roots.clamp(min=dtypes.finfo(roots.dtype).tiny)
        noise = standard_normal((*shape, size, size), self.df).tril(-1) + roots.diag_embed()
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        nu, p = self.df, self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril
        solved = torch.cholesky_solve(value, factor.expand(value.shape))
        log_det = 2 * _log_diagonal(linalg.cholesky(value))
        return (
            -nu * (p * math.log(2) / 2 + _log_diagonal(factor))
            - torch.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * log_det
            - solved.diagonal(dim1=-2, dim2=-1).sum(-1) / 2
        )

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * math.log(2) / 2 + _log_diagonal(self._unbroadcasted_scale_tril))
            + torch.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p)
            + nu * p / 2
        )

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (
            -linalg.slogdet(-2 * x).logabsdet + math.log(2) * p
        ) + torch.mvlgamma(y + (p + 1) / 2, p=p)


def _mvdigamma(x: Any, p: int) -> Any:
    steps = torch.arange(p, dtype=x.dtype, device=x.device)
    return torch.digamma(x.unsqueeze(-1) - steps / 2).sum(-1)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, whose determinants have the weight
    `concentration` - 1."""

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    dim: int

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise value_error(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        if not hasattr(concentration, "_version"):
            concentration = torch.tensor(float(concentration))
        self.concentration = concentration
        # Each row's length, of what is below the diagonal, has a beta distribution (the onion
        # method of the three authors).
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = torch.arange(dim - 1, dtype=concentration.dtype, device=concentration.device)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new.dim = self.dim
        new._beta = self._beta.expand((*batch_shape, self.dim))

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            lengths = self._beta.sample(sample_shape).unsqueeze(-1)
            noise = standard_normal(self._extended_shape(sample_shape), self.concentration)
            noise = noise.tril(-1)
            directions = noise / noise.norm(dim=-1, keepdim=True)
            # The first row has no direction.
            directions = neural.pad(directions[..., 1:, :], [0, 0, 1, 0], value=0.0)
            w = torch.sqrt(lengths) * directions
            tiny = dtypes.finfo(w.dtype).tiny
            rest = torch.clamp(1 - torch.sum(w**2, dim=-1), min=tiny).sqrt()
            return w + torch.diag_embed(rest)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalised = torch.sum(order * diagonal.log(), dim=-1)
        m = self.dim - 1
        alpha = self.concentration + 0.5 * m
        normaliser = 0.5 * m * math.log(math.pi)
        normaliser = normaliser + torch.mvlgamma(alpha - 0.5, m) - torch.lgamma(alpha) * m
        return unnormalised - normaliser


__all__ = ["LKJCholesky", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"]
