"""Samplers: in which order samples are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import composit._core as _core
from composit._core import not_implemented, type_error, value_error
from composit.torch import calling
from composit.torch.utils.data.datasets import permutation

Item = TypeVar("Item", covariant=True)


class Sampler(Generic[Item]):
    """What yields the numbers of samples, or lists of them."""

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        raise not_implemented(f"{type(self).__name__}: subclasses of Sampler implement __iter__.")


class SequentialSampler(Sampler[int]):
    """All, in order."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


_DRAWN_TOGETHER = 1024


def _check_count(name: str, given: Any) -> None:
    is_count = isinstance(given, int) and not isinstance(given, bool)
    _core.aten.check_draws(is_count and given > 0, name, str(given))


def _check_flag(name: str, given: Any, error: Any) -> None:
    if not isinstance(given, bool):
        raise error(f"{name} should be a boolean value, but got {name}={given}")


class RandomSampler(Sampler[int]):
    """All in an order that is drawn, or num_samples; with replacement each is drawn anew."""

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None,
        generator: Any = None,
    ) -> None:  # fmt: skip
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        _check_flag("replacement", replacement, type_error)
        _check_count("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        if self.replacement:
            # In parts, so that no more is drawn than is asked for.
            for begin in range(0, self.num_samples, _DRAWN_TOGETHER):
                shape = (min(_DRAWN_TOGETHER, self.num_samples - begin),)
                drawn = calling.functions["randint"](count, shape, generator=self.generator)
                yield from drawn.tolist()
            return
        whole, rest = divmod(self.num_samples, count)
        for _ in range(whole):
            yield from permutation(count, self.generator)
        if rest:
            yield from permutation(count, self.generator)[:rest]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Those of a list, in an order that is drawn."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in permutation(len(self.indices), self.generator))

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """num_samples drawn with probabilities as the weights."""

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True,
        generator: Any = None,
    ) -> None:  # fmt: skip
        _check_count("num_samples", num_samples)
        _check_flag("replacement", replacement, value_error)
        self.weights = calling.functions["as_tensor"](weights).double()
        if self.weights.dim() != 1:
            raise value_error("weights should be a 1d sequence but given weights have shape "
                              f"{tuple(self.weights.shape)}")  # fmt: skip
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = calling.functions["multinomial"](self.weights, self.num_samples, self.replacement,
                                                 generator=self.generator)  # fmt: skip
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of batch_size of another sampler's."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_count("batch_size", batch_size)
        _check_flag("drop_last", drop_last, value_error)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for number in self.sampler:
            batch.append(number)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return _core.aten.batch_count(count, self.batch_size, self.drop_last)
