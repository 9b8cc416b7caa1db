"""Samples as a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from composit._core import runtime_error, type_error
from composit.torch import calling, dtypes
from composit.torch.calling import TensorBase


def default_convert(data: Any) -> Any:
    """Arrays as tensors, wherever they are in a structure."""
    if isinstance(data, np.ndarray) and data.dtype.kind in "biufc":
        return calling.functions["from_numpy"](data)
    if isinstance(data, np.generic) and data.dtype.kind in "biufc":
        return calling.functions["as_tensor"](np.asarray(data))
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, list):
        return [default_convert(value) for value in data]
    return data


def default_collate(batch: Any) -> Any:
    """A batch of samples: tensors are stacked, numbers become tensors, structures are kept."""
    first = batch[0]
    if isinstance(first, TensorBase) and not first.is_cpu:  # type: ignore[attr-defined]
        return calling.functions["stack"]([x.detach() for x in batch])  # type: ignore[attr-defined]
    if isinstance(first, TensorBase):
        values = [x.detach().numpy() for x in batch]  # type: ignore[attr-defined]
        return _stacked(values)
    if isinstance(first, (np.ndarray, np.generic)):
        if first.dtype.kind not in "biufc":
            raise type_error(f"default_collate: arrays of dtype {first.dtype}.")
        return _stacked([np.asarray(x) for x in batch])
    if isinstance(first, bool):
        return calling.functions["tensor"](list(batch))
    if isinstance(first, float):
        return calling.functions["tensor"](list(batch), dtype=dtypes.by_name["float64"])
    if isinstance(first, int):
        return calling.functions["tensor"](list(batch))
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(list(part)) for part in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise runtime_error("each element in list of batch should be of equal size")
        return [default_collate(list(part)) for part in zip(*batch)]
    raise type_error(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}"
    )


def _stacked(values: list[Any]) -> Any:
    try:
        return calling.functions["from_numpy"](np.stack(values))
    except ValueError:
        shapes = sorted({value.shape for value in values})
        raise runtime_error(
            f"stack expects each tensor to be equal size, but got {shapes}"
        ) from None
