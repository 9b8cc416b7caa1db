"""What families of distributions and transforms compute: the formulas of composit::aten, whose
operations are composit.torch's, so that each is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.torch import linalg, operations, special
from composit.torch.tensor import tensor


def _picked(x: Any, places: Any) -> Any:
    """Elements at places of the last dimension."""
    return x.index_select(-1, tensor(places, device=x.device))


def _placed(x: Any, places: Any, length: int) -> Any:
    """Zeros but for elements at places of the last dimension."""
    zeros = x.new_zeros((*x.shape[:-1], length))
    return zeros.scatter(-1, tensor(places, device=x.device).expand(x.shape), x)


operations.more.update(
    {
        "i0e": special.i0e,
        "i1e": special.i1e,
        "linalg_cholesky": linalg.cholesky,
        "picked": _picked,
        "placed": _placed,
        "solve_lower": lambda a, b: linalg.solve_triangular(a, b, upper=False),
    }
)


formula: Callable[..., Any] = _core.aten.distribution_formula


def _method(formula: Any) -> Any:
    return lambda self: formula(self)


def _of_value(formula: Any) -> Any:
    return lambda self, value: formula(self, value)


def _of_one(formula: Any) -> Any:
    return lambda self, x: formula(self, x)


def _of_checked_value(formula: Any) -> Any:
    return lambda self, value: formula(self, self._checked(value))


def _of_parameters(formula: Any) -> Any:
    return lambda self, *natural_params: formula(self, *natural_params)


_members: dict[str, Any] = {
    **dict.fromkeys(("mean", "mode", "variance", "stddev"), property),
    **dict.fromkeys(("log_prob", "cdf", "log_survival_function", "log_cdf"), _of_checked_value),
    "icdf": _of_value, "entropy": _method, "_log_normalizer": _of_parameters,
}  # fmt: skip


def named(member: Any, cls: Any, name: str) -> Any:
    """The member under the name of its class's, with the documentation that it inherits."""
    member.__doc__ = getattr(getattr(cls, name, None), "__doc__", None)
    if not isinstance(member, property):
        member.__name__, member.__qualname__ = name, f"{cls.__qualname__}.{name}"
        member.__module__ = cls.__module__
    return member


def give_members(cls: Any, family: str) -> None:
    """Gives a class of distributions the members that its family has formulas for, but for those
    that it defines itself."""
    asked = _core.aten.distribution_quantities(family)
    natural = [formula(family, name) for name in asked if name.startswith("natural")]
    if natural and "_natural_params" not in cls.__dict__:
        cls._natural_params = property(lambda self: tuple(of(self) for of in natural))
    for name in _members.keys() & set(asked) - cls.__dict__.keys():
        setattr(cls, name, named(_members[name](formula(family, name)), cls, name))


def _of_pair(formula: Any) -> Any:
    return lambda self, x, y: formula(self, x, y)


def give_formulas(cls: Any, transform: str) -> None:
    """Gives a class of transforms what composit::aten has of the transform."""
    for name, asked, make in (
        ("_call", "forward", _of_one), ("_inverse", "inverse", _of_one),
        ("log_abs_det_jacobian", "log_abs_det_jacobian", _of_pair),
    ):  # fmt: skip
        found = _core.aten.transform_formula(transform, asked)
        if found is not None:
            setattr(cls, name, named(make(found), cls, name))
