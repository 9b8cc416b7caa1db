"""Tensors cut into pieces for several devices, and modules on each: what DataParallel is made
of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from warnings import warn

from composit._core import value_error
from composit.torch.calling import TensorBase, functions
from composit.torch.nn.module import Module


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """For each device a piece of every tensor along a dimension, on that device; what is no tensor
    is the same for all. Structures stay as they are: a tensor gives a tuple, others a list."""
    if isinstance(inputs, TensorBase):
        pieces = functions["chunk"](inputs, len(target_gpus), dim)
        return tuple(piece.to(device) for piece, device in zip(pieces, target_gpus))
    if isinstance(inputs, dict) and inputs:
        items = zip(*(scatter(item, target_gpus, dim) for item in inputs.items()))
        return [type(inputs)(each) for each in items]
    if isinstance(inputs, (list, tuple)) and inputs:
        parts = zip(*(scatter(item, target_gpus, dim) for item in inputs))
        if hasattr(inputs, "_fields"):
            return [type(inputs)(*each) for each in parts]
        return [type(inputs)(each) for each in parts]
    return [inputs for _ in target_gpus]


def scatter_kwargs(
    inputs: Any, kwargs: Any, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """scatter of arguments and of keywords, as many of both."""
    given = list(scatter(inputs, target_gpus, dim)) if inputs else []
    named = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    count = max(len(given), len(named))
    given += [()] * (count - len(given))
    named += [{} for _ in range(count - len(named))]
    return tuple(given), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Structures of pieces as one structure of tensors, joined along a dimension on a device; those
    without dimensions make a vector."""
    first = outputs[0]
    if isinstance(first, TensorBase):
        moved = [piece.to(target_device) for piece in outputs]
        if all(not piece.shape for piece in moved) and dim == 0:
            warn(
                "Was asked to gather along dimension 0, but all input tensors were scalars; will "
                "instead unsqueeze and return a vector.",
                stacklevel=2,
            )
            return functions["stack"](moved)
        return functions["cat"](moved, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if not all(len(first) == len(each) for each in outputs):
            raise value_error("All dicts must have the same number of keys")
        kind: Any = type(first)
        return kind((k, gather([each[k] for each in outputs], target_device, dim)) for k in first)
    parts = [gather(each, target_device, dim) for each in zip(*outputs)]
    return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)


def parallel_apply(
    modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Any = None, devices: Any = None
) -> list[Any]:
    """What each module gives for its inputs, a tuple or one tensor, one module after another.
    AssertionError for numbers that differ."""
    count = len(modules)
    for what, given in (("inputs", inputs), ("kwargs_tup", kwargs_tup), ("devices", devices)):
        if given is not None and len(given) != count:
            raise AssertionError(
                f"The number of modules {count} is not equal to the number of {what} {len(given)}"
            )
    return [
        module(*(each if isinstance(each, (list, tuple)) else (each,)), **kwargs)
        for module, each, kwargs in zip(modules, inputs, kwargs_tup or [{}] * count)
    ]


def replicate(network: Any, devices: Sequence[Any], detach: bool = False) -> list[Any]:
    """A copy of the module for each device, whose tensors are computed from the module's own, so
    that gradients reach those; with `detach` they do not."""
    return [_replica(network, device, detach, {}) for device in devices]


def _replica(module: Any, device: Any, detach: bool, made: dict[int, Any]) -> Any:
    if id(module) in made:
        return made[id(module)]
    copy = made[id(module)] = object.__new__(type(module))
    copy.__dict__.update(module.__dict__)
    for group in ("_parameters", "_buffers"):
        copy.__dict__[group] = {}
    for name, tensor in {**module._parameters, **module._buffers}.items():
        moved = tensor
        if tensor is not None:
            moved = (tensor.detach() if detach else tensor).to(device)
            # An operation's result is no parameter.
            moved = moved.view_as(moved) if moved is tensor else moved
        if name in module._buffers:
            copy._buffers[name] = moved
        else:
            copy.__dict__[name] = moved
    copy.__dict__["_modules"] = {
        name: child if not isinstance(child, Module) else _replica(child, device, detach, made)
        for name, child in module._modules.items()
    }
    return copy
