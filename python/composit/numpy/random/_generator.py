"""numpy.random.Generator: NumPy's numbers of the same bit generator, as leaves that keep their
values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit._floating_point import in_default_state
from composit.numpy.random import _shared
from composit.numpy.random._bit_generators import PCG64, _core_of
from composit.numpy.random._distributions import Distributions
from composit.numpy.random._seeds import _check_children

_c = _core.numpy_random
_m = SimpleNamespace(**_c.modern)


class Generator(Distributions):
    """Distributions over a bit generator, of composit's or NumPy's. Each draw is one leaf. Numbers
    and arrays are parameters, which are broadcast; tensors are, too, and are evaluated."""

    _ways = _m

    def __init__(self, bit_generator: Any) -> None:
        self._bit_generator = bit_generator
        self._stream = _c.Generator(_core_of(bit_generator))
        self._draw = self._stream.draw

    def __reduce__(self) -> Any:
        return type(self), (self._bit_generator,)

    @property
    def bit_generator(self) -> Any:
        """Where the bits come from."""
        return self._bit_generator

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators over the children of the bit generator."""
        _check_children(n_children)
        return [type(self)(bits) for bits in self._bit_generator.spawn(n_children)]

    # ----- float64 or float32

    def _of(
        self, function: str, wide: Any, narrow: Any, dtype: Any, size: Any, out: Any,
        *parameters: Any,
    ) -> Any:  # fmt: skip
        kind = np.dtype(dtype)
        if kind not in (_shared.float64, _shared.float32):
            raise type_error(f"Unsupported dtype {kind!r} for {function}")
        distribution = wide if kind == _shared.float64 else narrow
        if out is None:
            return self._draw(distribution, size, *parameters)

        def draw(shape: Any) -> LazyTensor:
            return self._draw(distribution, shape, *parameters)

        return _c.written(function, out, size, kind, draw, bool(parameters))

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Uniform in [0, 1)."""
        if out is None and dtype is np.float64:
            return self._draw(_m.random, size)
        return self._of("random", _m.random, _m.random_float32, dtype, size, out)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Normal with mean 0 and deviation 1."""
        if out is None and dtype is np.float64:
            return self._draw(_m.standard_normal, size)
        wide, narrow = _m.standard_normal, _m.standard_normal_float32
        return self._of("standard_normal", wide, narrow, dtype, size, out)

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        """Exponential with mean 1; by ziggurats ("zig") or by inversion ("inv")."""
        wide, narrow = _m.standard_exponential, _m.standard_exponential_float32
        if method != "zig":
            wide, narrow = _m.standard_exponential_inv, _m.standard_exponential_inv_float32
        return self._of("standard_exponential", wide, narrow, dtype, size, out)

    @in_default_state
    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None
    ) -> Any:
        """Gamma of a shape, with scale 1."""
        wide, narrow = _m.standard_gamma, _m.standard_gamma_float32
        if not isinstance(shape, (LazyTensor, np.ndarray)):
            shape = np.asarray(shape, np.dtype(dtype)) if np.ndim(shape) else shape
        return self._of("standard_gamma", wide, narrow, dtype, size, out, shape)

    # ----- integers and orders

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:  # fmt: skip
        """Integers in [low, high), or [0, low); with endpoint, high is among them."""
        draw, closed = self._stream.integers, bool(endpoint)
        return _c.integers("integers", draw, low, high, size, dtype, closed, False)

    def bytes(self, length: int) -> Any:
        """Random bytes."""
        return _shared.as_bytes(self.integers, length)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> Any:  # fmt: skip
        """Elements of a along an axis, or integers below it; p: their probabilities."""
        count, holder = _c.population(a, axis)
        _shared.check_sequence(p)
        places = self._stream.choice(count, size, bool(replace), p, bool(shuffle))
        return places if holder is None else _c.taken(holder, places, axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Puts x in another order along an axis, in place: a tensor, an array or a list."""
        _c.shuffle(self._stream.permutation, x, axis)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The integers below x, or its elements along an axis, in random order."""
        return _c.permutation(self._stream.permutation, x, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """Each row along the axis in an order of its own; without one all elements in one order."""
        return _c.permuted(self._stream.permuted, x, axis, out)

    # ----- vectors

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> LazyTensor:
        """How many of n trials end in each way, the last axis of pvals their probabilities."""
        return self._stream.multinomial(_shared.counts(n), pvals, size)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: str = "marginals"
    ) -> LazyTensor:
        """How many of each color are among nsample that are taken."""
        if not hasattr(nsample, "__index__"):
            raise value_error("multivariate_hypergeometric: nsample must be an integer")
        count = min(max(nsample.__index__(), -1), 2**63 - 1)
        return self._stream.multivariate_hypergeometric(colors, count, size, method)

    def dirichlet(self, alpha: Any, size: Any = None) -> LazyTensor:
        """Parts of a whole."""
        len(alpha)
        return self._stream.dirichlet(alpha, size)

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8,
        *, method: str = "svd",
    ) -> LazyTensor:  # fmt: skip
        """Normal vectors with this mean and covariance."""
        normal = self.standard_normal
        return _shared.with_covariance(normal, mean, cov, size, check_valid, tol, method)


def default_rng(seed: Any = None) -> Generator:
    """A Generator over PCG64 of this seed; over a bit generator that is given; or the given one."""
    if isinstance(seed, Generator):
        return seed
    if hasattr(seed, "capsule"):
        return Generator(seed)
    if hasattr(seed, "bit_generator") or isinstance(seed, np.random.RandomState):
        return Generator(getattr(seed, "bit_generator", None) or seed._bit_generator)
    return Generator(PCG64(seed))
