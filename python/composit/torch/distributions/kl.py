"""Kullback and Leibler's divergence: a registry of formulas by the classes of both
distributions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import not_implemented, type_error
from composit.torch.autograd import grad
from composit.torch.distributions import (
    classes,
    discrete,
    location_scale,
    multivariate,
    positive,
    transformed,
)
from composit.torch.distributions.composed import Independent, TransformedDistribution
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.utils import sum_rightmost

_registered: dict[tuple[type, type], Callable[..., Any]] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Any], Any]:
    """Registers the decorated function of (p, q) for these classes and their subclasses. The most
    specific of the registered pairs is used."""
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type) and issubclass(given, Distribution):
            raise type_error(f"Expected {name} to be a Distribution subclass but got {given}")

    def add(function: Any) -> Any:
        _registered[type_p, type_q] = function
        _dispatch.cache_clear()
        return function

    return add


def _is_narrower(one: tuple[type, type], other: tuple[type, type], order: tuple[int, int]) -> bool:
    """Whether one pair is before the other: in the first class of the order, then in the second."""
    first, second = order
    if one[first] is not other[first]:
        return issubclass(one[first], other[first])
    return issubclass(one[second], other[second])


def _smallest(pairs: list[tuple[type, type]], order: tuple[int, int]) -> tuple[type, type]:
    best = pairs[0]
    for pair in pairs[1:]:
        if _is_narrower(pair, best, order):
            best = pair
    return best


def _none(p: Any, q: Any) -> Any:
    return NotImplemented


@functools.lru_cache(None)
def _dispatch(type_p: type, type_q: type) -> Callable[..., Any]:
    pairs = [
        (p, q) for p, q in _registered if issubclass(type_p, p) and issubclass(type_q, q)
    ]  # fmt: skip
    if not pairs:
        return _none
    by_p, by_q = _smallest(pairs, (0, 1)), _smallest(pairs, (1, 0))
    if _registered[by_p] is not _registered[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl("
            f"{by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _registered[by_p]


def kl_divergence(p: Any, q: Any) -> Any:
    """KL(p || q), of the batch shape of both. NotImplementedError: no formula is registered."""
    classes_of: Any = type(p), type(q)
    found = _dispatch(*classes_of)(p, q)
    if found is NotImplemented:
        raise not_implemented(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return found


# ----- by formulas of composit::aten

_divergence: Callable[..., Any] = _core.aten.divergence_formula
_families: dict[str, type] = {
    cls.__dict__["_family"]: cls
    for module in (classes, discrete, location_scale, multivariate, positive, transformed)
    for cls in vars(module).values()
    if isinstance(cls, type) and "_family" in cls.__dict__
}
for _p, _q in _core.aten.divergence_pairs():
    register_kl(_families[_p], _families[_q])(_divergence(_p, _q))


_binomials = _divergence("binomial", "binomial")


@register_kl(discrete.Binomial, discrete.Binomial)
def _binomial_binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise not_implemented(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    return _binomials(p, q)


@register_kl(ExponentialFamily, ExponentialFamily)
def _family_family(p: Any, q: Any) -> Any:
    """Of one family: the Bregman divergence of its log normalizer."""
    if type(p) is not type(q):
        raise not_implemented(
            "The cross KL-divergence between different exponential families cannot be "
            "computed using Bregman divergences"
        )
    at_p = [x.detach().requires_grad_() for x in p._natural_params]
    at_q = q._natural_params
    log_normalizer = p._log_normalizer(*at_p)
    gradients = grad(log_normalizer.sum(), at_p, create_graph=True)
    found = q._log_normalizer(*at_q) - log_normalizer
    for of_p, of_q, gradient in zip(at_p, at_q, gradients):
        found = found - sum_rightmost((of_q - of_p) * gradient, len(q.event_shape))
    return found


# ----- of what is made of others


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, p.reinterpreted_batch_ndims)


__all__ = ["kl_divergence", "register_kl"]
