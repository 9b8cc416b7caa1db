"""Datasets: what is read by number, or from the beginning to the end."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import composit._core as _core
from composit._core import not_implemented, value_error, with_location
from composit.torch import calling
from composit.torch.functions.random import default_generator

Item = TypeVar("Item", covariant=True)


class Dataset(Generic[Item]):
    """What has samples by number: __getitem__, and __len__."""

    def __getitem__(self, index: Any) -> Any:
        raise not_implemented(
            f"{type(self).__name__}: subclasses of Dataset implement __getitem__."
        )

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Item]):
    """What is iterated over: __iter__."""

    def __iter__(self) -> Iterator[Any]:
        raise not_implemented(
            f"{type(self).__name__}: subclasses of IterableDataset have __iter__."
        )

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[Any]):
    """Tensors by their first dimension."""

    def __init__(self, *tensors: Any) -> None:
        if any(len(x) != len(tensors[0]) for x in tensors):
            raise AssertionError(with_location("Size mismatch between tensors"))
        self.tensors = tensors

    def __getitem__(self, index: Any) -> Any:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Datasets side by side: a sample is a tuple, or a dictionary, of theirs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise value_error("StackDataset: datasets by position or by name are required.")
        self.datasets: Any = args or kwargs
        lengths = {len(x) for x in args or kwargs.values()}
        if len(lengths) != 1:
            raise value_error("Size mismatch between datasets")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        several = self.datasets
        return len(next(iter(several.values())) if isinstance(several, dict) else several[0])


class ConcatDataset(Dataset[Any]):
    """Datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError(with_location("datasets should not be an empty iterable"))
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise value_error("absolute value of index should not exceed dataset length")
            index += len(self)
        place = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[place - 1] if place else 0
        return self.datasets[place][index - before]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[Any]):
    """Samples of a dataset by their numbers."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[Any], generator: Any = None) -> list[Subset]:
    """Parts of a dataset, drawn without overlap; lengths are counts, or fractions of 1."""
    sizes = _core.aten.split_counts(len(dataset), list(lengths))
    order = permutation(sum(sizes), generator)
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes)]


def permutation(count: int, generator: Any) -> list[int]:
    """The numbers below count in an order that is drawn."""
    chosen = default_generator if generator is None else generator
    drawn: list[int] = calling.functions["randperm"](count, generator=chosen).tolist()
    return drawn
