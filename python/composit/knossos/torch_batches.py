"""Kernels over the batches of torch.func.vmap."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit.knossos.mapped_kernel import mapped


def batched(kernel: Any, size: int, axes: tuple[Any, ...], leaves: tuple[Any, ...]) -> Any:
    """The kernel that computes `size` calls at once, and its arguments: all results have the calls
    along their first axis. `axes`: where arguments have them; None: all calls share one."""
    if not kernel.is_of_arrays:
        return kernel, _aligned(axes, leaves)
    # A kernel with arrays is mapped over rows, of which every argument has its own.
    return mapped(kernel), [_with_rows(size, *each) for each in zip(axes, leaves)]


def _aligned(axes: tuple[Any, ...], leaves: tuple[Any, ...]) -> list[Any]:
    """Operands of a kernel of numbers, whose other axes broadcast from the last one on."""
    ranks = [np.ndim(leaf) - (axis is not None) for axis, leaf in zip(axes, leaves)]
    rank = max(ranks)
    aligned = []
    for axis, leaf, own in zip(axes, leaves, ranks):
        if axis is not None:
            leaf = leaf.movedim(axis, 0)
            leaf = leaf.reshape(leaf.shape[0], *[1] * (rank - own), *leaf.shape[1:])
        aligned.append(leaf)
    return aligned


def _with_rows(size: int, axis: int | None, leaf: Any) -> Any:
    if axis is not None:
        return leaf.movedim(axis, 0)
    if isinstance(leaf, (bool, int, float)):
        return leaf  # stands for itself in each row
    if hasattr(leaf, "expand"):
        return leaf.expand(size, *leaf.shape)
    return np.broadcast_to(leaf, (size, *np.shape(leaf)))
