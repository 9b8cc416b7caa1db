"""What kernels are called with and give back: numbers, arrays and tensors."""

from __future__ import annotations

from typing import Any

from composit._core import with_location


def numbers_without_axes(made: Any) -> Any:
    """NumPy's numbers in place of arrays that have no axes."""
    if isinstance(made, tuple):
        return tuple(numbers_without_axes(each) for each in made)
    return made[()] if made.ndim == 0 else made


def is_composit_torch(value: Any) -> bool:
    return type(value).__module__.startswith("composit.torch")


def is_torch(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" or hasattr(value, "requires_grad")


def check_leaf(name: str, leaf: Any) -> None:
    if isinstance(leaf, (bool, int, float, list)) or hasattr(leaf, "dtype"):
        return
    if hasattr(leaf, "__array__"):
        return
    raise TypeError(
        with_location(f"{name}: {leaf!r} is no number. A number, an array or a tensor is required.")
    )
