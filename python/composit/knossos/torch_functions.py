"""Kernels over torch's tensors: an autograd function, and modules of either torch."""

from __future__ import annotations

import importlib.util
from typing import Any

from composit._core import NotSupported, with_location


def _arrays(name: str, leaves: tuple[Any, ...]) -> list[Any]:
    import torch

    arrays = []
    for leaf in leaves:
        if not isinstance(leaf, torch.Tensor):
            arrays.append(leaf)
            continue
        if leaf.device.type != "cpu":
            raise NotSupported(
                with_location(
                    f"{name}: a tensor lies on {leaf.device}, which is not built. Available: cpu."
                )
            )
        if leaf.dtype in (torch.bfloat16, torch.float16):
            raise NotSupported(
                with_location(
                    f"{name}: a tensor has dtype {leaf.dtype}. float32 or float64 is required."
                )
            )
        arrays.append(leaf.detach().resolve_neg().numpy())
    return arrays


def _compute(kernel: Any, leaves: tuple[Any, ...]) -> Any:
    import numpy as np
    import torch

    made = kernel._computed(_arrays(kernel.__name__, leaves))
    if isinstance(made, tuple):
        return tuple(torch.from_numpy(np.asarray(each)) for each in made)
    return torch.from_numpy(np.asarray(made))


def _summed_to(gradient: Any, shape: Any) -> Any:
    """The gradient of an operand that was broadcast."""
    return gradient if gradient.shape == shape else gradient.sum_to_size(shape)


def autograd_function(kernel: Any) -> Any:
    """The torch.autograd.Function of a kernel; one class for each kernel."""
    made = vars(kernel).get("_autograd_function")
    if made is not None:
        return made
    import torch

    class KernelFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *leaves: Any) -> Any:
            ctx.is_tensor = [isinstance(leaf, torch.Tensor) for leaf in leaves]
            ctx.numbers = [None if t else leaf for leaf, t in zip(leaves, ctx.is_tensor)]
            ctx.save_for_backward(*[leaf for leaf, t in zip(leaves, ctx.is_tensor) if t])
            made = _compute(kernel, leaves)
            every = made if isinstance(made, tuple) else (made,)
            steps = [each for each in every if not each.is_floating_point()]
            if steps:
                ctx.mark_non_differentiable(*steps)
            ctx.floats = [each.is_floating_point() for each in every]
            return made

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            tensors = iter(ctx.saved_tensors)
            leaves = [next(tensors) if t else n for t, n in zip(ctx.is_tensor, ctx.numbers)]
            received = [g for g, is_float in zip(gradients, ctx.floats) if is_float]
            made = call(kernel.vjp, leaves + received)
            parts = iter(made if isinstance(made, tuple) else (made,))
            out: list[Any] = [None] * len(leaves)
            for i in kernel._floats():
                part = next(parts)
                if ctx.is_tensor[i] and ctx.needs_input_grad[i]:
                    out[i] = _summed_to(part, leaves[i].shape)
            return tuple(out)

    KernelFunction.__name__ = KernelFunction.__qualname__ = kernel.__name__
    kernel._autograd_function = KernelFunction
    return KernelFunction


def call(kernel: Any, leaves: list[Any]) -> Any:
    """The kernel of tensors and numbers, with autograd where a tensor asks for it."""
    import torch

    if torch.is_grad_enabled() and any(getattr(leaf, "requires_grad", False) for leaf in leaves):
        return autograd_function(kernel).apply(*leaves)
    return _compute(kernel, tuple(leaves))


def module_of(kernel: Any) -> Any:
    """A torch.nn.Module that applies the kernel; composit.torch's where PyTorch is missing."""
    if importlib.util.find_spec("torch") is None:
        return composit_module_of(kernel)
    import torch

    class KernelModule(torch.nn.Module):
        def forward(self, *arguments: Any, example_input: Any = None) -> Any:
            if not arguments and example_input is not None:
                return self  # kernel.nnModule(example_input=x), as it was once written
            return kernel(*arguments)

        def extra_repr(self) -> str:
            return kernel.__name__

        def composit_module(self) -> Any:
            """What composit.torch's modules take in its place."""
            return composit_module_of(kernel)

    return KernelModule()


def composit_module_of(kernel: Any) -> Any:
    """A composit.torch.nn.Module that applies the kernel."""
    from composit.torch.nn import Module

    class KernelModule(Module):
        def forward(self, *arguments: Any, example_input: Any = None) -> Any:
            """The kernel of the arguments."""
            if not arguments and example_input is not None:
                return self
            return kernel(*arguments)

        def extra_repr(self) -> str:
            """The kernel's name."""
            return kernel.__name__

    return KernelModule()
