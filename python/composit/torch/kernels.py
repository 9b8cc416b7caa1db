"""Kernels of composit.knossos over Tensors."""

from __future__ import annotations

from typing import Any

from composit._core import type_error
from composit._libraries import Library, register
from composit.torch import calling


def _owns(value: Any) -> bool:
    return type(value).__module__.startswith("composit.torch")


def _is_of_pytorch(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" or hasattr(value, "requires_grad")


def _call(kernel: Any, leaves: list[Any]) -> Any:
    """TypeError for tensors of PyTorch's among them, of which no gradient goes through both."""
    if any(_is_of_pytorch(leaf) and not _owns(leaf) for leaf in leaves):
        raise type_error(
            f"{kernel.__name__}: tensors of composit.torch and of torch are given, and no "
            "gradient goes through both. Tensors of one of them are required: "
            "composit.torch.from_numpy(x.detach().numpy()) makes one of torch's x."
        )
    return calling.call(kernel.of_tensors, kernel.__name__, False, tuple(leaves), {})


register(Library("composit.torch", 1, _owns, _call))
