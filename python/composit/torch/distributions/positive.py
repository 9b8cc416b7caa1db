"""Distributions of positive numbers and probabilities: gamma, beta, Dirichlet's and their kin."""

from __future__ import annotations

from numbers import Number
from typing import Any, ClassVar

from composit._core import value_error
from composit.torch import dtypes
from composit.torch.distributions import constraints
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.formulas import formula
from composit.torch.distributions.utils import broadcast_all, torch
from composit.torch.dtypes import Size

_gamma_log_prob = formula("gamma", "log_prob")
_greatest = formula("generalized_pareto", "greatest")
_pareto_entropy = formula("generalized_pareto", "entropy")


class Exponential(ExponentialFamily):
    """The density rate * exp(-rate x)."""

    _family = "exponential"

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = Size() if isinstance(rate, Number) else self.rate.size()
        super().__init__(shape, validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate


@ExponentialFamily.register
class Gamma(Distribution):
    """The density of a shape `concentration` and a `rate`."""

    _family = "gamma"

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

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return value.clamp(min=dtypes.finfo(value.dtype).tiny)  # above 0, where the support begins

    def log_prob(self, value: Any) -> Any:
        value = torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        return _gamma_log_prob(self, self._checked(value))


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

    _family = "dirichlet"

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


class Beta(ExponentialFamily):
    """A probability with the density x ** (concentration1 - 1) (1 - x) ** (concentration0 - 1)."""

    _family = "beta"

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

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    @property
    def _concentration(self) -> Any:
        return self._dirichlet.concentration

    @property
    def concentration1(self) -> Any:
        """The weight of 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """The weight of 0."""
        return self._dirichlet.concentration[..., 1]


class FisherSnedecor(Distribution):
    """The ratio of two means of squares, of `df1` and `df2` degrees of freedom."""

    _family = "fisher_snedecor"

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        is_number = isinstance(df1, Number) and isinstance(df2, Number)
        super().__init__(Size() if is_number else self.df1.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        tiny = dtypes.finfo(self.df1.dtype).tiny
        x1 = torch._standard_gamma((self.df1 * 0.5).expand(shape)) / (self.df1 * 0.5)
        x2 = torch._standard_gamma((self.df2 * 0.5).expand(shape)) / (self.df2 * 0.5)
        return (x1.clamp(min=tiny) / x2.clamp(min=tiny)).clamp(min=tiny)


class GeneralizedPareto(Distribution):
    """The density (1 + concentration z) ** -(1 / concentration + 1) / scale of z = (x - loc) /
    scale: what lies beyond a high threshold."""

    _family = "generalized_pareto"

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

    def entropy(self) -> Any:
        return torch.broadcast_to(_pareto_entropy(self), self._batch_shape)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        return constraints.interval(self.loc, _greatest(self))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))


__all__ = ["Beta", "Chi2", "Dirichlet", "Exponential", "FisherSnedecor", "Gamma",
           "GeneralizedPareto"]  # fmt: skip
