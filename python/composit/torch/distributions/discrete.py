"""Distributions of trials and counts."""

from __future__ import annotations

from numbers import Number
from typing import Any, ClassVar

from composit._core import not_implemented, value_error
from composit.torch import dtypes
from composit.torch.distributions import constraints
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.formulas import formula
from composit.torch.distributions.utils import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    torch,
)
from composit.torch.dtypes import Size
from composit.torch.tape import no_grad

_probs, _logits = formula("bernoulli", "probs"), formula("bernoulli", "logits")
_continuous_probs = formula("continuous_bernoulli", "probs")
_log_norm = formula("continuous_bernoulli", "_cont_bern_log_norm")


def _one_of(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise value_error("Either `probs` or `logits` must be specified, but not both.")


class _ByProbability(Distribution):
    """probs or logits: one is given, the other is computed when it is asked for."""

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
        return _logits(self)

    @lazy_property
    def probs(self) -> Any:
        """The probability."""
        return _probs(self)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter that was given."""
        return self._param.size()


class Bernoulli(_ByProbability, ExponentialFamily):
    """1 with a probability, else 0."""

    _family = "bernoulli"

    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._set(probs, logits), validate_args=validate_args)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.bernoulli(self.probs.expand(shape))

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (torch.logit(self.probs),)


class Geometric(_ByProbability):
    """How many failures come before the first success."""

    _family = "geometric"

    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        shape = self._set(probs, logits)
        super().__init__(shape, validate_args=validate_args)
        is_checked = self._validate_args and probs is not None
        if is_checked and not (self.probs > 0).all():
            raise value_error(
                f"Expected parameter probs ({type(self.probs).__name__} of shape "
                f"{tuple(self.probs.shape)}) of distribution {self!r} to be positive but "
                f"found invalid values:\n{self.probs[~(self.probs > 0)]}"
            )

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        tiny = dtypes.finfo(self.probs.dtype).tiny
        with no_grad():
            u = self.probs.new_empty(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()


class Binomial(_ByProbability):
    """How many of `total_count` trials succeed."""

    _family = "binomial"

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

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

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

    _family = "negative_binomial"

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

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            rate = torch._standard_gamma(self.total_count.expand(shape))
            rate = rate / torch.exp(-self.logits).expand(shape)
            return torch.poisson(rate.clamp(min=dtypes.finfo(rate.dtype).tiny))


class ContinuousBernoulli(_ByProbability, ExponentialFamily):
    """The density probs ** x (1 - probs) ** (1 - x) on [0, 1], normalised. Within `lims` around
    1/2, where the formulas lose digits, Taylor's series take their place."""

    _family = "continuous_bernoulli"

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

    @property
    def _least(self) -> float:
        return self._lims[0]

    @property
    def _most(self) -> float:
        return self._lims[1]

    @lazy_property
    def probs(self) -> Any:
        """The parameter that is a probability of the Bernoulli distribution."""
        return _continuous_probs(self)

    def _cont_bern_log_norm(self) -> Any:
        return _log_norm(self)

    def _draws(self, sample_shape: Any) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self._draws(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._draws(sample_shape)


class Poisson(ExponentialFamily):
    """Counts of a `rate`."""

    _family = "poisson"

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = Size() if isinstance(rate, Number) else self.rate.size()
        super().__init__(shape, validate_args=validate_args)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.poisson(self.rate.expand(shape))


__all__ = [
    "Bernoulli", "Binomial", "ContinuousBernoulli", "Geometric", "NegativeBinomial", "Poisson",
]  # fmt: skip
