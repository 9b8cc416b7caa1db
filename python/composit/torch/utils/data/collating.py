"""Samples as a batch (python/bindings/sample_batches.cpp)."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import calling, dtypes


def default_convert(data: Any) -> Any:
    """Arrays as tensors, wherever they are in a structure."""
    return _core.converted_sample(calling.functions, data)


def default_collate(batch: Any) -> Any:
    """A batch of samples: tensors are stacked, numbers become tensors, structures are kept."""
    return _core.collated_samples(calling.functions, dtypes.by_name, batch)
