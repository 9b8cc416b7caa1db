"""Class methods that make tensors."""

from __future__ import annotations

from typing import Any

from composit.tensorgrad.const import DTYPE, device_of
from composit.tensorgrad.storage import StorageDispatch

# The dtypes of what is not float32 unless one is given.
_USUAL = {"random_randint": DTYPE.INT64, "arange": DTYPE.INT64}


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape


class Creation:
    """Tensors of a shape, given as lengths or as a tuple."""

    @classmethod
    def _made(cls, name: str, *arguments: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
        kind = DTYPE(_USUAL.get(name, DTYPE.FLOAT32) if dtype is None else dtype)
        data = getattr(StorageDispatch.get(device_of(device)), name)(*arguments, kind)
        return cls(data, kind, device, requires_grad)  # type: ignore[call-arg]

    @classmethod
    def empty(
        cls, *shape: Any, dtype: Any = None, device: Any = None, requires_grad: bool = True
    ) -> Any:
        """Any numbers."""
        return cls._made("empty", _shape(shape), dtype=dtype, device=device,
                         requires_grad=requires_grad)  # fmt: skip

    @classmethod
    def zeros(
        cls, *shape: Any, dtype: Any = None, device: Any = None, requires_grad: bool = True
    ) -> Any:
        """Zeros."""
        return cls._made("zeros", _shape(shape), dtype=dtype, device=device,
                         requires_grad=requires_grad)  # fmt: skip

    @classmethod
    def ones(
        cls, *shape: Any, dtype: Any = None, device: Any = None, requires_grad: bool = True
    ) -> Any:
        """Ones."""
        return cls._made("ones", _shape(shape), dtype=dtype, device=device,
                         requires_grad=requires_grad)  # fmt: skip

    @classmethod
    def rand(
        cls, *shape: Any, dtype: Any = None, device: Any = None, requires_grad: bool = True
    ) -> Any:
        """Draws between 0 and 1."""
        return cls._made("random_uniform", 0, 1, _shape(shape), dtype=dtype, device=device,
                         requires_grad=requires_grad)  # fmt: skip

    @classmethod
    def randn(
        cls, *shape: Any, mu: float = 0.0, sigma: float = 1.0, dtype: Any = None,
        device: Any = None, requires_grad: bool = True,
    ) -> Any:  # fmt: skip
        """Draws of a normal distribution."""
        return cls._made("random_normal", _shape(shape), mu, sigma, dtype=dtype, device=device,
                         requires_grad=requires_grad)  # fmt: skip

    @classmethod
    def randint(
        cls, low: int, high: int, shape: Any, dtype: Any = None, device: Any = None,
        requires_grad: bool = True,
    ) -> Any:  # fmt: skip
        """Integers from low to high - 1."""
        return cls._made("random_randint", low, high, tuple(shape), dtype=dtype, device=device,
                         requires_grad=requires_grad)  # fmt: skip

    @classmethod
    def arange(
        cls, n: int, dtype: Any = None, device: Any = None, requires_grad: bool = True
    ) -> Any:
        """0, 1, … n - 1."""
        return cls._made("arange", n, dtype=dtype, device=device, requires_grad=requires_grad)

    @classmethod
    def bernoulli(
        cls, p: float, shape: Any, dtype: Any = None, device: Any = None,
        requires_grad: bool = True,
    ) -> Any:  # fmt: skip
        """Ones with probability p, zeros."""
        return cls._made("bernoulli", p, tuple(shape), dtype=dtype, device=device,
                         requires_grad=requires_grad)  # fmt: skip

    def _like(self: Any, name: str) -> Any:
        return type(self)._made(name, self.shape, dtype=self.dtype, device=self.device,
                                requires_grad=self.requires_grad)  # fmt: skip

    def zeros_like(self: Any) -> Any:
        """Zeros of this shape, dtype and device."""
        return Creation._like(self, "zeros")

    def ones_like(self: Any) -> Any:
        """Ones of this shape, dtype and device."""
        return Creation._like(self, "ones")
