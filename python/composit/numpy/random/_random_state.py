"""numpy.random.RandomState, the legacy generator whose stream never changes, and the functions of
numpy.random that draw from the one that all share."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit._mismatch import wrong
from composit.numpy.random import _shared
from composit.numpy.random._bit_generators import MT19937, _core_of
from composit.numpy.random._distributions import Distributions

_c = _core.numpy_random
_l = SimpleNamespace(**_c.legacy)


class RandomState(Distributions):
    """A generator with state of its own: an integer, a sequence of them, fresh entropy, or a bit
    generator to draw from."""

    _ways = _l

    def __init__(self, seed: Any = None) -> None:
        if hasattr(seed, "capsule"):
            self._over(seed)
            return
        bits = MT19937()
        if seed is not None:
            bits._legacy_seeding(seed)
        self._over(bits)

    _stream_of = _c.RandomState

    def _over(self, bit_generator: Any) -> None:
        self._bit_generator = bit_generator
        self._stream = self._stream_of(_core_of(bit_generator))
        self._draw = self._stream.draw

    def __reduce__(self) -> Any:
        return type(self), (self._bit_generator,), self.get_state(legacy=False)

    def __setstate__(self, state: Any) -> None:
        self.set_state(state)

    # ----- state

    def seed(self, seed: Any = None) -> None:
        """Starts again from a seed: an integer, a sequence of them, or fresh entropy."""
        if not isinstance(self._bit_generator, MT19937):
            raise type_error("seed: can only re-seed a MT19937 BitGenerator")
        with self._bit_generator.lock:
            self._bit_generator._legacy_seeding(seed)
            self._stream.set_gauss(False, 0.0)

    def get_state(self, legacy: bool = True) -> Any:
        """As numpy.random.get_state: a tuple, or a dictionary."""
        with self._bit_generator.lock:
            state = dict(self._bit_generator.state)
            has_gauss, gauss = self._stream.gauss()
        state.update(has_gauss=int(has_gauss), gauss=gauss)
        if legacy and state["bit_generator"] != "MT19937":
            warnings.warn(
                "get_state and legacy can only be used with the MT19937 BitGenerator. To silence "
                "this warning, set `legacy` to False.",
                RuntimeWarning,
                stacklevel=2,
            )
            legacy = False
        if not legacy:
            return state
        twister = state["state"]
        return "MT19937", twister["key"], twister["pos"], int(has_gauss), gauss

    def set_state(self, state: Any) -> None:
        """As numpy.random.set_state: what get_state returned, here or there."""
        given = _c.state_of_legacy(state)
        gauss = float(given.get("gauss", 0.0))
        has_gauss = bool(given.get("has_gauss", 0))
        with self._bit_generator.lock:
            self._bit_generator.state = given
            self._stream.set_gauss(has_gauss, gauss)

    # ----- integers and orders

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Integers in [low, high), or [0, low)."""
        draw = self._stream.integers
        return _c.integers("randint", draw, low, high, size, dtype, False, True)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> LazyTensor:
        """randint with `high` among the integers, or [1, low]; deprecated, as in NumPy."""
        if high is None:
            low, high = 1, low
        warnings.warn(
            f"This function is deprecated. Please call randint({low}, {high} + 1) instead",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.randint(low, int(high) + 1, size)

    def bytes(self, length: int) -> Any:
        """Random bytes."""
        return _shared.as_bytes(self.randint, length)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """Elements of a, or integers below it; p: their probabilities."""
        count, holder = _c.population(a)
        if holder is not None and holder.ndim != 1:
            raise value_error("choice: a must be 1-dimensional")
        _shared.check_sequence(p)
        places = self._stream.choice(count, size, bool(replace), p)
        return places if holder is None else _c.taken(holder, places, 0)

    def shuffle(self, x: Any) -> None:
        """Puts x in another order along its first axis, in place: a tensor, an array or a list."""
        _c.shuffle(self._stream.permutation, x, 0)

    def permutation(self, x: Any) -> Any:
        """The integers below x, or its elements along the first axis, in random order."""
        if not isinstance(x, (int, np.integer)) and np.ndim(x) == 0:
            required = "An integer, or an array of at least one dimension,"
            raise IndexError(wrong(x, required))
        return _c.permutation(self._stream.permutation, x, 0)

    # ----- vectors

    def multinomial(self, n: int, pvals: Any, size: Any = None) -> LazyTensor:
        """How many of n trials end in each way, with these probabilities."""
        return self._stream.multinomial(int(n), _c.one_row(pvals), size)

    def dirichlet(self, alpha: Any, size: Any = None) -> LazyTensor:
        """Parts of a whole."""
        len(alpha)
        return self._stream.dirichlet(alpha, size)

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8
    ) -> LazyTensor:
        """Normal vectors with this mean and covariance."""
        normal = self.standard_normal
        return _shared.with_covariance(normal, mean, cov, size, check_valid, tol, "svd", True)

    # ----- distributions of one number

    def random(self, size: Any = None) -> LazyTensor:
        """Uniform in [0, 1)."""
        return self._draw(_l.random, size)

    def random_sample(self, size: Any = None) -> LazyTensor:
        """Uniform in [0, 1)."""
        return self._draw(_l.random, size)

    def rand(self, *args: int) -> LazyTensor:
        """Uniform in [0, 1), of the shape that the arguments give."""
        return self._stream.rand(args)

    def randn(self, *args: int) -> LazyTensor:
        """Standard normal, of the shape that the arguments give."""
        return self._stream.randn(args)

    def standard_exponential(self, size: Any = None) -> LazyTensor:
        """Exponential with mean 1."""
        return self._draw(_l.standard_exponential, size)

    def standard_gamma(self, shape: Any, size: Any = None) -> LazyTensor:
        """Gamma of a shape, with scale 1."""
        return self._draw(_l.standard_gamma, size, shape)

    def standard_normal(self, size: Any = None) -> LazyTensor:
        """Normal with mean 0 and deviation 1."""
        return self._draw(_l.standard_normal, size)

    def tomaxint(self, size: Any = None) -> LazyTensor:
        """Integers from 0 to the greatest int64."""
        return self._draw(_l.tomaxint, size)


def _numpys() -> Any:
    """numpy.random, which NumPy loads when it is first asked for. Its stubs lack some functions."""
    return np.random


class _Shared(RandomState):
    """What the functions of the module draw from: NumPy's own state, so that a seed here is one for
    all libraries that call numpy.random, and draws of both follow one another."""

    _stream_of = _c.SharedRandomState

    def __init__(self) -> None:
        """Nothing yet: numpy.random is a part of NumPy that takes milliseconds to load."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("_bit_generator", "_stream", "_draw"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._over(_numpys().get_bit_generator())
        return getattr(self, name)

    def __reduce__(self) -> str:
        return "_global"

    def seed(self, seed: Any = None) -> None:
        if seed is not None:
            MT19937()._legacy_seeding(seed)  # the errors of composit
        _numpys().seed(seed)

    def get_state(self, legacy: bool = True) -> Any:
        return _numpys().get_state(legacy)

    def set_state(self, state: Any) -> None:
        _c.state_of_legacy(state)
        _numpys().set_state(state)

    def replace_bit_generator(self, bit_generator: Any) -> None:
        """numpy.random.set_bit_generator."""
        _numpys().set_bit_generator(bit_generator)
        self._over(bit_generator)


_global = _Shared()
