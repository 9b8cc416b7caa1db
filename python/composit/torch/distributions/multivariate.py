"""Distributions of vectors and matrices: normal, Wishart's, Lewandowski, Kurowicka and Joe's."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import composit._core as _core
from composit._core import value_error
from composit.torch import dtypes, linalg
from composit.torch.distributions import constraints
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.formulas import formula
from composit.torch.distributions.positive import Beta
from composit.torch.distributions.utils import (
    as_tensor,
    lazy_property,
    neural,
    standard_normal,
    torch,
)
from composit.torch.dtypes import Size
from composit.torch.tape import no_grad


def _batch_mv(matrices: Any, vectors: Any) -> Any:
    return torch.matmul(matrices, vectors.unsqueeze(-1)).squeeze(-1)


_aten = _core.aten
_FORMS = ("covariance_matrix", "precision_matrix", "scale_tril")
_factors = {name: formula("multivariate_normal", f"_factor_of_{name}") for name in _FORMS}
_covariance, _entropy, _variance = (
    formula("multivariate_normal", name) for name in ("covariance_matrix", "entropy", "variance")
)
_low_rank = {
    name: formula("low_rank_multivariate_normal", name)
    for name in ("_capacitance_tril", "covariance_matrix", "entropy", "precision_matrix",
                 "variance")
}  # fmt: skip


def _shapes_of(matrices: tuple[Any, ...]) -> list[Any]:
    return [None if x is None else tuple(x.shape) for x in matrices]


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
        return self._matrix(_covariance(self))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))


class MultivariateNormal(_ByCovariance, Distribution):
    """The normal distribution of vectors, of a mean and a covariance, a precision or a Cholesky
    factor."""

    _family = "multivariate_normal"

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
        matrices = (covariance_matrix, precision_matrix, scale_tril)
        number, batch = _aten.normal_form(tuple(loc.shape), _shapes_of(matrices))
        name, given, shape = _FORMS[number], matrices[number], Size(batch)
        self.__dict__[name] = given.expand(shape + given.shape[-2:])
        self.loc = loc.expand(shape + loc.shape[-1:])
        super().__init__(shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _factors[name](self, given)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    @property
    def variance(self) -> Any:
        return _variance(self).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        noise = standard_normal(shape, self.loc)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def entropy(self) -> Any:
        found = _entropy(self)
        return found if len(self._batch_shape) == 0 else found.expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution whose covariance is cov_factor cov_factor^T + diag(cov_diag)."""

    _family = "low_rank_multivariate_normal"

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
        shapes = (tuple(x.shape) for x in (loc, cov_factor, cov_diag))
        shape, event_shape = Size(_aten.low_rank_batch(*shapes)), loc.shape[-1:]
        self.loc = loc.expand(shape + event_shape)
        self.cov_factor = cov_factor.expand(shape + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(shape + event_shape)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _low_rank["_capacitance_tril"](self)
        super().__init__(shape, event_shape, validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))

    @lazy_property
    def variance(self) -> Any:  # type: ignore[override]
        """The diagonal of the covariance."""
        return _low_rank["variance"](self).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return linalg.cholesky(self.covariance_matrix)

    def _matrix(self, name: str) -> Any:
        shape = self._batch_shape + self._event_shape + self._event_shape
        return _low_rank[name](self).expand(shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self._matrix("covariance_matrix")

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._matrix("precision_matrix")

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        inner = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        own = standard_normal(shape, self.loc)
        return (
            self.loc
            + _batch_mv(self._unbroadcasted_cov_factor, inner)
            + self._unbroadcasted_cov_diag.sqrt() * own
        )

    def entropy(self) -> Any:
        found = _low_rank["entropy"](self)
        return found if len(self._batch_shape) == 0 else found.expand(self._batch_shape)


class Wishart(_ByCovariance, ExponentialFamily):
    """The sum of `df` outer products of normal vectors with themselves."""

    _family = "wishart"

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
        matrices = (covariance_matrix, precision_matrix, scale_tril)
        df_shape = tuple(getattr(df, "shape", ()))
        number, batch = _aten.wishart_form(df_shape, _shapes_of(matrices))
        name, given, shape = _FORMS[number], matrices[number], Size(batch)
        df = as_tensor(df, dtype=given.dtype, device=given.device)
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
        self._unbroadcasted_scale_tril = _factors[name](self, given)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new.arg_constraints = self.arg_constraints

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

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (
            -linalg.slogdet(-2 * x).logabsdet + math.log(2) * p
        ) + torch.mvlgamma(y + (p + 1) / 2, p=p)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, whose determinants have the weight
    `concentration` - 1."""

    _family = "lkj_cholesky"

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
        self.concentration = concentration = as_tensor(concentration)
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


__all__ = ["LKJCholesky", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"]
