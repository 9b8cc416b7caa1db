"""Distributions that are a simple one, transformed."""

from __future__ import annotations

from numbers import Number
from typing import Any, ClassVar

from composit.torch import dtypes
from composit.torch.distributions import constraints
from composit.torch.distributions.composed import TransformedDistribution
from composit.torch.distributions.formulas import formula
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
    torch,
)
from composit.torch.dtypes import Size

_reciprocal = formula("weibull", "concentration_reciprocal")


def _expand(self: Any, batch_shape: Any, _instance: Any = None) -> Any:
    """The distribution with another batch shape, to which the base and the parameters that the
    distribution itself keeps broadcast."""
    new = self._get_checked_instance(type(self), _instance)
    shape = Size(batch_shape)
    for name, value in self._given():
        new.__dict__[name] = value.expand(shape)
    self._expand_more(new, shape)
    return TransformedDistribution.expand(self, shape, _instance=new)


class LogNormal(TransformedDistribution):
    """exp of a normal variable."""

    _family = "log_normal"

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


class HalfNormal(_Folded, TransformedDistribution):
    """The absolute value of a normal variable of mean 0."""

    _family = "half_normal"

    expand = _expand

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)


class HalfCauchy(_Folded, TransformedDistribution):
    """The absolute value of a Cauchy variable of median 0."""

    _family = "half_cauchy"

    expand = _expand

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)


class Gumbel(TransformedDistribution):
    """The distribution of maxima: exp(-exp(-(x - loc) / scale)) below x."""

    _family = "gumbel"

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


class Weibull(TransformedDistribution):
    """scale times a power of an exponential variable."""

    _family = "weibull"

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
        self.concentration_reciprocal = _reciprocal(self)
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new.concentration_reciprocal = _reciprocal(new)


class Pareto(TransformedDistribution):
    """scale times exp of an exponential variable of rate alpha."""

    _family = "pareto"

    arg_constraints: ClassVar[Any] = {"alpha": constraints.positive, "scale": constraints.positive}
    alpha: Any
    scale: Any
    expand = _expand

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.greater_than_eq(self.scale)


class Kumaraswamy(TransformedDistribution):
    """A probability x with the distribution function 1 - (1 - x ** a) ** b."""

    _family = "kumaraswamy"

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


class InverseGamma(TransformedDistribution):
    """1 / x of a gamma variable x."""

    _family = "inverse_gamma"

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
