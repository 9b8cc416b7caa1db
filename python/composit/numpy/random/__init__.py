"""numpy.random: NumPy's generators and distributions, with NumPy's numbers of the same seed. A draw
is one leaf that keeps its values."""

from __future__ import annotations

from typing import Any

from composit._core import value_error
from composit.numpy.random._bit_generators import (
    MT19937,
    PCG64,
    PCG64DXSM,
    SFC64,
    BitGenerator,
    Philox,
)
from composit.numpy.random._generator import Generator, default_rng
from composit.numpy.random._random_state import RandomState, _global
from composit.numpy.random._seeds import SeedSequence

beta = _global.beta
binomial = _global.binomial
bytes = _global.bytes
chisquare = _global.chisquare
choice = _global.choice
dirichlet = _global.dirichlet
exponential = _global.exponential
f = _global.f
gamma = _global.gamma
geometric = _global.geometric
get_state = _global.get_state
gumbel = _global.gumbel
hypergeometric = _global.hypergeometric
laplace = _global.laplace
logistic = _global.logistic
lognormal = _global.lognormal
logseries = _global.logseries
multinomial = _global.multinomial
multivariate_normal = _global.multivariate_normal
negative_binomial = _global.negative_binomial
noncentral_chisquare = _global.noncentral_chisquare
noncentral_f = _global.noncentral_f
normal = _global.normal
pareto = _global.pareto
permutation = _global.permutation
poisson = _global.poisson
power = _global.power
rand = _global.rand
randint = _global.randint
randn = _global.randn
random = _global.random
random_integers = _global.random_integers
random_sample = _global.random_sample
rayleigh = _global.rayleigh
seed = _global.seed
set_state = _global.set_state
shuffle = _global.shuffle
standard_cauchy = _global.standard_cauchy
standard_exponential = _global.standard_exponential
standard_gamma = _global.standard_gamma
standard_normal = _global.standard_normal
standard_t = _global.standard_t
triangular = _global.triangular
uniform = _global.uniform
vonmises = _global.vonmises
wald = _global.wald
weibull = _global.weibull
zipf = _global.zipf
ranf = sample = random_sample


def get_bit_generator() -> Any:
    """Where the module's functions draw from."""
    return _global._bit_generator


def set_bit_generator(bitgen: Any) -> None:
    """Makes the module's functions draw from it."""
    if not hasattr(bitgen, "capsule"):
        message = "set_bit_generator: Invalid bit generator. The bit generator must be instantized."
        raise value_error(message)
    _global.replace_bit_generator(bitgen)
