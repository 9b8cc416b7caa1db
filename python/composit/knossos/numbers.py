"""The numbers that kernels take and return: kinds, and what is said of those that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit._core import type_error


class Taker:
    """Gives numbers one after the other, whatever name is asked for."""

    def __init__(self, numbers: list[Any]) -> None:
        self._rest = iter(numbers)

    def __call__(self, name: str) -> Any:
        return next(self._rest)


def kind_of_dtype(dtype: Any) -> str:
    """float, int or bool."""
    return {"f": "float", "i": "int", "b": "bool"}[np.dtype(dtype).kind]


def first_line(text: str | None) -> str:
    """Of a documentation."""
    return (text or "").strip().splitlines()[0] if (text or "").strip() else ""


def refuse_numbers(kernel: Any, leaves: list[Any]) -> None:
    """TypeError for the leaf that is no number of the kernel's argument."""
    for leaf, kind in zip(leaves, kernel._kinds()):
        allowed = {"float": (int, float), "int": (int,), "bool": (bool,)}[kind]
        if not isinstance(leaf, allowed):
            raise type_error(
                f"{kernel.__name__}: {leaf!r} stands for an argument of type {kind}. "
                f"A value of that type, an array or a tensor is required."
            )
