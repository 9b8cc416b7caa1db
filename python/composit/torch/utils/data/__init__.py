"""torch.utils.data: datasets, samplers and DataLoader."""

from __future__ import annotations

from typing import Any

from composit.torch import parts
from composit.torch.utils.data.collating import default_collate, default_convert
from composit.torch.utils.data.datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from composit.torch.utils.data.loading import DataLoader, get_worker_info
from composit.torch.utils.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
    "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate",
    "default_convert", "get_worker_info", "random_split",
]  # fmt: skip

_part = parts.getter(__name__, ("distributed",))


def __getattr__(name: str) -> Any:
    """What loads when it is first used."""
    if name == "DistributedSampler":
        return parts.load("utils.data.distributed").DistributedSampler
    return _part(name)
