"""Distributions made of others: transformed, with dimensions as one event, mixed."""

from __future__ import annotations

from typing import Any, ClassVar

import composit._core as _core
from composit._core import not_implemented, value_error
from composit.torch.distributions import constraints
from composit.torch.distributions.classes import Categorical
from composit.torch.distributions.distribution import Distribution
from composit.torch.distributions.transforms import (
    ComposeTransform,
    Transform,
)
from composit.torch.distributions.utils import (
    sum_rightmost,
    torch,
)
from composit.torch.dtypes import Size
from composit.torch.tape import no_grad


class Independent(Distribution):
    """Another distribution, whose last batch dimensions are part of the event."""

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        _core.aten.check_reinterpreted(
            reinterpreted_batch_ndims, len(base_distribution.batch_shape)
        )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        event_dim = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        kept = len(shape) - event_dim
        super().__init__(shape[:kept], shape[kept:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        batch_shape = Size(batch_shape)
        new.base_dist = self.base_dist.expand(
            batch_shape + self._event_shape[: self.reinterpreted_batch_ndims]
        )
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._expanded(new, batch_shape)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """That of the base."""
        return bool(self.base_dist.has_rsample)

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """That of the base, if no dimension was moved."""
        if self.reinterpreted_batch_ndims > 0:
            return False
        return bool(self.base_dist.has_enumerate_support)

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        found = self.base_dist.support
        more = self.reinterpreted_batch_ndims
        return constraints.independent(found, more) if more else found

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims > 0:
            raise not_implemented("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


def _listed(transforms: Any) -> list[Any]:
    given = [transforms] if isinstance(transforms, Transform) else transforms
    if not isinstance(given, list):
        raise value_error(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in given):
        raise value_error("transforms must be a Transform or a list of Transforms")
    return given


def _widened(base: Any, batch: Any, more: int) -> Any:
    """The base with another batch shape, if one is given, and `more` dimensions in its event."""
    expanded = base if batch is None else base.expand(Size(batch))
    return Independent(expanded, more) if more else expanded


class TransformedDistribution(Distribution):
    """What transforms make of another distribution's draws."""

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self, base_distribution: Any, transforms: Any, validate_args: bool | None = None
    ) -> None:
        self.transforms = _listed(transforms)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        transform = ComposeTransform(self.transforms)
        _core.aten.check_transformed(shape, transform.domain.event_dim)
        forward = transform.forward_shape(shape)
        batch, event, of_base, more = _core.aten.transformed_form(
            shape, len(base_distribution.event_shape), transform.domain.event_dim,
            transform.codomain.event_dim, forward, transform.inverse_shape(forward),
        )  # fmt: skip
        self.base_dist = _widened(base_distribution, of_base, more)
        super().__init__(Size(batch), Size(event), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        batch_shape = Size(batch_shape)
        shape = batch_shape + self._event_shape
        for transform in reversed(self.transforms):
            shape = Size(transform.inverse_shape(shape))
        new.base_dist = self.base_dist.expand(
            shape[: len(shape) - len(self.base_dist.event_shape)]
        )  # fmt: skip
        new.transforms = self.transforms
        return self._expanded(new, batch_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:  # type: ignore[override]
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self._event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """That of the base."""
        return bool(self.base_dist.has_rsample)

    def _transformed(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        event_dim = len(self._event_shape)
        total: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            found = transform.log_abs_det_jacobian(x, y)
            total = total - sum_rightmost(found, event_dim - transform.domain.event_dim)
            y = x
        of_base = self.base_dist.log_prob(y)
        return total + sum_rightmost(of_base, event_dim - len(self.base_dist.event_shape))

    def _sign(self) -> Any:
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return sign

    def _monotone(self, value: Any) -> Any:
        """q, or 1 - q where the transforms turn the order round."""
        sign = self._sign()
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._transformed(self.base_dist.icdf(self._monotone(value)))


def _check_kinds(mixture: Any, component: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise value_error(
            " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
        )
    if not isinstance(component, Distribution):
        raise value_error(
            "The Component distribution need to be an instance of torch.distributions.Distribution"
        )


class MixtureSameFamily(Distribution):
    """A mixture: a Categorical chooses among the last batch dimension of the components."""

    arg_constraints: ClassVar[Any] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        _check_kinds(mixture_distribution, component_distribution)
        components = component_distribution.batch_shape
        count = mixture_distribution.logits.shape[-1]
        _core.aten.check_mixture(mixture_distribution.batch_shape, count, components)
        self._num_component = count
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(components[:-1], event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(
            (*batch_shape, self._num_component)
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        return self._expanded(new, batch_shape)

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the components' numbers."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _probs(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    @property
    def mean(self) -> Any:
        return torch.sum(self._probs() * self.component_distribution.mean, -1 - self._event_ndims)

    @property
    def variance(self) -> Any:
        axis = -1 - self._event_ndims
        probs = self._probs()
        within = torch.sum(probs * self.component_distribution.variance, axis)
        away = (self.component_distribution.mean - self._pad(self.mean)).pow(2.0)
        return within + torch.sum(probs * away, axis)

    def _pad(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x: Any) -> Any:  # type: ignore[override]
        found = self.component_distribution.cdf(self._pad(x))
        return torch.sum(found * self.mixture_distribution.probs, -1)

    def log_prob(self, x: Any) -> Any:  # type: ignore[override]
        if self._validate_args:
            self._validate_sample(x)
        found = self.component_distribution.log_prob(self._pad(x))
        weights = torch.log_softmax(self.mixture_distribution.logits, -1)
        return torch.logsumexp(found + weights, -1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            sample_shape = Size(sample_shape)
            at = len(sample_shape) + len(self.batch_shape)
            event = self.event_shape
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (len(event) + 1))
            index = index.expand((*chosen.shape, 1, *event))
            return torch.gather(drawn, at, index).squeeze(at)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )


__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]
