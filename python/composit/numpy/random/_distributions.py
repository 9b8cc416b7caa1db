"""The distributions of one number that numpy.random's two kinds of generators share."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from composit._core import LazyTensor
from composit.numpy.random import _shared


class Distributions:
    """Draws by one of the ways in which bits become numbers: today's, or the legacy one."""

    _ways: SimpleNamespace
    _draw: Callable[..., LazyTensor]
    _bit_generator: Any

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"

    def __str__(self) -> str:
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def beta(self, a: Any, b: Any, size: Any = None) -> LazyTensor:
        """On [0, 1], of shapes a and b."""
        return self._draw(self._ways.beta, size, a, b)

    def chisquare(self, df: Any, size: Any = None) -> LazyTensor:
        """A sum of df squares of standard normal numbers."""
        return self._draw(self._ways.chisquare, size, df)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> LazyTensor:
        """With mean scale."""
        return self._draw(self._ways.exponential, size, scale)

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> LazyTensor:
        """Fisher's: a quotient of two chi-square numbers over their degrees."""
        return self._draw(self._ways.f, size, dfnum, dfden)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> LazyTensor:
        """Of a shape, times scale."""
        return self._draw(self._ways.gamma, size, shape, scale)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> LazyTensor:
        """Gumbel's, of extreme values."""
        return self._draw(self._ways.gumbel, size, loc, scale)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> LazyTensor:
        """Laplace's: double exponential."""
        return self._draw(self._ways.laplace, size, loc, scale)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> LazyTensor:
        """Logistic."""
        return self._draw(self._ways.logistic, size, loc, scale)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> LazyTensor:
        """Its logarithm is normal."""
        return self._draw(self._ways.lognormal, size, mean, sigma)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> LazyTensor:
        """A sum of df squares of normal numbers, their means' squares summing to nonc."""
        return self._draw(self._ways.noncentral_chisquare, size, df, nonc)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> LazyTensor:
        """F, its numerator noncentral."""
        return self._draw(self._ways.noncentral_f, size, dfnum, dfden, nonc)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> LazyTensor:
        """With mean loc and deviation scale."""
        return self._draw(self._ways.normal, size, loc, scale)

    def pareto(self, a: Any, size: Any = None) -> LazyTensor:
        """Lomax's (Pareto's of the second kind), of shape a."""
        return self._draw(self._ways.pareto, size, a)

    def power(self, a: Any, size: Any = None) -> LazyTensor:
        """On [0, 1], with density a x**(a - 1)."""
        return self._draw(self._ways.power, size, a)

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> LazyTensor:
        """Rayleigh's: the length of a vector of two normal numbers."""
        return self._draw(self._ways.rayleigh, size, scale)

    def standard_cauchy(self, size: Any = None) -> LazyTensor:
        """Cauchy's, with mode 0."""
        return self._draw(self._ways.standard_cauchy, size)

    def standard_t(self, df: Any, size: Any = None) -> LazyTensor:
        """Student's, of df degrees of freedom."""
        return self._draw(self._ways.standard_t, size, df)

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> LazyTensor:
        """A triangle from left over mode to right."""
        return self._draw(self._ways.triangular, size, left, mode, right)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> LazyTensor:
        """Uniform in [low, high)."""
        return self._draw(self._ways.uniform, size, low, high)

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> LazyTensor:
        """On the circle, around mu with concentration kappa."""
        return self._draw(self._ways.vonmises, size, mu, kappa)

    def wald(self, mean: Any, scale: Any, size: Any = None) -> LazyTensor:
        """Inverse normal."""
        return self._draw(self._ways.wald, size, mean, scale)

    def weibull(self, a: Any, size: Any = None) -> LazyTensor:
        """Weibull's, of shape a."""
        return self._draw(self._ways.weibull, size, a)

    def binomial(self, n: Any, p: Any, size: Any = None) -> LazyTensor:
        """How many of n trials succeed, each with probability p."""
        return self._draw(self._ways.binomial, size, _shared.counts(n), p)

    def geometric(self, p: Any, size: Any = None) -> LazyTensor:
        """How many trials there are to the first success, each with probability p."""
        return self._draw(self._ways.geometric, size, p)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> LazyTensor:
        """How many good ones are among nsample that are taken."""
        urn = (_shared.counts(count) for count in (ngood, nbad, nsample))
        return self._draw(self._ways.hypergeometric, size, *urn)

    def logseries(self, p: Any, size: Any = None) -> LazyTensor:
        """Fisher's logarithmic series."""
        return self._draw(self._ways.logseries, size, p)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> LazyTensor:
        """How many trials fail before n succeed, each with probability p."""
        return self._draw(self._ways.negative_binomial, size, n, p)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> LazyTensor:
        """How often what happens lam times on average happens."""
        return self._draw(self._ways.poisson, size, lam)

    def zipf(self, a: Any, size: Any = None) -> LazyTensor:
        """Zeta: k with probability proportional to k**-a."""
        return self._draw(self._ways.zipf, size, a)
