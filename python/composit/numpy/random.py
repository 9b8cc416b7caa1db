"""numpy.random's legacy generator: the same seed gives the same numbers. A draw is one leaf that
keeps its values."""

from __future__ import annotations

import operator
from typing import Any

from composit import _core
from composit._core import LazyTensor
from composit._mismatch import wrong


def _size(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    return _core.integers(size)


def _entropy() -> list[int]:
    import os

    data = os.urandom(16)
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, 16, 4)]


class RandomState:
    """A generator with state of its own; numpy.random.RandomState."""

    def __init__(self, seed: Any = None) -> None:
        self._state = _make(seed)

    def seed(self, seed: Any = None) -> None:
        """Starts again from a seed: an integer, a sequence of them, or fresh entropy."""
        self._state = _make(seed)

    def random(self, size: Any = None) -> LazyTensor:
        """Uniform in [0, 1)."""
        return self._state.random(_size(size))

    random_sample = random

    def rand(self, *args: int) -> LazyTensor:
        """Uniform in [0, 1), of the shape that the arguments give."""
        return self._state.rand(args)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> LazyTensor:
        """Uniform in [low, high)."""
        return self._state.uniform(low, high, _size(size))

    def standard_normal(self, size: Any = None) -> LazyTensor:
        """Normal with mean 0 and deviation 1."""
        return self._state.standard_normal(_size(size))

    def randn(self, *args: int) -> LazyTensor:
        """Standard normal, of the shape that the arguments give."""
        return self._state.randn(args)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> LazyTensor:
        """Normal with mean loc and deviation scale."""
        return self._state.normal(loc, scale, _size(size))

    def exponential(self, scale: float = 1.0, size: Any = None) -> LazyTensor:
        """Exponential with mean scale."""
        return self._state.exponential(scale, _size(size))

    def randint(
        self, low: int, high: int | None = None, size: Any = None, dtype: Any = int
    ) -> LazyTensor:
        """Integers in [low, high), or [0, low)."""
        if high is None:
            low, high = 0, low
        return self._state.randint(low, high, _size(size), dtype)

    def permutation(self, x: Any) -> LazyTensor:
        """The integers below x, or the elements of x along its first axis, in random order."""
        try:
            return self._state.permutation(operator.index(x))
        except TypeError:
            from composit.numpy import asarray

            tensor = asarray(x)
            if tensor.ndim == 0:
                required = "An integer, or an array of at least one dimension,"
                raise IndexError(wrong(x, required)) from None
            return tensor[self._state.permutation(tensor.shape[0])]

    def get_state(self) -> tuple[str, Any, int, int, float]:
        """As numpy.random.get_state."""
        import numpy as np

        key, position, has_gauss, gauss = self._state.get_state()
        return "MT19937", np.array(key, dtype="uint32"), position, int(has_gauss), gauss

    def set_state(self, state: Any) -> None:
        """As numpy.random.set_state."""
        required = "What get_state returns"
        if not isinstance(state, (tuple, list)):
            raise TypeError(wrong(state, required))
        if len(state) not in (3, 5):
            raise ValueError(wrong(state, required))
        _, key, position, *gauss = state
        has_gauss, value = gauss if gauss else (0, 0.0)
        words, place = list(_core.integers(key)), _core.integer(position)
        self._state.set_state(words, place, bool(has_gauss), _core.number(value))


def _make(seed: Any) -> Any:
    if seed is None:
        return _core.numpy.RandomState(_entropy())
    try:
        return _core.numpy.RandomState(operator.index(seed))
    except TypeError:
        return _core.numpy.RandomState(_core.integers(seed))


# The front door's state; the core has none.
_global = RandomState()
seed = _global.seed
random = _global.random
random_sample = _global.random_sample
rand = _global.rand
uniform = _global.uniform
standard_normal = _global.standard_normal
randn = _global.randn
normal = _global.normal
exponential = _global.exponential
randint = _global.randint
permutation = _global.permutation
get_state = _global.get_state
set_state = _global.set_state
