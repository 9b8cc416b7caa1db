"""Names of tensors' types, as Tensor.type() says them: torch.LongTensor, torch.cuda.FloatTensor."""

from __future__ import annotations

from typing import Any

from composit._core import value_error
from composit.torch import dtypes, places

_names = {traits.name: traits.scalar_type for traits in dtypes.table}
_dtypes = {name: dtype for dtype, name in _names.items()}


def name_of(tensor: Any) -> str:
    """ "torch.FloatTensor" of the CPU, "torch.cuda.FloatTensor" of a device of that kind."""
    kind = tensor.device.type
    return f"torch.{'' if kind == 'cpu' else kind + '.'}{_names[tensor.dtype.name]}Tensor"


def converted(tensor: Any, name: str) -> Any:
    """The tensor as one of the type of that name, on the device that the name says."""
    path, _, kind = name.rpartition(".")
    root, _, place = path.partition(".")
    dtype = _dtypes.get(kind.removesuffix("Tensor"))
    is_known = kind.endswith("Tensor") and root in ("", "torch")
    if dtype is None or not is_known or (place and not places.is_kind(place)):
        raise value_error(f"invalid type: '{name}'")
    if tensor.device.type == (place or "cpu"):
        return tensor.to(dtypes.by_name[dtype])
    return tensor.to(place or "cpu", dtypes.by_name[dtype])
