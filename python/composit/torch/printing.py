"""How torch prints tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

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


class _Numbers:
    """One width and one notation for all numbers that are shown."""

    def __init__(self, values: Any) -> None:
        self.is_float = values.dtype.kind in "fV"
        self.is_integral, self.is_scientific, self.width = True, False, 1
        if not self.is_float:
            self.width = max([1, *(len(str(value)) for value in values.tolist())])
            return
        values = values.astype(np.float64)
        shown = values[np.isfinite(values) & (values != 0)]
        if shown.size == 0:
            self.width = max([1, *(len(self.text(value)) for value in values.tolist())])
            return
        sizes = np.abs(shown)
        largest, smallest = float(sizes.max()), float(sizes.min())
        self.is_integral = bool(np.all(shown == np.ceil(shown)))
        if self.is_integral:
            self.is_scientific = largest / smallest > 1000.0 or largest > 1e8
        else:
            self.is_scientific = largest / smallest > 1000.0 or largest > 1e8 or smallest < 1e-4
        if _options["sci_mode"] is not None:
            self.is_scientific = _options["sci_mode"]
        self.width = max([1, *(len(self.text(value)) for value in shown.tolist())])

    def text(self, value: Any) -> str:
        """The number, without padding."""
        if not self.is_float:
            return str(value)
        if self.is_scientific:
            return f"{value:.{_options['precision']}e}"
        if not math.isfinite(value):
            return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        if self.is_integral:
            return f"{value:.0f}."
        return f"{value:.{_options['precision']}f}"

    def padded(self, value: Any) -> str:
        """The number in the width of all."""
        return self.text(value).rjust(self.width)


class _Complexes:
    """Both parts, each by its own width."""

    def __init__(self, values: Any) -> None:
        self.real, self.imaginary = _Numbers(values.real), _Numbers(values.imag)
        self.width = self.real.width + self.imaginary.width + 1

    def padded(self, value: Any) -> str:
        """The number as a+bj."""
        imaginary = self.imaginary.text(value.imag).lstrip()
        if not imaginary.startswith("-"):
            imaginary = "+" + imaginary
        return f"{self.real.padded(value.real)}{imaginary}j"


def _cut(array: Any) -> Any:
    """Without what is left out by dots."""
    edge = _options["edgeitems"]
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            keep = [*range(edge), *range(length - edge, length)]
            array = np.take(array, keep, axis=axis)
    return array


def _lines(array: Any, numbers: Any, indent: int, is_cut: bool) -> str:
    edge = _options["edgeitems"]
    if array.ndim == 0:
        return numbers.padded(array.item())
    length = array.shape[0]
    is_short = is_cut and length > 2 * edge
    if array.ndim == 1:
        per_line = max(1, (_options["linewidth"] - indent) // (numbers.width + 2))
        if is_short:
            items = [numbers.padded(value) for value in array[:edge].tolist()]
            items += [" ..."] + [numbers.padded(value) for value in array[-edge:].tolist()]
        else:
            items = [numbers.padded(value) for value in array.tolist()]
        rows = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"
    if is_short:
        parts = [_lines(row, numbers, indent + 1, is_cut) for row in array[:edge]]
        parts += ["..."] + [_lines(row, numbers, indent + 1, is_cut) for row in array[-edge:]]
    else:
        parts = [_lines(row, numbers, indent + 1, is_cut) for row in array]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


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
        is_cut = array.size > _options["threshold"]
        shown = (_cut(array) if is_cut else array).reshape(-1)
        numbers = _Complexes(shown) if array.dtype.kind == "c" else _Numbers(shown)
        text = _lines(array, numbers, len(prefix), is_cut)
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
