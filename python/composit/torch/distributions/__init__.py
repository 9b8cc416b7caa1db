"""torch.distributions: distributions with their densities, draws through which gradients flow,
divergences, and transforms with their Jacobians."""

from __future__ import annotations

from composit.torch.distributions import constraints, kl, transforms
from composit.torch.distributions.classes import (
    Categorical,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from composit.torch.distributions.composed import (
    Independent,
    MixtureSameFamily,
    TransformedDistribution,
)
from composit.torch.distributions.constraint_registry import biject_to, transform_to
from composit.torch.distributions.discrete import (
    Bernoulli,
    Binomial,
    ContinuousBernoulli,
    Geometric,
    NegativeBinomial,
    Poisson,
)
from composit.torch.distributions.distribution import Distribution, ExponentialFamily
from composit.torch.distributions.kl import kl_divergence, register_kl
from composit.torch.distributions.location_scale import (
    Cauchy,
    Laplace,
    Normal,
    StudentT,
    Uniform,
    VonMises,
)
from composit.torch.distributions.multivariate import (
    LKJCholesky,
    LowRankMultivariateNormal,
    MultivariateNormal,
    Wishart,
)
from composit.torch.distributions.positive import (
    Beta,
    Chi2,
    Dirichlet,
    Exponential,
    FisherSnedecor,
    Gamma,
    GeneralizedPareto,
)
from composit.torch.distributions.relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from composit.torch.distributions.transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    Pareto,
    Weibull,
)
from composit.torch.distributions.transforms import *
from composit.torch.distributions.transforms import __all__ as _of_transforms
from composit.torch.parts import getter

__getattr__ = getter(__name__)

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli",
    "Dirichlet", "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT",
    "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to",
    "constraints", "kl", "kl_divergence", "register_kl", "transform_to", "transforms",
    *_of_transforms,
]  # fmt: skip
