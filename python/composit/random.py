"""Random numbers from explicit keys, as jax.random's: the same key gives the same numbers, on any
back end and with any number of threads. A draw is one node; the key is a value like any other.

    k1, k2 = composit.random.split(composit.random.key(0))
    weights = composit.random.normal(k1, (32, 8))

NumPy's generator with a state of its own is composit.numpy.random; those of its functions whose
names are not taken here (`random`, `rand`, `seed`, …) are offered here too.
"""

from __future__ import annotations

import operator
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, with_location
from composit._mismatch import wrong
from composit.numpy.random import (
    RandomState,
    get_state,
    rand,
    randn,
    random,
    random_sample,
    seed,
    set_state,
    standard_normal,
)

_c = _core.random

__all__ = [
    "RandomState", "bernoulli", "bits", "categorical", "exponential", "fold_in", "gamma",
    "gamma_slope", "get_state", "gumbel", "key", "laplace", "logistic", "normal", "rademacher",
    "rand", "randint", "randn",
    "random", "random_sample", "seed", "set_state", "split", "standard_normal", "truncated_normal",
    "uniform",
]  # fmt: skip


def key(seed: int) -> LazyTensor:
    """The key of an integer: a uint64 leaf, its value the seed modulo 2**64."""
    if not hasattr(seed, "__index__"):
        raise TypeError(wrong(seed, "An integer"))
    number = operator.index(seed)
    if not -(2**63) <= number < 2**64:
        raise OverflowError(
            with_location(f"key: seed is {number}. An integer of 64 bits is required.")
        )
    return _core.array_of(_c.key(number % 2**64))


def split(key: Any, num: int = 2) -> LazyTensor:
    """`num` new keys, of shape (num,), in place of a key, which is not to be used again."""
    return _c.split(key, num)


def fold_in(key: Any, data: Any) -> LazyTensor:
    """A new key for an integer: a step's number, a layer's."""
    return _c.fold_in(key, data)


def bits(key: Any, shape: Any = (), dtype: Any = "uint32") -> LazyTensor:
    """Uniform bits in an unsigned integer dtype."""
    return _c.bits(key, shape, dtype)


def uniform(
    key: Any, shape: Any = (), dtype: Any = "float32", minval: Any = None, maxval: Any = None
) -> LazyTensor:
    """Uniform in [minval, maxval), [0, 1) where they are left out, in steps of 2**-23 of the
    interval (float64: 2**-52)."""
    return _c.uniform(key, shape, dtype, minval, maxval)


def normal(key: Any, shape: Any = (), dtype: Any = "float32") -> LazyTensor:
    """Normal with mean 0 and deviation 1."""
    return _c.normal(key, shape, dtype)


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any = (), dtype: Any = "float32"
) -> LazyTensor:
    """The normal distribution between lower and upper."""
    return _c.truncated_normal(key, lower, upper, shape, dtype)


def exponential(key: Any, shape: Any = (), dtype: Any = "float32") -> LazyTensor:
    """Exponential with mean 1."""
    return _c.exponential(key, shape, dtype)


def laplace(key: Any, shape: Any = (), dtype: Any = "float32") -> LazyTensor:
    """The density exp(-|x|) / 2."""
    return _c.laplace(key, shape, dtype)


def logistic(key: Any, shape: Any = (), dtype: Any = "float32") -> LazyTensor:
    """The distribution function 1 / (1 + exp(-x))."""
    return _c.logistic(key, shape, dtype)


def gumbel(key: Any, shape: Any = (), dtype: Any = "float32") -> LazyTensor:
    """The distribution function exp(-exp(-x))."""
    return _c.gumbel(key, shape, dtype)


def gamma(key: Any, concentration: Any, shape: Any = (), dtype: Any = "float32") -> LazyTensor:
    """The density x**(a - 1) * exp(-x) / gamma(a) of a concentration a. Gradients reach it."""
    return _c.gamma(key, concentration, shape, dtype)


def gamma_slope(concentration: Any, draws: Any) -> LazyTensor:
    """How draws of `gamma` move with their concentration at a fixed probability, float64."""
    return _c.gamma_slope(concentration, draws)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> LazyTensor:
    """True with probability p; of p's shape unless one is given."""
    return _c.bernoulli(key, p, shape)


def rademacher(key: Any, shape: Any = (), dtype: Any = "int64") -> LazyTensor:
    """-1 or 1, each as often."""
    return _c.rademacher(key, shape, dtype)


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = "int64") -> LazyTensor:
    """Integers in [minval, maxval); minval where that is empty."""
    return _c.randint(key, shape, minval, maxval, dtype)


def categorical(key: Any, logits: Any, axis: int = -1) -> LazyTensor:
    """Positions along an axis, each with a probability proportional to exp(logit)."""
    return _c.categorical(key, logits, axis)


_not_built = {
    **dict.fromkeys(("permutation", "shuffle", "choice"), "a sort"),
    **dict.fromkeys(("beta", "binomial", "dirichlet", "poisson", "t"), "rejection"),
    "multivariate_normal": "a Cholesky factorisation",
}


def __getattr__(name: str) -> Any:
    """jax.random's functions that are still to come say what they wait for."""
    if name in _not_built:
        raise AttributeError(
            f"composit.random.{name} is not built yet: it needs {_not_built[name]}."
        )
    raise AttributeError(f"module 'composit.random' has no attribute {name!r}")
