"""Distribution: what all distributions have in common, and the exponential family."""

from __future__ import annotations

import warnings
from abc import ABCMeta
from typing import Any, ClassVar

import composit._core as _core
from composit._core import not_implemented, value_error
from composit.torch.autograd import grad
from composit.torch.distributions import constraints
from composit.torch.distributions.formulas import give_members
from composit.torch.distributions.utils import lazy_property, torch
from composit.torch.dtypes import Size
from composit.torch.tape import no_grad


class Distribution:
    """A distribution, or a batch of them: `batch_shape` of parameters, `event_shape` of a draw.

    A subclass names its parameters in `arg_constraints`. `_event_dims` tells of those parameters
    that have dimensions of their own how many, so that `expand` leaves these as they are.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[Any] = {}
    _validate_args = __debug__
    _event_dims: ClassVar[dict[str, int]] = {}
    _family: ClassVar[str]  # of composit::aten, whose formulas are members of the class

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_family" in cls.__dict__:
            give_members(cls, cls._family)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether parameters and values are checked where nothing else is said."""
        if value not in [True, False]:
            raise value_error(f"value is {value!r}. True or False is required.")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            _core.aten.check_parameters(self, constraints.is_dependent, lazy_property)

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw."""
        return self._event_shape

    @property
    def support(self) -> Any:
        """The constraint that draws satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The expected value."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The value of the largest density."""
        raise not_implemented(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The expected square of the distance to the mean."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The distribution with another batch shape, to which its parameters broadcast."""
        new = self._get_checked_instance(type(self), _instance)
        shape = Size(batch_shape)
        for name, value in self._given():
            kept = value.dim() - len(self._batch_shape)
            own = self._event_dims.get(name, max(kept, 0))
            new.__dict__[name] = value.expand(shape + value.shape[value.dim() - own :])
        self._expand_more(new, shape)
        return self._expanded(new, shape)

    def _given(self) -> list[tuple[str, Any]]:
        """The parameters that the distribution holds, by name."""
        own = self.__dict__
        return [(name, own[name]) for name in self.arg_constraints if name in own]

    def _expanded(self, new: Any, batch_shape: Size) -> Any:
        """`new`, whose parameters are expanded, with its shapes."""
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        """Gives an expanded distribution what it has besides its parameters."""

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, without a gradient: of shape sample_shape + batch_shape + event_shape."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """sample((n,))."""
        warnings.warn(
            "sample_n will be deprecated. Use .sample((n,)) instead", UserWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of what is at most the value."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The value below which lies the given probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """exp of the entropy."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        if not isinstance(sample_shape, Size):
            sample_shape = Size(sample_shape)
        return Size(sample_shape + self._batch_shape + self._event_shape)

    def _checked(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return value

    def _validate_sample(self, value: Any) -> None:
        """ValueError unless the value can be one of the distribution's."""
        _core.aten.check_sample(value, self._batch_shape, self._event_shape)
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise value_error(
                f"Expected value argument ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise not_implemented(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}: {_shown(value)}" for name, value in self._given())
        return f"{type(self).__name__}({shown})"


def _shown(value: Any) -> Any:
    return value if value.numel() == 1 else value.size()


class ExponentialFamily(Distribution, metaclass=ABCMeta):
    """A distribution whose density is exp(<natural parameters, statistics> - log normalizer). Its
    entropy follows from the gradient of the log normalizer.

    A distribution that has the natural parameters, the log normalizer and an entropy of its own
    needs nothing from here: `ExponentialFamily.register` makes it one of the family as it is.
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy, in nats: a Bregman divergence of the log normalizer."""
        result = -self._mean_carrier_measure
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        log_normalizer = self._log_normalizer(*natural)
        gradients = grad(log_normalizer.sum(), natural, create_graph=True)
        result = result + log_normalizer
        for parameter, gradient in zip(natural, gradients):
            result = result - (parameter * gradient).reshape((*self._batch_shape, -1)).sum(-1)
        return result
