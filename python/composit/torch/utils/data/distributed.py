"""DistributedSampler: one process's share of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import composit._core as _core
from composit._core import runtime_error
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
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.shuffle, self.seed, self.drop_last = 0, shuffle, seed, drop_last
        self.num_samples = _core.aten.replica_share(len(dataset), num_replicas, rank, drop_last)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            drawn = Generator().manual_seed(self.seed + self.epoch)
            order = functions["randperm"](len(order), generator=drawn).tolist()
        return iter(_core.aten.replica_places(order, self.num_replicas, self.rank, self.drop_last))

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Another order for each epoch."""
        self.epoch = epoch
