"""How torch prints tensors."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit.torch import dtypes, materializing
from composit.torch.calling import is_recorded

_options: dict[str, Any] = {"precision": 4, "threshold": 1000.0, "edgeitems": 3, "linewidth": 80,
            "sci_mode": None}  # fmt: skip


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """How tensors are printed from now on: torch's options."""
    if profile is not None:
        sizes = {"default": (4, 1000.0, 3, 80), "short": (2, 1000.0, 2, 80),
                 "full": (4, math.inf, 3, 80)}  # fmt: skip
        names = ("precision", "threshold", "edgeitems", "linewidth")
        _options.update(zip(names, sizes[profile]))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
             "linewidth": linewidth}  # fmt: skip
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


def _grad_name(tensor: Any) -> str:
    record = tensor.grad_fn if is_recorded(tensor) else None
    return "" if record is None else record.name()


def text_of(tensor: Any) -> str:
    """repr(tensor), as torch writes it."""
    gradient = _grad_name(tensor)
    return _core.aten.tensor_text(
        materializing.values_of(tensor), tensor.dtype.name, dtypes.default().name,
        "" if tensor.is_cpu else str(tensor.device), tensor._is_leaf_with_grad, gradient,
        getattr(tensor, "_is_parameter", False), _options["precision"], _options["threshold"],
        _options["edgeitems"], _options["linewidth"], _options["sci_mode"],
    )  # fmt: skip
