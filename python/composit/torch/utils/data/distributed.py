"""DistributedSampler: one process's share of a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from composit._core import runtime_error, value_error
from composit.torch.calling import functions
from composit.torch.functions.random import Generator
from composit.torch.utils.data.samplers import Sampler


class DistributedSampler(Sampler):
    """The indices rank, rank + num_replicas, … of an order that all processes draw alike. Both
    numbers have to be given, as processes do not know each other here."""

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None,
        shuffle: bool = True, seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        if num_replicas is None or rank is None:
            raise runtime_error(
                "DistributedSampler: processes that train together are not built. num_replicas "
                "and rank are required."
            )
        if rank >= num_replicas or rank < 0:
            raise value_error(f"Invalid rank {rank}, rank should be in the interval "
                              f"[0, {num_replicas - 1}]")  # fmt: skip
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.shuffle, self.seed, self.drop_last = 0, shuffle, seed, drop_last
        count = len(dataset)
        if drop_last and count % num_replicas:
            count -= num_replicas
        self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        if self.shuffle:
            drawn = Generator().manual_seed(self.seed + self.epoch)
            order = functions["randperm"](count, generator=drawn).tolist()
        else:
            order = list(range(count))
        if self.drop_last:
            order = order[: self.total_size]
        while len(order) < self.total_size:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Another order for each epoch."""
        self.epoch = epoch
