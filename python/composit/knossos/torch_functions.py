"""Kernels over torch's tensors: an autograd function."""

from __future__ import annotations

import importlib.util
import inspect
from typing import Any

import numpy as np

from composit._core import not_supported, short_floats, type_error
from composit.knossos.frames import skip_frames_of
from composit.knossos.kernel import Kernel
from composit.knossos.short_floats import floats_among
from composit.knossos.torch_batches import batched
from composit.knossos.torch_compiling import leave_frames_as_they_are, left_as_it_is


def _array(name: str, leaf: Any) -> Any:
    """A tensor as NumPy's array of the same elements, those of 16-bit floats as float32."""
    import torch

    if not isinstance(leaf, torch.Tensor):
        return leaf
    if leaf.device.type != "cpu":
        raise not_supported(
            f"{name}: a tensor lies on {leaf.device}, which is not built. Available: cpu."
        )
    leaf = leaf.detach().resolve_neg()
    try:
        return (leaf.float() if leaf.dtype in _short_dtypes() else leaf).numpy()
    except TypeError:  # of dtypes and layouts
        layout = "" if leaf.layout == torch.strided else f" in {leaf.layout}"
        raise type_error(
            f"{name}: a tensor of {leaf.dtype}{layout} is no array of numbers. One of floats "
            "of 16 bits or more, integers or bools is required: x.float(), x.dequantize(), "
            "x.to_dense()."
        ) from None
    except RuntimeError:  # of subclasses, as torch.export calls with
        raise not_supported(
            f"{name}: a {type(leaf).__name__} has no elements to compute with (FakeTensorMode, "
            "torch.export). A torch.Tensor that holds them is required; torch.compile gives "
            "kernels such."
        ) from None


def _short_dtypes() -> tuple[Any, ...]:
    import torch

    return tuple(getattr(torch, name) for name in short_floats)


def _short_dtype(leaves: tuple[Any, ...]) -> Any:
    """The short dtype that results have: that of all floats among the leaves, if it is one."""
    given = {getattr(leaf, "dtype", None) for leaf in leaves}
    if given.isdisjoint(_short_dtypes()):
        return None
    floats = {each for each in given if getattr(each, "is_floating_point", False)}
    floats |= floats_among(list(leaves))
    return floats.pop() if len(floats) == 1 else None


def _compute(kernel: Any, leaves: tuple[Any, ...]) -> Any:
    import torch

    is_written_down = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY) is not None
    if is_written_down or torch._C._get_tracing_state() is not None:
        raise not_supported(
            f"{kernel.__name__}: it is called while torch writes down a graph of operations "
            "(make_fx, torch.func.linearize, torch.jit.trace), in which its result would be a "
            "constant. torch.func.jvp, vjp, grad or torch.compile, which call kernels, are "
            "required."
        )
    arrays = [_array(kernel.__name__, leaf) for leaf in leaves]
    made = kernel._computed(arrays)
    short = _short_dtype(leaves)
    number = kernel._dtype(arrays) if kernel.is_of_arrays else None

    def tensor(result: Any) -> Any:
        # Numbers have the dtype in which a kernel with arrays computed them.
        dtype = number if type(result) is float else None
        made = torch.from_numpy(np.asarray(result, dtype))
        return made.to(short) if short is not None and made.is_floating_point() else made

    return tuple(map(tensor, made)) if isinstance(made, tuple) else tensor(made)


def _summed_to(kernel: Any, gradient: Any, shape: Any) -> Any:
    """The gradient of an operand that was broadcast."""
    if gradient.shape == shape:
        return gradient
    if kernel.is_of_arrays:  # a number that stood for itself in each row
        return gradient.sum(tuple(range(len(shape), gradient.ndim)))
    return gradient.sum_to_size(shape)


def autograd_function(kernel: Any) -> Any:
    """The torch.autograd.Function of a kernel; one class for each kernel."""
    made = vars(kernel).get("_autograd_function")
    if made is not None:
        return made
    import torch

    class KernelFunction(torch.autograd.Function):
        @staticmethod
        def forward(*leaves: Any) -> Any:
            return _compute(kernel, leaves)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.is_tensor = [isinstance(leaf, torch.Tensor) for leaf in inputs]
            ctx.numbers = [None if t else leaf for leaf, t in zip(inputs, ctx.is_tensor)]
            tensors = [leaf for leaf, t in zip(inputs, ctx.is_tensor) if t]
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)
            every = output if isinstance(output, tuple) else (output,)
            ctx.floats = [each.is_floating_point() for each in every]
            if not all(ctx.floats):
                steps = [each for each in every if not each.is_floating_point()]
                ctx.mark_non_differentiable(*steps)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            leaves = _leaves(ctx)
            received = [g for g, is_float in zip(gradients, ctx.floats) if is_float]
            made = call(kernel.vjp, leaves + received)
            parts = iter(made if isinstance(made, tuple) else (made,))
            out: list[Any] = [None] * len(leaves)
            for i in kernel._floats():
                part = next(parts)
                if ctx.is_tensor[i] and ctx.needs_input_grad[i]:
                    out[i] = _summed_to(kernel, part, leaves[i].shape)
            return tuple(out)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            leaves = _leaves(ctx)
            moved = [_tangent(leaves[i], tangents[i]) for i in kernel._floats()]
            made = call(kernel.jvp, leaves + moved)
            parts = iter(made if isinstance(made, tuple) else (made,))
            out = tuple(next(parts) if is_float else None for is_float in ctx.floats)
            return out if len(out) > 1 else out[0]

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], *leaves: Any) -> Any:
            over, rows = batched(kernel, info.batch_size, in_dims, leaves)
            made = call(over, rows)
            return made, (0,) * len(made) if isinstance(made, tuple) else 0

    # Which each call asks for: to find it takes longer than the rest of a short call.
    forward: Any = KernelFunction.forward
    forward.__signature__ = inspect.signature(forward)
    KernelFunction.__name__ = KernelFunction.__qualname__ = kernel.__name__
    kernel._autograd_function = KernelFunction
    return KernelFunction


def _leaves(ctx: Any) -> list[Any]:
    """What the function was called with."""
    tensors = iter(ctx.saved_tensors)
    return [next(tensors) if t else n for t, n in zip(ctx.is_tensor, ctx.numbers)]


def _tangent(leaf: Any, tangent: Any) -> Any:
    """Numbers and NumPy's arrays among tensors do not move, whatever their elements are."""
    if tangent is not None:
        return tangent
    if not hasattr(leaf, "shape"):
        return 0.0
    if isinstance(leaf, (np.ndarray, np.generic)):
        return np.zeros(leaf.shape, np.result_type(leaf.dtype, 0.0))
    import torch

    return torch.zeros_like(leaf, dtype=torch.result_type(leaf, 0.0))


@left_as_it_is
def call(kernel: Any, leaves: list[Any]) -> Any:
    """The kernel of tensors and numbers, under autograd and torch.func."""
    if _is_followed(leaves):
        return autograd_function(kernel).apply(*leaves)
    return _compute(kernel, tuple(leaves))


def _is_followed(leaves: list[Any]) -> bool:
    """Whether derivatives or batches of what is computed may be asked for. True is right, too, and
    takes longer."""
    import torch
    from torch.autograd import forward_ad

    is_transforming = getattr(torch._C, "_are_functorch_transforms_active", None)
    if (
        is_transforming is None
        or is_transforming()
        or getattr(forward_ad, "_current_level", 0) >= 0
    ):
        return True
    return torch.is_grad_enabled() and any(getattr(leaf, "requires_grad", False) for leaf in leaves)


if importlib.util.find_spec("torch") is not None:
    leave_frames_as_they_are(Kernel.__call__, call, _compute)
    skip_frames_of("torch")
