"""Distributions that are a simple one, transformed."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any, ClassVar

from composit.torch import dtypes
from composit.torch.distributions import constraints
from composit.torch.distributions.composed import TransformedDistribution
from composit.torch.distributions.location_scale import Cauchy, Normal, Uniform
from composit.torch.distributions.positive import Exponential, Gamma
from composit.torch.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
)
from composit.torch.distributions.utils import (
    broadcast_all,
    euler_constant,
    torch,
)
from composit.torch.dtypes import Size


def _expand(self: Any, batch_shape: Any, _instance: Any = None) -> Any:
    """The distribution with another batch shape, to which the base and the parameters that the
    distribution itself keeps broadcast."""
    new = self._get_checked_instance(type(self), _instance)
    shape = Size(batch_shape)
    for name in self.arg_constraints:
        if name in self.__dict__:
            new.__dict__[name] = self.__dict__[name].expand(shape)
    self._expand_more(new, shape)
    return TransformedDistribution.expand(self, shape, _instance=new)


class LogNormal(TransformedDistribution):
    """exp of a normal variable."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True  # type: ignore[assignment]
    base_dist: Any
    expand = _expand

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class _Folded:
    """The absolute value of a variable that is symmetric around 0."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True  # type: ignore[assignment]
    base_dist: Any
    _checked: Any

    @property
    def scale(self) -> Any:
        """The scale of the variable."""
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, found, torch.full_like(found, -math.inf))

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Folded, TransformedDistribution):
    """The absolute value of a normal variable of mean 0."""

    expand = _expand

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Folded, TransformedDistribution):
    """The absolute value of a Cauchy variable of median 0."""

    expand = _expand

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype,
                          device=self.scale.device)  # fmt: skip

    @property
    def variance(self) -> Any:
        return self.base_dist.variance


class Gumbel(TransformedDistribution):
    """The distribution of maxima: exp(-exp(-(x - loc) / scale)) below x."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    loc: Any
    scale: Any
    expand = _expand

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        numbers = dtypes.finfo(self.loc.dtype)
        if isinstance(loc, Number) and isinstance(scale, Number):
            base = Uniform(numbers.tiny, 1 - numbers.eps, validate_args=validate_args)
        else:
            base = Uniform(
                torch.full_like(self.loc, numbers.tiny),
                torch.full_like(self.loc, 1 - numbers.eps),
                validate_args=validate_args,
            )
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-torch.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        return self.scale.log() + (1 + euler_constant)


class Weibull(TransformedDistribution):
    """scale times a power of an exponential variable."""

    arg_constraints: ClassVar[Any] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive
    scale: Any
    concentration: Any
    expand = _expand

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new.concentration_reciprocal = new.concentration.reciprocal()

    def _moment(self, n: float) -> Any:
        return torch.exp(torch.lgamma(1 + n * self.concentration_reciprocal))

    @property
    def mean(self) -> Any:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Any:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (self._moment(2) - self._moment(1) ** 2)

    def entropy(self) -> Any:
        return (
            euler_constant * (1 - self.concentration_reciprocal)
            + torch.log(self.scale * self.concentration_reciprocal)
            + 1
        )


class Pareto(TransformedDistribution):
    """scale times exp of an exponential variable of rate alpha."""

    arg_constraints: ClassVar[Any] = {"alpha": constraints.positive, "scale": constraints.positive}
    alpha: Any
    scale: Any
    expand = _expand

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        a = self.alpha.clamp(min=1)  # infinite up to 1
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        a = self.alpha.clamp(min=2)  # infinite up to 2
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Kumaraswamy(TransformedDistribution):
    """A probability x with the distribution function 1 - (1 - x ** a) ** b."""

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive, "concentration0": constraints.positive
    }  # fmt: skip
    support = constraints.unit_interval
    has_rsample = True  # type: ignore[assignment]
    concentration1: Any
    concentration0: Any
    expand = _expand

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            torch.full_like(self.concentration0, 0), torch.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )  # fmt: skip
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        one = 1 + n / a
        return b * torch.exp(torch.lgamma(one) + torch.lgamma(b) - torch.lgamma(one + b))

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        has_mode = (a >= 1) & (b >= 1) & ~((a == 1) & (b == 1))
        return torch.where(has_mode, mode, torch.full_like(mode, math.nan))

    @property
    def variance(self) -> Any:
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Any:
        t1 = 1 - self.concentration1.reciprocal()
        t0 = 1 - self.concentration0.reciprocal()
        harmonic = torch.digamma(self.concentration0 + 1) + euler_constant
        return t0 + t1 * harmonic - self.concentration1.log() - self.concentration0.log()


class InverseGamma(TransformedDistribution):
    """1 / x of a gamma variable x."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive, "rate": constraints.positive
    }  # fmt: skip
    support = constraints.positive
    has_rsample = True  # type: ignore[assignment]
    base_dist: Any
    expand = _expand

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, power, validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The shape of the gamma variable."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of the gamma variable."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        a = self.concentration
        inf = torch.full_like(a, math.inf)
        return torch.where(a > 1, self.rate / (a - 1), inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration
        finite = self.rate.square() / ((a - 1).square() * (a - 2))
        return torch.where(a > 2, finite, torch.full_like(a, math.inf))

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class LogisticNormal(TransformedDistribution):
    """Probabilities that stick breaking makes of normal variables: one more than there are."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True  # type: ignore[assignment]
    base_dist: Any
    expand = _expand

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The means of the normal variables."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """Their standard deviations."""
        return self.base_dist.base_dist.scale


__all__ = [
    "Gumbel", "HalfCauchy", "HalfNormal", "InverseGamma", "Kumaraswamy", "LogNormal",
    "LogisticNormal", "Pareto", "Weibull",
]  # fmt: skip
