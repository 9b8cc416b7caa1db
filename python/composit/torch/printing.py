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


def text_of(tensor: Any) -> str:
    """repr(tensor), as torch writes it."""
    prefix = "tensor("
    is_parameter = getattr(tensor, "_is_parameter", False)
    array = materializing.values_of(tensor)
    ending = "" if tensor.is_cpu else f", device='{tensor.device}'"
    usual = (dtypes.default().name, "int64", "bool")
    names = [tensor.dtype.name]
    is_known = names[0] in usual or (names[0] == "complex64" and usual[0] == "float32")
    if array.size == 0:
        text = "[]"
        if array.ndim != 1:
            ending += f", size={tuple(array.shape)}"
        is_known = names[0] == usual[0]
    else:
        text = _core.aten.text_of(
            array, _options["precision"], _options["threshold"], _options["edgeitems"],
            _options["linewidth"], _options["sci_mode"], len(prefix),
        )  # fmt: skip
    if not is_known:
        ending += f", dtype=torch.{names[0]}"
    if tensor._is_leaf_with_grad:
        ending += ", requires_grad=True"
    elif is_recorded(tensor):
        ending += f", grad_fn=<{tensor.grad_fn.name()}>"
    result = _ended(prefix + text, ending)
    return f"Parameter containing:\n{result}" if is_parameter else result


def _ended(text: str, ending: str) -> str:
    """The text with what follows the numbers, on a line of its own where that is too long."""
    for part in ending.split(", ")[1:] if "size=" not in ending else [ending[2:]]:
        last = len(text) - text.rfind("\n") - 1
        text += ", " if last + len(part) + 2 < _options["linewidth"] else ",\n       "
        text += part
    return text + ")"
