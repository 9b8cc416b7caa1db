"""broadcast: arrays side by side, as iterators over what they are broadcast to."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.numpy.creation import asarray
from composit.numpy.manipulation import broadcast_to

_c = _core.numpy


def _clash(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return any(m != n and 1 not in (m, n) for m, n in zip(reversed(a), reversed(b)))


class broadcast:
    """Arrays broadcast against each other: iterates over tuples of their elements."""

    __signature__ = inspect.Signature(
        [inspect.Parameter("arrays", inspect.Parameter.VAR_POSITIONAL)]
    )

    def __init__(self, *arrays: Any, **unknown: Any) -> None:
        if unknown:
            raise value_error(f"broadcast: there are no keywords {list(unknown)}. None are taken.")
        self._bases: list[LazyTensor] = []
        for array in arrays:
            self._bases += array._bases if isinstance(array, broadcast) else [asarray(array)]
        if len(self._bases) > 64:
            raise value_error(f"broadcast: {len(self._bases)} arrays. At most 64 are allowed.")
        self.shape = self._common_shape()
        self.reset()

    def _common_shape(self) -> tuple[int, ...]:
        common: tuple[int, ...] = ()
        for number, base in enumerate(self._bases):
            try:
                common = _c.broadcast_shapes(common, base.shape)
            except ValueError:
                raise value_error(self._mismatch(number)) from None
        return common

    def _mismatch(self, number: int) -> str:
        """That an array does not fit one before it."""
        shape = self._bases[number].shape
        others = [base.shape for base in self._bases[:number]]
        clash = next(i for i, other in enumerate(others) if _clash(other, shape))
        return (
            "shape mismatch: objects cannot be broadcast to a single shape. Mismatch is between "
            f"arg {clash} with shape {others[clash]} and arg {number} with shape {shape}."
        )

    @property
    def nd(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    ndim = nd

    @property
    def numiter(self) -> int:
        """The number of arrays."""
        return len(self._bases)

    @property
    def size(self) -> int:
        """The number of elements that each is broadcast to."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def index(self) -> int:
        """The position of the next elements."""
        return self._index

    @property
    def iters(self) -> tuple[Any, ...]:
        """An iterator for each array."""
        return tuple(base.flat for base in self._bases)

    def reset(self, /) -> None:
        """Back to the first elements."""
        self._index = 0

    def __iter__(self) -> Iterator[tuple[LazyTensor, ...]]:
        return self

    def __next__(self) -> tuple[LazyTensor, ...]:
        if self._index >= self.size:
            raise StopIteration
        self._index += 1
        wide = (broadcast_to(base, self.shape).ravel() for base in self._bases)
        return tuple(flat[self._index - 1] for flat in wide)
