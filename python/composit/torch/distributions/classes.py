"""Distributions of classes."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from composit._core import not_implemented, value_error
from composit.torch import dtypes
from composit.torch.distributions import constraints
from composit.torch.distributions.discrete import Binomial, _ByProbability, _one_of
from composit.torch.distributions.distribution import Distribution
from composit.torch.distributions.formulas import formula
from composit.torch.distributions.utils import (
    lazy_property,
    neural,
    torch,
)
from composit.torch.dtypes import Size
from composit.torch.tape import no_grad

_probs, _logits = formula("categorical", "probs"), formula("categorical", "logits")


def _check_vectors(name: str, given: Any) -> None:
    if given.dim() < 1:
        raise value_error(f"`{name}` parameter must be at least one-dimensional.")


class Categorical(_ByProbability):
    """A class, by probabilities of the last dimension or their logarithms, normalised here."""

    _family = "categorical"

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True
    _event_dims: ClassVar[dict[str, int]] = {"probs": 1, "logits": 1}

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        _one_of(probs, logits)
        self._is_by_logits = probs is None
        if probs is None:
            _check_vectors("logits", logits)
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        else:
            _check_vectors("probs", probs)
            self.probs = probs / probs.sum(-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._num_events, new._is_by_logits = self._num_events, self._is_by_logits

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return _logits(self)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return _probs(self)

    def _undefined(self) -> Any:
        shape = self._extended_shape()
        return torch.full(shape, math.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mean(self) -> Any:
        return self._undefined()

    @property
    def variance(self) -> Any:
        return self._undefined()

    def sample(self, sample_shape: Any = ()) -> Any:
        if not isinstance(sample_shape, Size):
            sample_shape = Size(sample_shape)
        probs = self.probs.reshape(-1, self._num_events)
        with no_grad():
            drawn = torch.multinomial(probs, sample_shape.numel(), True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(self._num_events, dtype=dtypes.by_name["int64"],
                              device=self._param.device)  # fmt: skip
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class ByClasses:
    """The parameters of a distribution that holds a Categorical of them."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    _categorical: Categorical

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape


class OneHotCategorical(ByClasses, Distribution):
    """A class as a vector of zeros and a one."""

    _family = "one_hot_categorical"

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape, event = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(shape, event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(type(self), _instance)
        new._categorical = self._categorical.expand(Size(batch_shape))
        return self._expanded(new, Size(batch_shape))

    @property
    def mode(self) -> Any:
        place = self.probs.argmax(dim=-1)
        return neural.one_hot(place, num_classes=self._event_shape[-1]).to(self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        drawn = self._categorical.sample(Size(sample_shape))
        return neural.one_hot(drawn, self._categorical._num_events).to(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self._event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self._batch_shape) + (n,))
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same draws, with the gradient of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = self.sample(sample_shape)
        return drawn + (self._categorical.probs - self._categorical.probs.detach())


class Multinomial(ByClasses, Distribution):
    """How often each class came in `total_count` draws."""

    _family = "multinomial"

    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(total_count, int):
            raise not_implemented("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        shape, event = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(shape, event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Multinomial, _instance)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(Size(batch_shape))
        new._binomial = Binomial(total_count=self.total_count, probs=new.probs)
        return self._expanded(new, Size(batch_shape))

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.multinomial(self.total_count)

    def sample(self, sample_shape: Any = ()) -> Any:
        sample_shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape)
        rolled = drawn.permute([*range(1, drawn.dim()), 0])
        counts = rolled.new_zeros(self._extended_shape(sample_shape))
        counts = counts.scatter_add(-1, rolled, torch.ones_like(rolled))
        return counts.type_as(self.probs)

    def entropy(self) -> Any:
        n = torch.tensor(self.total_count, dtype=self.probs.dtype, device=self.probs.device)
        of_classes = self._categorical.entropy()
        values = self._binomial.enumerate_support(expand=False)[1:]
        weights = torch.exp(self._binomial.log_prob(values))
        of_counts = (weights * torch.lgamma(values + 1)).sum((0, -1))
        return n * of_classes - torch.lgamma(n + 1) + of_counts


__all__ = ["Categorical", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"]
