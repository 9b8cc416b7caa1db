"""What a storage has to offer: where a device's arrays come from."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from composit.tensorgrad.const import DTYPE, device_of

Shape = tuple[int, ...]


class Storage:
    """Makes and reads arrays of a device, which are of any class. A device registers a subclass:

    @StorageDispatch.register
    class Mine(Storage):
        DEVICE = "mine"
    """

    DEVICE: ClassVar[Any]
    is_computed: ClassVar[bool] = False  # whether composit computes there, and nobody registers

    @classmethod
    def tensor(cls, data: Any, dtype: DTYPE) -> Any:
        """A new array of a list, a number, a NumPy array or an array of the device."""
        raise NotImplementedError

    @classmethod
    def numpy(cls, data: Any) -> np.ndarray:
        """The array as NumPy's."""
        raise NotImplementedError

    @classmethod
    def get_dtype(cls, data: Any) -> DTYPE:
        """What it holds."""
        return DTYPE(cls.numpy(data).dtype.name)

    @classmethod
    def get_shape(cls, data: Any) -> Shape:
        """Its shape."""
        return tuple(cls.numpy(data).shape)

    @classmethod
    def get_device(cls, data: Any) -> Any:
        """The device."""
        return device_of(cls.DEVICE)

    @classmethod
    def cast(cls, data: Any, dtype: DTYPE) -> Any:
        """The numbers in another dtype."""
        return cls.tensor(cls.numpy(data).astype(dtype.value), dtype)

    @classmethod
    def empty(cls, shape: Shape, dtype: DTYPE) -> Any:
        """Any numbers."""
        return cls.zeros(shape, dtype)

    @classmethod
    def zeros(cls, shape: Shape, dtype: DTYPE) -> Any:
        """Zeros."""
        return cls.tensor(np.zeros(shape), dtype)

    @classmethod
    def ones(cls, shape: Shape, dtype: DTYPE) -> Any:
        """Ones."""
        return cls.tensor(np.ones(shape), dtype)

    @classmethod
    def arange(cls, n: int, dtype: DTYPE) -> Any:
        """0, 1, … n - 1."""
        return cls.tensor(np.arange(n), dtype)

    @classmethod
    def random_uniform(cls, a: float, b: float, shape: Shape, dtype: DTYPE) -> Any:
        """Draws between a and b."""
        return cls.tensor(drawn().uniform(a, b, shape), dtype)

    @classmethod
    def random_normal(cls, shape: Shape, mu: float, sigma: float, dtype: DTYPE) -> Any:
        """Draws of a normal distribution."""
        return cls.tensor(drawn().normal(mu, sigma, shape), dtype)

    @classmethod
    def random_randint(cls, low: int, high: int, shape: Shape, dtype: DTYPE) -> Any:
        """Integers from low to high - 1."""
        return cls.tensor(drawn().randint(low, high, shape), dtype)

    @classmethod
    def bernoulli(cls, p: float, shape: Shape, dtype: DTYPE) -> Any:
        """Ones with probability p, zeros."""
        return cls.tensor(drawn().uniform(0, 1, shape) < p, dtype)


def drawn() -> Any:
    """What numbers are drawn from: np.random's state, which np.random.seed sets."""
    return np.random
