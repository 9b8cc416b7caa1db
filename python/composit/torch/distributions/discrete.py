"""Distributions of trials and counts."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any, ClassVar

from composit._core import not_implemented, value_error
from composit.torch import dtypes
from composit.torch.distributions import constraints
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.utils import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    neural,
    probs_to_logits,
    torch,
)
from composit.torch.dtypes import Size
from composit.torch.tape import no_grad


def _one_of(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise value_error("Either `probs` or `logits` must be specified, but not both.")


class _ByProbability(Distribution):
    """A probability, or its log-odds: one is given, the other is computed when it is asked for."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    _is_by_logits: bool

    def _set(self, probs: Any, logits: Any) -> Size:
        _one_of(probs, logits)
        self._is_by_logits = probs is None
        given = logits if probs is None else probs
        (value,) = broadcast_all(given)
        self.__dict__["probs" if logits is None else "logits"] = value
        return Size() if isinstance(given, Number) else value.size()

    @property
    def _param(self) -> Any:
        return self.__dict__["logits" if self._is_by_logits else "probs"]

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._is_by_logits = self._is_by_logits

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Any:
        """The log-odds of the probability."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter that was given."""
        return self._param.size()


def _cross_entropy(logits: Any, value: Any) -> Any:
    return neural.binary_cross_entropy_with_logits(logits, value, reduction="none")


class Bernoulli(_ByProbability, ExponentialFamily):
    """1 with a probability, else 0."""

    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._set(probs, logits), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        mode = (self.probs >= 0.5).to(self.probs)
        return torch.where(self.probs == 0.5, torch.full_like(mode, math.nan), mode)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, self._checked(value))
        return -_cross_entropy(logits, value)

    def entropy(self) -> Any:
        return _cross_entropy(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return torch.log1p(torch.exp(x))


class Geometric(_ByProbability):
    """How many failures come before the first success."""

    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        shape = self._set(probs, logits)
        super().__init__(shape, validate_args=validate_args)
        if self._validate_args and probs is not None:
            is_valid = self.probs > 0
            if not is_valid.all():
                raise value_error(
                    f"Expected parameter probs ({type(self.probs).__name__} of shape "
                    f"{tuple(self.probs.shape)}) of distribution {self!r} to be positive but "
                    f"found invalid values:\n{self.probs[~is_valid]}"
                )

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        tiny = dtypes.finfo(self.probs.dtype).tiny
        with no_grad():
            u = self.probs.new_empty(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        value, probs = broadcast_all(self._checked(value), self.probs)
        # 0 failures of a probability of 1 have the logarithm 0.
        probs = torch.where((probs == 1) & (value == 0), torch.zeros_like(probs), probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return _cross_entropy(self.logits, self.probs) / self.probs


class Binomial(_ByProbability):
    """How many of `total_count` trials succeed."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval,
        "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._set(probs, logits)
        name = "logits" if self._is_by_logits else "probs"
        self.total_count, self.__dict__[name] = broadcast_all(total_count, self._param)
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        of_places = (
            torch.lgamma(self.total_count + 1)
            - torch.lgamma(value + 1)
            - torch.lgamma(self.total_count - value + 1)
        )
        # k log p + (n - k) log(1 - p), with log(1 + exp(-|logits|)) in place of exp(logits)
        positive = self.logits.clamp(min=0)
        soft = positive + torch.log1p(torch.exp(-torch.abs(self.logits)))
        return of_places + value * self.logits - self.total_count * soft

    def entropy(self) -> Any:
        self._the_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def _the_count(self, name: str) -> int:
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise not_implemented(f"Inhomogeneous total count not supported by `{name}`.")
        return total

    def enumerate_support(self, expand: bool = True) -> Any:
        total = self._the_count("enumerate_support")
        values = torch.arange(1 + total, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class NegativeBinomial(_ByProbability):
    """How many successes come before `total_count` failures."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._set(probs, logits)
        name = "logits" if self._is_by_logits else "probs"
        self.total_count, self.__dict__[name] = broadcast_all(total_count, self._param)
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / torch.sigmoid(-self.logits)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            rate = torch._standard_gamma(self.total_count.expand(shape))
            rate = rate / torch.exp(-self.logits).expand(shape)
            return torch.poisson(rate.clamp(min=dtypes.finfo(rate.dtype).tiny))

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        of_probs = self.total_count * neural.logsigmoid(-self.logits)
        of_probs = of_probs + value * neural.logsigmoid(self.logits)
        of_places = (
            -torch.lgamma(self.total_count + value)
            + torch.lgamma(1.0 + value)
            + torch.lgamma(self.total_count)
        )
        is_none = self.total_count + value == 0.0
        return of_probs - of_places.masked_fill(is_none, 0.0)


class ContinuousBernoulli(_ByProbability, ExponentialFamily):
    """The density probs ** x (1 - probs) ** (1 - x) on [0, 1], normalised. Within `lims` around
    1/2, where the formulas lose digits, Taylor's series take their place."""

    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        shape = self._set(probs, logits)
        if probs is not None:
            is_inside = self.arg_constraints["probs"].check(self.probs)
            if validate_args and not is_inside.all():
                raise value_error("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        super()._expand_more(new, batch_shape)
        new._lims = self._lims

    def _outside_unstable_region(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Any:
        edge = self._lims[0] * torch.ones_like(self.probs)
        return torch.where(self._outside_unstable_region(), self.probs, edge)

    @lazy_property
    def probs(self) -> Any:
        """The parameter that is a probability of the Bernoulli distribution."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _cont_bern_log_norm(self) -> Any:
        cut = self._cut_probs()
        below = torch.where(cut <= 0.5, cut, torch.zeros_like(cut))
        above = torch.where(cut >= 0.5, cut, torch.ones_like(cut))
        difference = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut)))
        log_norm = difference - torch.where(
            cut <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0)
        )
        x = torch.pow(self.probs - 0.5, 2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(self._outside_unstable_region(), log_norm, taylor)

    @property
    def mean(self) -> Any:
        cut = self._cut_probs()
        found = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        x = self.probs - 0.5
        taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x
        return torch.where(self._outside_unstable_region(), found, taylor)

    @property
    def stddev(self) -> Any:
        return torch.sqrt(self.variance)

    @property
    def variance(self) -> Any:
        cut = self._cut_probs()
        found = cut * (cut - 1.0) / torch.pow(1.0 - 2.0 * cut, 2)
        found = found + 1.0 / torch.pow(torch.log1p(-cut) - torch.log(cut), 2)
        x = torch.pow(self.probs - 0.5, 2)
        taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return torch.where(self._outside_unstable_region(), found, taylor)

    def _draws(self, sample_shape: Any) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self._draws(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._draws(sample_shape)

    def log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, self._checked(value))
        return -_cross_entropy(logits, value) + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Any:
        value = self._checked(value)
        cut = self._cut_probs()
        found = torch.pow(cut, value) * torch.pow(1.0 - cut, 1.0 - value) + cut - 1.0
        found = found / (2.0 * cut - 1.0)
        inside = torch.where(self._outside_unstable_region(), found, value)
        return torch.where(
            torch.le(value, 0.0), torch.zeros_like(inside),
            torch.where(torch.ge(value, 1.0), torch.ones_like(inside), inside),
        )  # fmt: skip

    def icdf(self, value: Any) -> Any:
        cut = self._cut_probs()
        top = torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)
        found = top / (torch.log(cut) - torch.log1p(-cut))
        return torch.where(self._outside_unstable_region(), found, value)

    def entropy(self) -> Any:
        log_rest = torch.log1p(-self.probs)
        log_probs = torch.log(self.probs)
        return self.mean * (log_rest - log_probs) - self._cont_bern_log_norm() - log_rest

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        lower, upper = self._lims[0] - 0.5, self._lims[1] - 0.5
        is_outside = (x <= lower) | (x > upper)
        cut = torch.where(is_outside, x, lower * torch.ones_like(x))
        found = torch.log(torch.abs(torch.expm1(cut))) - torch.log(torch.abs(cut))
        taylor = 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0
        return torch.where(is_outside, found, taylor)


class Poisson(ExponentialFamily):
    """Counts of a `rate`."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = Size() if isinstance(rate, Number) else self.rate.size()
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.poisson(self.rate.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        rate, value = broadcast_all(self.rate, value)
        return torch.xlogy(value, rate) - rate - torch.lgamma(value + 1)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (torch.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return torch.exp(x)


__all__ = [
    "Bernoulli", "Binomial", "ContinuousBernoulli", "Geometric", "NegativeBinomial", "Poisson",
]  # fmt: skip
