"""Kullback and Leibler's divergence: a registry of formulas by the classes of both distributions.

KL(p || q) is the expectation, under p, of log p - log q: minus p's entropy, minus the expected log
density of q. The latter needs a few moments of p, so that a table of moments and one of densities
stand for most pairs. Where that loses digits, formulas of their own take its place.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from composit._core import not_implemented, type_error, value_error
from composit.torch import linalg
from composit.torch.autograd import grad
from composit.torch.distributions import classes, discrete, location_scale, positive
from composit.torch.distributions.composed import Independent, TransformedDistribution
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    _log_diagonal,
    _low_rank_log_determinant,
    _low_rank_mahalanobis,
    _mahalanobis,
)
from composit.torch.distributions.transformed import (
    Gumbel,
    HalfNormal,
    Pareto,
)
from composit.torch.distributions.utils import euler_constant, log_2pi, neural, sum_rightmost, torch

_registered: dict[tuple[type, type], Callable[..., Any]] = {}
_found: dict[tuple[type, type], Callable[..., Any]] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Any], Any]:
    """Registers the decorated function of (p, q) for these classes and their subclasses. The most
    specific of the registered pairs is used."""
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type) and issubclass(given, Distribution):
            raise type_error(f"Expected {name} to be a Distribution subclass but got {given}")

    def add(function: Any) -> Any:
        _registered[type_p, type_q] = function
        _found.clear()
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


def _dispatch(type_p: type, type_q: type) -> Callable[..., Any] | None:
    pairs = [
        (p, q) for p, q in _registered if issubclass(type_p, p) and issubclass(type_q, q)
    ]  # fmt: skip
    if not pairs:
        return None
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
    key = type(p), type(q)
    function = _found.get(key)
    if function is None:
        function = _dispatch(*key)
        if function is not None:
            _found[key] = function
    found = NotImplemented if function is None else function(p, q)
    if found is NotImplemented:
        raise not_implemented(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return found


# ----- by moments of p and the density of q


class _Moments:
    """What p's entropy and the densities below ask for."""

    def __init__(self, p: Any) -> None:
        self.p = p

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.p.mean

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.p.variance

    @property
    def log(self) -> Any:
        """The mean of log x."""
        return _log_moments[type_of(self.p, _log_moments)](self.p)

    @property
    def log_rest(self) -> Any:
        """The mean of log(1 - x)."""
        return _log_rest_moments[type_of(self.p, _log_rest_moments)](self.p)

    def decay(self, t: Any) -> Any:
        """The mean of exp(-t x)."""
        return _decays[type_of(self.p, _decays)](self.p, t)


def type_of(p: Any, table: dict[type, Any]) -> type:
    """The class of the table that p is an instance of."""
    return next(kind for kind in type(p).__mro__ if kind in table)


def _x_log_x(x: Any) -> Any:
    return torch.xlogy(x, x)


_log_moments: dict[type, Any] = {
    positive.Beta: lambda p: (
        torch.digamma(p.concentration1) - torch.digamma(p.concentration1 + p.concentration0)
    ),
    positive.Gamma: lambda p: torch.digamma(p.concentration) - p.rate.log(),
    positive.Exponential: lambda p: -euler_constant - p.rate.log(),
    Pareto: lambda p: p.scale.log() + 1 / p.alpha,
    location_scale.Uniform: lambda p: (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1,
}
_log_rest_moments: dict[type, Any] = {
    positive.Beta: lambda p: (
        torch.digamma(p.concentration0) - torch.digamma(p.concentration1 + p.concentration0)
    ),
    location_scale.Uniform: lambda p: (
        (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / (p.high - p.low) - 1
    ),
}
_decays: dict[type, Any] = {
    positive.Gamma: lambda p, t: (1 + t / p.rate) ** -p.concentration,
    positive.Exponential: lambda p, t: p.rate / (p.rate + t),
    Gumbel: lambda p, t: torch.exp(-t * p.loc + torch.lgamma(1 + t * p.scale)),
    location_scale.Normal: lambda p, t: torch.exp(-t * p.loc + 0.5 * (t * p.scale) ** 2),
    location_scale.Uniform: lambda p, t: (
        (torch.exp(-t * p.low) - torch.exp(-t * p.high)) / (t * (p.high - p.low))
    ),
}


def _log_beta(a: Any, b: Any) -> Any:
    return torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)


def _of_gumbel(q: Any, m: _Moments) -> Any:
    factor = torch.exp(q.loc / q.scale)
    return -q.scale.log() - (m.mean - q.loc) / q.scale - factor * m.decay(1 / q.scale)


# The expected log density of q.
_log_densities: dict[type, Any] = {
    positive.Beta: lambda q, m: (
        (q.concentration1 - 1) * m.log
        + (q.concentration0 - 1) * m.log_rest
        - _log_beta(q.concentration1, q.concentration0)
    ),
    discrete.ContinuousBernoulli: lambda q, m: (
        m.mean * q.logits + torch.log1p(-q.probs) + q._cont_bern_log_norm()
    ),
    positive.Exponential: lambda q, m: q.rate.log() - q.rate * m.mean,
    positive.Gamma: lambda q, m: (
        q.concentration * q.rate.log()
        - torch.lgamma(q.concentration)
        + (q.concentration - 1) * m.log
        - q.rate * m.mean
    ),
    Gumbel: _of_gumbel,
    location_scale.Normal: lambda q, m: (
        -q.scale.log() - log_2pi / 2 - (m.variance + (m.mean - q.loc) ** 2) / (2 * q.scale**2)
    ),
    Pareto: lambda q, m: q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * m.log,
    location_scale.Uniform: lambda q, m: -torch.log(q.high - q.low),
}

# The bounds of the values. Where p's are beyond q's, the divergence is infinite.
_bounds: dict[type, Any] = {
    positive.Beta: lambda p: (0, 1),
    discrete.ContinuousBernoulli: lambda p: (0, 1),
    positive.Exponential: lambda p: (0, math.inf),
    positive.Gamma: lambda p: (0, math.inf),
    Gumbel: lambda p: (-math.inf, math.inf),
    location_scale.Laplace: lambda p: (-math.inf, math.inf),
    location_scale.Normal: lambda p: (-math.inf, math.inf),
    Pareto: lambda p: (p.scale, math.inf),
    location_scale.Uniform: lambda p: (p.low, p.high),
}


def _by_moments(p: Any, q: Any) -> Any:
    low, high = _bounds[type_of(p, _bounds)](p)
    lowest, highest = _bounds[type_of(q, _bounds)](q)
    # A Pareto variable's scale is above 0.
    is_below = low < lowest if hasattr(low, "shape") or not isinstance(q, Pareto) else True
    is_above = high > highest
    if is_below is True or is_above is True:
        return torch.full(p.batch_shape, math.inf, dtype=p.mean.dtype, device=p.mean.device)
    kind = type_of(q, _log_densities)
    found = -p.entropy() - _log_densities[kind](q, _Moments(p))
    for is_outside in (is_below, is_above):
        if is_outside is not False:
            found = torch.where(is_outside, torch.full_like(found, math.inf), found)
    return found


_Beta, _Gamma, _Exponential = positive.Beta, positive.Gamma, positive.Exponential
_Continuous = discrete.ContinuousBernoulli
_Normal, _Laplace, _Uniform = location_scale.Normal, location_scale.Laplace, location_scale.Uniform
_bounded = (_Beta, _Continuous, _Exponential, _Gamma, Pareto, _Uniform)

for _p, _others in {
    _Beta: (_Beta, _Continuous, _Exponential, _Gamma, _Normal, Pareto, _Uniform),
    _Continuous: (_Continuous, _Exponential, _Normal, Pareto, _Uniform),
    _Exponential: (_Beta, _Continuous, _Exponential, _Gamma, Gumbel, _Normal, Pareto, _Uniform),
    _Gamma: (_Beta, _Continuous, _Exponential, _Gamma, Gumbel, _Normal, Pareto, _Uniform),
    Gumbel: (*_bounded, Gumbel, _Normal),
    _Laplace: (*_bounded, _Normal),
    _Normal: (*_bounded, Gumbel),
    Pareto: (_Beta, _Continuous, _Exponential, _Gamma, _Normal, Pareto, _Uniform),
    _Uniform: (*_bounded, Gumbel, _Normal),
}.items():
    for _q in _others:
        register_kl(_p, _q)(_by_moments)


# ----- of pairs of one kind


@register_kl(_Normal, _Normal)
def _normal_normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    distance = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + distance - 1 - ratio.log())


@register_kl(_Normal, _Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    distance = p.loc - q.loc
    ratio = distance / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * ratio**2)
    far = distance * torch.erf(math.sqrt(0.5) * ratio)
    scales = p.scale / q.scale
    return -torch.log(scales) + (near + far) / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(_Laplace, _Laplace)
def _laplace_laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(location_scale.Cauchy, location_scale.Cauchy)
def _cauchy_cauchy(p: Any, q: Any) -> Any:
    apart = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return apart - (4 * p.scale * q.scale).log()


@register_kl(HalfNormal, HalfNormal)
def _half_normal_half_normal(p: Any, q: Any) -> Any:
    return _normal_normal(p.base_dist, q.base_dist)


@register_kl(discrete.Bernoulli, discrete.Bernoulli)
def _bernoulli_bernoulli(p: Any, q: Any) -> Any:
    ones = neural.softplus(-q.logits) - neural.softplus(-p.logits)
    zeros = neural.softplus(q.logits) - neural.softplus(p.logits)
    t1, t2 = p.probs * ones, (1 - p.probs) * zeros
    inf = torch.full_like(t1, math.inf)
    t1 = torch.where(q.probs == 0, inf, t1)
    t1 = torch.where(p.probs == 0, torch.zeros_like(t1), t1)
    t2 = torch.where(q.probs == 1, inf, t2)
    return t1 + torch.where(p.probs == 1, torch.zeros_like(t2), t2)


@register_kl(discrete.Bernoulli, discrete.Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(discrete.Binomial, discrete.Binomial)
def _binomial_binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise not_implemented(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    rest = (-p.probs).log1p() - (-q.probs).log1p()
    found = p.total_count * (p.probs * (p.logits - q.logits) + rest)
    inf = torch.full_like(found, math.inf)
    return torch.where(p.total_count > q.total_count, inf, found)


@register_kl(classes.Categorical, classes.Categorical)
def _categorical_categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = torch.where((q.probs == 0).expand_as(terms), torch.full_like(terms, math.inf), terms)
    terms = torch.where((p.probs == 0).expand_as(terms), torch.zeros_like(terms), terms)
    return terms.sum(-1)


@register_kl(classes.OneHotCategorical, classes.OneHotCategorical)
def _one_hot_one_hot(p: Any, q: Any) -> Any:
    return _categorical_categorical(p._categorical, q._categorical)


@register_kl(discrete.Geometric, discrete.Geometric)
def _geometric_geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(discrete.Poisson, discrete.Poisson)
def _poisson_poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(discrete.Poisson, discrete.Bernoulli)
@register_kl(discrete.Poisson, discrete.Binomial)
def _poisson_infinite(p: Any, q: Any) -> Any:
    return torch.full_like(p.rate, math.inf)


@register_kl(positive.Dirichlet, positive.Dirichlet)
def _dirichlet_dirichlet(p: Any, q: Any) -> Any:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    normalisers = torch.lgamma(total_p) - torch.lgamma(total_q)
    normalisers = normalisers - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    difference = p.concentration - q.concentration
    logs = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return normalisers + (difference * logs).sum(-1)


@register_kl(_Uniform, _Uniform)
def _uniform_uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    is_outside = (q.low > p.low) | (q.high < p.high)
    return torch.where(is_outside, torch.full_like(found, math.inf), found)


@register_kl(Pareto, Pareto)
def _pareto_pareto(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    alphas = q.alpha / p.alpha
    found = q.alpha * ratio.log() - alphas.log() + alphas - 1
    return torch.where(p.support.lower_bound < q.support.lower_bound,
                       torch.full_like(found, math.inf), found)  # fmt: skip


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


# ----- of vectors


def _trace_of_squared(factor: Any, matrix: Any) -> Any:
    """The sum of squares of factor^-1 matrix: a trace, of batches that broadcast."""
    solved = linalg.solve_triangular(factor, matrix, upper=False)
    return solved.pow(2).sum((-2, -1))


def _check_events(p: Any, q: Any, name: str) -> None:
    if p.event_shape != q.event_shape:
        raise value_error(
            f"KL-divergence between two {name} with different event shapes cannot be computed"
        )


@register_kl(MultivariateNormal, MultivariateNormal)
def _normals(p: Any, q: Any) -> Any:
    _check_events(p, q, "Multivariate Normals")
    of_p, of_q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    half = _log_diagonal(of_q) - _log_diagonal(of_p)
    trace = _trace_of_squared(of_q, of_p)
    length = _mahalanobis(of_q, q.loc - p.loc)
    return half + 0.5 * (trace + length - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank_normal(p: Any, q: Any) -> Any:
    _check_events(p, q, "(Low Rank) Multivariate Normals")
    of_q = q._unbroadcasted_scale_tril
    determinant = _low_rank_log_determinant(p._unbroadcasted_cov_diag, p._capacitance_tril)
    length = _mahalanobis(of_q, q.loc - p.loc)
    trace = _trace_of_squared(of_q, p._unbroadcasted_cov_factor) + _trace_of_squared(
        of_q, p._unbroadcasted_cov_diag.sqrt().diag_embed()
    )
    return 0.5 * (2 * _log_diagonal(of_q) - determinant + trace + length - p.event_shape[0])


def _in_low_rank(p: Any, q: Any, trace_p: Any, half_p: Any) -> Any:
    """q of low rank: by Woodbury's identity, the trace of q^-1 C is that of D^-1 C, less what the
    factor takes away."""
    diagonal = q._unbroadcasted_cov_diag
    determinant = _low_rank_log_determinant(diagonal, q._capacitance_tril)
    length = _low_rank_mahalanobis(
        q._unbroadcasted_cov_factor, diagonal, q.loc - p.loc, q._capacitance_tril
    )
    scaled = q._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
    kernel = linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)
    trace = sum(
        (root.pow(2).sum(-1) / diagonal).sum(-1) - (kernel @ root).pow(2).sum((-2, -1))
        for root in trace_p
    )
    return 0.5 * (determinant - half_p + trace + length - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _normal_low_rank(p: Any, q: Any) -> Any:
    _check_events(p, q, "(Low Rank) Multivariate Normals")
    factor = p._unbroadcasted_scale_tril
    return _in_low_rank(p, q, [factor], 2 * _log_diagonal(factor))


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low_ranks(p: Any, q: Any) -> Any:
    _check_events(p, q, "Low Rank Multivariate Normals")
    roots = [p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag.sqrt().diag_embed()]
    determinant = _low_rank_log_determinant(p._unbroadcasted_cov_diag, p._capacitance_tril)
    return _in_low_rank(p, q, roots, determinant)


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
