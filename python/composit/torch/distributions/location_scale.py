"""Distributions with a location and a scale: normal, Laplace, Cauchy, Student's, uniform."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any, ClassVar

from composit.torch import dtypes, special
from composit.torch.distributions import constraints
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.utils import (
    broadcast_all,
    log_2pi,
    standard_normal,
    torch,
)
from composit.torch.dtypes import Size
from composit.torch.tape import no_grad


class _LocationScale(Distribution):
    """Two parameters that broadcast together."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    loc: Any
    scale: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        is_number = isinstance(loc, Number) and isinstance(scale, Number)
        shape = Size() if is_number else self.loc.shape
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    def _standardised(self, value: Any) -> Any:
        return (self._checked(value) - self.loc) / self.scale


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution of a mean `loc` and a standard deviation `scale`."""

    _mean_carrier_measure = 0

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + standard_normal(shape, self.loc) * self.scale

    def log_prob(self, value: Any) -> Any:
        squared = (self._checked(value) - self.loc) ** 2
        return -squared / (2 * self.scale**2) - self.scale.log() - log_2pi / 2

    def cdf(self, value: Any) -> Any:
        return 0.5 * (1 + torch.erf(self._standardised(value) / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * log_2pi + torch.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)


class Laplace(_LocationScale):
    """The density exp(-|x - loc| / scale) / (2 scale)."""

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        numbers = dtypes.finfo(self.loc.dtype)
        u = self.loc.new_empty(shape).uniform_(numbers.eps - 1, 1)
        left = torch.log1p(-u.abs().clamp(min=numbers.tiny))
        return self.loc - self.scale * u.sign() * left

    def log_prob(self, value: Any) -> Any:
        return -torch.log(2 * self.scale) - torch.abs(self._standardised(value))

    def cdf(self, value: Any) -> Any:
        x = self._standardised(value)
        return 0.5 - 0.5 * x.sign() * torch.expm1(-x.abs())

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * torch.log1p(-2 * term.abs())

    def entropy(self) -> Any:
        return 1 + torch.log(2 * self.scale)


class Cauchy(_LocationScale):
    """Cauchy's distribution of a median and a half width at half maximum."""

    @property
    def mean(self) -> Any:
        return torch.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Any:
        return torch.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        return -math.log(math.pi) - self.scale.log() - (self._standardised(value) ** 2).log1p()

    def cdf(self, value: Any) -> Any:
        return torch.atan(self._standardised(value)) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class StudentT(Distribution):
    """Student's distribution of `df` degrees of freedom, moved and scaled."""

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive
    }  # fmt: skip
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return torch.where(self.df <= 1, torch.full_like(self.loc, math.nan), self.loc)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        df = self.df
        safe = torch.where(df > 2, df, torch.full_like(df, 3))
        finite = self.scale.pow(2) * safe / (safe - 2)
        flat = torch.where(df > 1, torch.full_like(df, math.inf), torch.full_like(df, math.nan))
        return torch.where(df > 2, finite, flat)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        x = standard_normal(shape, self.df)
        z = torch._standard_gamma((self.df / 2).expand(shape)) * 2
        return self.loc + self.scale * x * torch.rsqrt(z / self.df)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        y = (value - self.loc) / self.scale
        return (
            -0.5 * (self.df + 1) * torch.log1p(y**2 / self.df)
            - self.scale.log()
            - 0.5 * self.df.log()
            - 0.5 * math.log(math.pi)
            - torch.lgamma(0.5 * self.df)
            + torch.lgamma(0.5 * (self.df + 1))
        )

    def entropy(self) -> Any:
        half = 0.5 * self.df
        log_beta = torch.lgamma(half) + math.lgamma(0.5) - torch.lgamma(half + 0.5)
        return (
            self.scale.log()
            + (half + 0.5) * (torch.digamma(half + 0.5) - torch.digamma(half))
            + 0.5 * self.df.log()
            + log_beta
        )


class Uniform(Distribution):
    """Equal densities on [low, high)."""

    has_rsample = True

    @property
    def arg_constraints(self) -> Any:  # type: ignore[override]
        """high is above low."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        is_number = isinstance(low, Number) and isinstance(high, Number)
        super().__init__(Size() if is_number else self.low.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return math.nan * self.high

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = torch.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        is_inside = self.low.le(value) & self.high.gt(value)
        return torch.log(is_inside.type_as(self.low)) - torch.log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return torch.log(self.high - self.low)


class VonMises(Distribution):
    """A distribution of angles: the density exp(concentration cos(x - loc)), normalised."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        k = self.concentration
        log_bessel = special.i0e(k).log() + k
        return k * torch.cos(value - self.loc) - log_2pi - log_bessel

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws by Best and Fisher's rejection (1979), in float64."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            k = self.concentration.double().expand(shape)
            loc = self.loc.double().expand(shape)
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            # Where k is small, rho and r are those of the limit.
            r = torch.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
            found = torch.zeros(shape, dtype=k.dtype)
            is_done = torch.zeros(shape, dtype=dtypes.by_name["bool"])
            while not is_done.all():
                u = torch.rand((3, *shape), dtype=k.dtype)
                z = torch.cos(math.pi * u[0])
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                is_taken = (c * (2 - c) - u[1] > 0) | ((c / u[1]).log() + 1 - c >= 0)
                angle = (u[2] - 0.5).sign() * torch.acos(f.clamp(-1, 1))
                found = torch.where(is_taken & ~is_done, angle, found)
                is_done = is_done | is_taken
            return ((found + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        k = self.concentration
        return 1 - special.i1e(k) / special.i0e(k)


__all__ = ["Cauchy", "Laplace", "Normal", "StudentT", "Uniform", "VonMises"]
