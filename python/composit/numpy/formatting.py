"""Numbers as texts: NumPy's own functions, of numbers and of evaluated tensors."""

from __future__ import annotations

from typing import Any

from composit._core import LazyTensor
from composit.numpy.kinds import _asked


def _said(function: str, value: Any, *arguments: Any, **options: Any) -> str:
    """What NumPy's function says of a number."""
    number = value.evaluated()[()] if isinstance(value, LazyTensor) else value
    return _asked(function, number, *arguments, **options)


def base_repr(number: Any, base: int = 2, padding: int = 0) -> str:
    """An integer in another base, up to 36."""
    return _said("base_repr", number, base, padding)


def binary_repr(num: Any, width: int | None = None) -> str:
    """The bits of an integer; of a negative one the two's complement of that width."""
    return _said("binary_repr", num, width)


def format_float_positional(
    x: Any, precision: int | None = None, unique: bool = True, fractional: bool = True,
    trim: str = "k", sign: bool = False, pad_left: int | None = None,
    pad_right: int | None = None, min_digits: int | None = None,
) -> str:  # fmt: skip
    """A number with a point."""
    options = {
        "precision": precision, "unique": unique, "fractional": fractional, "trim": trim,
        "sign": sign, "pad_left": pad_left, "pad_right": pad_right, "min_digits": min_digits,
    }  # fmt: skip
    return _said("format_float_positional", x, **options)


def format_float_scientific(
    x: Any, precision: int | None = None, unique: bool = True, trim: str = "k",
    sign: bool = False, pad_left: int | None = None, exp_digits: int | None = None,
    min_digits: int | None = None,
) -> str:  # fmt: skip
    """A number with a power of ten."""
    options = {
        "precision": precision, "unique": unique, "trim": trim, "sign": sign,
        "pad_left": pad_left, "exp_digits": exp_digits, "min_digits": min_digits,
    }  # fmt: skip
    return _said("format_float_scientific", x, **options)
