"""Distributions of positive numbers and probabilities: gamma, beta, Dirichlet's and their kin."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any, ClassVar

from composit._core import value_error
from composit.torch import dtypes
from composit.torch.distributions import constraints
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.utils import broadcast_all, torch
from composit.torch.dtypes import Size


class Exponential(ExponentialFamily):
    """The density rate * exp(-rate x)."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = Size() if isinstance(rate, Number) else self.rate.size()
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value: Any) -> Any:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return -torch.log(-x)


@ExponentialFamily.register
class Gamma(Distribution):
    """The density of a shape `concentration` and a `rate`."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive, "rate": constraints.positive
    }  # fmt: skip
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        is_number = isinstance(concentration, Number) and isinstance(rate, Number)
        shape = Size() if is_number else self.concentration.size()
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return value.clamp(min=dtypes.finfo(value.dtype).tiny)  # above 0, where the support begins

    def log_prob(self, value: Any) -> Any:
        value = torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._checked(value)
        return (
            torch.xlogy(self.concentration, self.rate)
            + torch.xlogy(self.concentration - 1, value)
            - self.rate * value
            - torch.lgamma(self.concentration)
        )

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return torch.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        return (
            self.concentration
            - torch.log(self.rate)
            + torch.lgamma(self.concentration)
            + (1.0 - self.concentration) * torch.digamma(self.concentration)
        )

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())


class Chi2(Gamma):
    """The sum of `df` squares of normal variables."""

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Chi2, _instance)
        shape = Size(batch_shape)
        new.concentration = self.concentration.expand(shape)
        new.rate = self.rate.expand(shape)
        return self._expanded(new, shape)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2


class Dirichlet(ExponentialFamily):
    """Probabilities whose logarithms have the weights concentration - 1."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support = constraints.simplex
    has_rsample = True
    _event_dims: ClassVar[dict[str, int]] = {"concentration": 1}

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise value_error("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return torch._sample_dirichlet(self.concentration.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return (
            torch.xlogy(self.concentration - 1.0, value).sum(-1)
            + torch.lgamma(self.concentration.sum(-1))
            - torch.lgamma(self.concentration).sum(-1)
        )

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        # Without one above 1 the density is largest in the corner of the largest.
        is_flat = (self.concentration < 1).all(-1, keepdim=True)
        corner = torch.zeros_like(mode).scatter(-1, mode.argmax(-1, keepdim=True), 1.0)
        return torch.where(is_flat, corner, mode)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        count = self.concentration.size(-1)
        total = self.concentration.sum(-1)
        return (
            torch.lgamma(self.concentration).sum(-1)
            - torch.lgamma(total)
            - (count - total) * torch.digamma(total)
            - ((self.concentration - 1.0) * torch.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """A probability with the density x ** (concentration1 - 1) (1 - x) ** (concentration0 - 1)."""

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive, "concentration0": constraints.positive
    }  # fmt: skip
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        if isinstance(concentration1, Number) and isinstance(concentration0, Number):
            numbers: list[Any] = [concentration1, concentration0]
            both = torch.tensor([float(x) for x in numbers])
        else:
            both = torch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Beta, _instance)
        new._dirichlet = self._dirichlet.expand(Size(batch_shape))
        return self._expanded(new, Size(batch_shape))

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()

    @property
    def concentration1(self) -> Any:
        """The weight of 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """The weight of 0."""
        return self._dirichlet.concentration[..., 1]

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y)


class FisherSnedecor(Distribution):
    """The ratio of two means of squares, of `df1` and `df2` degrees of freedom."""

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        is_number = isinstance(df1, Number) and isinstance(df2, Number)
        super().__init__(Size() if is_number else self.df1.size(), validate_args=validate_args)

    def _where_above(self, bound: float, value: Any) -> Any:
        return torch.where(self.df2 > bound, value, torch.full_like(self.df2, math.nan))

    @property
    def mean(self) -> Any:
        return self._where_above(2, self.df2 / (self.df2 - 2))

    @property
    def mode(self) -> Any:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return torch.where(self.df1 <= 2, torch.full_like(mode, math.nan), mode)

    @property
    def variance(self) -> Any:
        two = self.df2
        top = 2 * two.pow(2) * (self.df1 + two - 2)
        return self._where_above(4, top / (self.df1 * (two - 2).pow(2) * (two - 4)))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        tiny = dtypes.finfo(self.df1.dtype).tiny
        x1 = torch._standard_gamma((self.df1 * 0.5).expand(shape)) / (self.df1 * 0.5)
        x2 = torch._standard_gamma((self.df2 * 0.5).expand(shape)) / (self.df2 * 0.5)
        return (x1.clamp(min=tiny) / x2.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        half1, half2 = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        log_beta = half1.lgamma() + half2.lgamma() - (half1 + half2).lgamma()
        return (
            half1 * ratio.log()
            + (half1 - 1) * torch.log(value)
            - (half1 + half2) * torch.log1p(ratio * value)
            - log_beta
        )


class GeneralizedPareto(Distribution):
    """The density (1 + concentration z) ** -(1 / concentration + 1) / scale of z = (x - loc) /
    scale: what lies beyond a high threshold."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real
    }  # fmt: skip
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        are_numbers = all(isinstance(x, Number) for x in (loc, scale, concentration))
        super().__init__(Size() if are_numbers else self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        upper = torch.where(
            self.concentration < 0, self.loc - self.scale / self.concentration,
            torch.full_like(self.loc, math.inf),
        )  # fmt: skip
        return constraints.interval(self.loc, upper)

    @property
    def _is_exponential(self) -> Any:
        return torch.isclose(self.concentration, torch.zeros_like(self.concentration))

    @property
    def _safe(self) -> Any:
        ones = torch.ones_like(self.concentration)
        return torch.where(self._is_exponential, ones, self.concentration)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        y, k = (value - self.loc) / self.scale, self._safe
        general = -(1 / k + torch.ones_like(self.scale)) * torch.log1p(k * y)
        return -self.scale.log() + torch.where(self._is_exponential, -y, general)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of 1 - cdf."""
        self._checked(value)
        y, k = (value - self.loc) / self.scale, self._safe
        return torch.where(self._is_exponential, -y, -torch.log1p(k * y) / k)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of cdf."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        left, k = torch.log1p(-value), self._safe
        general = self.loc + self.scale * torch.expm1(-k * left) / k
        return torch.where(self._is_exponential, self.loc - self.scale * left, general)

    @property
    def mean(self) -> Any:
        k = self.concentration
        safe = torch.where(k < 1, k, torch.full_like(k, 0.5))
        finite = self.loc + self.scale / (1 - safe)
        return torch.where(k < 1, finite, torch.full_like(k, math.nan))

    @property
    def variance(self) -> Any:
        k = self.concentration
        safe = torch.where(k < 0.5, k, torch.full_like(k, 0.25))
        finite = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return torch.where(k < 0.5, finite, torch.full_like(k, math.nan))

    def entropy(self) -> Any:
        return torch.broadcast_to(
            torch.log(self.scale) + self.concentration + 1, self._batch_shape
        )  # fmt: skip

    @property
    def mode(self) -> Any:
        return self.loc


__all__ = ["Beta", "Chi2", "Dirichlet", "Exponential", "FisherSnedecor", "Gamma",
           "GeneralizedPareto"]  # fmt: skip
