"""Constraints: the sets of values that parameters and results of distributions lie in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from composit._core import not_implemented, value_error
from composit.torch import dtypes, linalg
from composit.torch.distributions.utils import torch


class Constraint:
    """A set of tensors. `event_dim` dimensions from the right are checked together."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """A bool tensor: where the value lies within, without its event dimensions."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    """A constraint that depends on other parameters."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    def _known(self, value: Any, name: str) -> Any:
        if value is NotImplemented:
            raise not_implemented(f".{name} cannot be determined statically")
        return value

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        """Whether the values are discrete."""
        return self._known(self._is_discrete, "is_discrete")

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        """How many dimensions an event has."""
        return self._known(self._event_dim, "event_dim")

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise value_error("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether the constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property whose value, read from an instance, is a constraint."""

    def __init__(
        self, fn: Any = None, *, is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:  # fmt: skip
        property.__init__(self, fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A constraint whose last dimensions are checked together."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        """That of the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        """That of the base, and the dimensions that are checked together."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        if result.dim() < count:
            raise value_error(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[: result.dim() - count], -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


def _simple(
    name: str, check: Callable[[Any], Any], is_discrete: bool = False, event_dim: int = 0
) -> Any:
    """A constraint that a function of the value checks. It has a class of its own, by which
    registries find it."""
    members = {"is_discrete": is_discrete, "event_dim": event_dim, "__module__": __name__,
               "check": lambda self, value: check(value), "__doc__": f"{name}."}  # fmt: skip
    return type(f"_{name}", (Constraint,), members)()


class _Bounded(Constraint):
    """A constraint by bounds, which are numbers or tensors."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.__dict__.items())
        return f"{type(self).__name__[1:]}({shown})"


@dataclass(eq=False, repr=False)
class _IntegerInterval(_Bounded):
    """Integers from lower_bound to upper_bound."""

    is_discrete = True
    lower_bound: Any
    upper_bound: Any

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


@dataclass(eq=False, repr=False)
class _IntegerGreaterThan(_Bounded):
    """Integers from lower_bound on."""

    is_discrete = True
    lower_bound: Any

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


@dataclass(eq=False, repr=False)
class _IntegerLessThan(_Bounded):
    """Integers up to upper_bound."""

    is_discrete = True
    upper_bound: Any

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


@dataclass(eq=False, repr=False)
class _GreaterThan(_Bounded):
    """Numbers above lower_bound."""

    lower_bound: Any

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


@dataclass(eq=False, repr=False)
class _GreaterThanEq(_Bounded):
    """Numbers from lower_bound on."""

    lower_bound: Any

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


@dataclass(eq=False, repr=False)
class _LessThan(_Bounded):
    """Numbers below upper_bound."""

    upper_bound: Any

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


@dataclass(eq=False, repr=False)
class _Interval(_Bounded):
    """Numbers from lower_bound to upper_bound."""

    lower_bound: Any
    upper_bound: Any

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


@dataclass(eq=False, repr=False)
class _HalfOpenInterval(_Bounded):
    """Numbers from lower_bound, before upper_bound."""

    lower_bound: Any
    upper_bound: Any

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Multinomial(Constraint):
    """Counts that are at least 0, whose sum is at most upper_bound."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Cat(Constraint):
    """Constraints of parts that are concatenated along a dimension."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        self.cseq = list(cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        self.dim = dim

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        """Whether one of them is."""
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        """The largest."""
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        return torch.cat([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class _Stack(Constraint):
    """Constraints of parts that are stacked along a dimension."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        """Whether one of them is."""
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        """The largest, and one more if the stacked dimension lies within."""
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        parts = value.unbind(self.dim)
        return torch.stack([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


def _all_of_matrix(mask: Any) -> Any:
    return mask.reshape((*mask.shape[:-2], -1)).all(-1)


def _is_one_hot(value: Any) -> Any:
    is_boolean = (value == 0) | (value == 1)
    return is_boolean.all(-1) & (value.sum(-1) == 1)


def _is_lower_triangular(value: Any) -> Any:
    return _all_of_matrix(value.tril() == value)


def _is_lower_cholesky(value: Any) -> Any:
    return _is_lower_triangular(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


def _is_corr_cholesky(value: Any) -> Any:
    tolerance = dtypes.finfo(value.dtype).eps * value.shape[-1] * 10
    length = (value * value).sum(-1).sqrt()
    return ((length - 1).abs() < tolerance).all(-1) & _is_lower_cholesky(value)


def _is_square(value: Any) -> Any:
    return torch.full(value.shape[:-2], value.shape[-1] == value.shape[-2], device=value.device)


def _is_symmetric(value: Any) -> Any:
    if value.shape[-1] != value.shape[-2]:
        return _is_square(value)
    return _all_of_matrix(torch.isclose(value, value.mT, atol=1e-6))


def _is_positive_semidefinite(value: Any) -> Any:
    is_symmetric = _is_symmetric(value)
    if not is_symmetric.all():
        return is_symmetric
    return (linalg.eigvalsh(value) >= 0).all(-1)


def _is_positive_definite(value: Any) -> Any:
    is_symmetric = _is_symmetric(value)
    if not is_symmetric.all():
        return is_symmetric
    return linalg.cholesky_ex(value).info == 0


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _simple("Boolean", lambda x: (x == 0) | (x == 1), True)
one_hot = _simple("OneHot", _is_one_hot, True, 1)
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _simple("Real", lambda x: x == x)
real_vector = _IndependentConstraint(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _simple(
    "Simplex", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), event_dim=1
)
lower_triangular = _simple("LowerTriangular", _is_lower_triangular, event_dim=2)
lower_cholesky = _simple("LowerCholesky", _is_lower_cholesky, event_dim=2)
corr_cholesky = _simple("CorrCholesky", _is_corr_cholesky, event_dim=2)
square = _simple("Square", _is_square, event_dim=2)
symmetric = _simple("Symmetric", _is_symmetric, event_dim=2)
positive_semidefinite = _simple("PositiveSemidefinite", _is_positive_semidefinite, event_dim=2)
positive_definite = _simple("PositiveDefinite", _is_positive_definite, event_dim=2)
cat = _Cat
stack = _Stack


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: the components' constraint, of values without their dimension."""

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        """That of the components."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        """That of the components."""
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        kept = value.dim() - self.event_dim
        return found.reshape((*found.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval",
    "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial",
    "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite",
    "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square",
    "stack", "symmetric", "unit_interval",
]  # fmt: skip
