"""PyTorch, and modules of composit.torch: loaded when the first of them meets a kernel."""

from __future__ import annotations

import importlib.util
from typing import Any

from composit._libraries import Library, register
from composit.knossos.provided import provided


def _owns(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" or hasattr(value, "requires_grad")


def _call(kernel: Any, leaves: list[Any]) -> Any:
    from composit.knossos.torch_functions import call

    return call(kernel, leaves)


def _autograd_function(kernel: Any) -> Any:
    from composit.knossos.torch_functions import autograd_function

    return autograd_function(kernel)


def _module_of(kernel: Any) -> Any:
    """A torch.nn.Module that applies the kernel; composit.torch's where PyTorch is missing."""
    if importlib.util.find_spec("torch") is None:
        return _composit_module_of(kernel)
    from composit.knossos.torch_module import KernelModule

    return KernelModule(kernel)


def _composit_module_of(kernel: Any) -> Any:
    """A composit.torch.nn.Module that applies the kernel."""
    from composit.torch.nn.kernel_module import KernelModule

    return KernelModule(kernel)


register(Library("torch", 2, _owns, _call))
provided.autograd_function, provided.module_of = _autograd_function, _module_of
provided.composit_module_of = _composit_module_of
