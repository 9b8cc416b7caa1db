"""Distributions with a location and a scale: normal, Laplace, Cauchy, Student's, uniform."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any, ClassVar

from composit.torch import dtypes
from composit.torch.distributions import constraints
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.utils import (
    broadcast_all,
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


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution of a mean `loc` and a standard deviation `scale`."""

    _family = "normal"

    _mean_carrier_measure = 0

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + standard_normal(shape, self.loc) * self.scale


class Laplace(_LocationScale):
    """The density exp(-|x - loc| / scale) / (2 scale)."""

    _family = "laplace"

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        numbers = dtypes.finfo(self.loc.dtype)
        u = self.loc.new_empty(shape).uniform_(numbers.eps - 1, 1)
        left = torch.log1p(-u.abs().clamp(min=numbers.tiny))
        return self.loc - self.scale * u.sign() * left


class Cauchy(_LocationScale):
    """Cauchy's distribution of a median and a half width at half maximum."""

    _family = "cauchy"

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).cauchy_() * self.scale


class StudentT(Distribution):
    """Student's distribution of `df` degrees of freedom, moved and scaled."""

    _family = "student_t"

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

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        x = standard_normal(shape, self.df)
        z = torch._standard_gamma((self.df / 2).expand(shape)) * 2
        return self.loc + self.scale * x * torch.rsqrt(z / self.df)


class Uniform(Distribution):
    """Equal densities on [low, high)."""

    _family = "uniform"

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

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = torch.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)


class VonMises(Distribution):
    """A distribution of angles: the density exp(concentration cos(x - loc)), normalised."""

    _family = "von_mises"

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

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


__all__ = ["Cauchy", "Laplace", "Normal", "StudentT", "Uniform", "VonMises"]
