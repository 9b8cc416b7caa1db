"""Names of arguments: those that PyTorch's operators take (by their schemas), and those that its
functions of Python take, which composit.torch does not."""

from __future__ import annotations

import inspect
from typing import Any

import torch as peer

from composit import torch
from composit.torch.calling import _ignored, _other_names
from composit.torch.keywords import other_names

SPACES = ("", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "nn.Module", "optim",
          "optim.lr_scheduler", "optim.Optimizer", "linalg", "fft", "special", "autograd", "func",
          "utils.data")  # fmt: skip
# Of TorchScript's overloads for Python's own numbers and lists, which are no functions of tensors.
_SCRIPTED = {"a", "b", "t", "l", "n", "i", "x", "idx", "list", "el"}
_COMMON = {"self", "input", "out", "names", "dimname", *_ignored}


def _at(root: Any, space: str) -> Any:
    for part in filter(None, space.split(".")):
        root = getattr(root, part)
    return root


def _taken(function: Any) -> set[str] | None:
    """The names that a function takes; None where it takes any, or says none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return {p.name for p in parameters if p.kind is not p.VAR_POSITIONAL}


def _schemas() -> dict[str, set[str]]:
    """The names of the arguments of PyTorch's operators."""
    found: dict[str, set[str]] = {}
    for schema in peer._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        arguments = [x for x in schema.arguments if not x.is_out]
        is_of_names = any("Dimname" in str(x.type) or "str" in str(x.type) for x in arguments)
        if space != "aten" or is_of_names or _SCRIPTED & {x.name for x in arguments}:
            continue
        found.setdefault(name, set()).update(x.name for x in arguments)
    return found


def missing() -> dict[str, list[str]]:
    """For each space and name the arguments of PyTorch's that cannot be named."""
    schemas, found = _schemas(), {}
    for space in SPACES:
        theirs, mine = _at(peer, space), _at(torch, space)
        for name in dir(theirs):
            if name.startswith("_"):
                continue
            function = getattr(theirs, name)
            try:
                own = getattr(mine, name)
            except (AttributeError, NotImplementedError):
                continue
            if not callable(function) or not callable(own):
                continue
            wanted = _taken(function)
            if wanted is None:
                wanted = schemas.get(name, set()) if space in ("", "Tensor") else set()
            taken = _taken(own)
            if taken is None:
                continue
            known = other_names(name)
            absent = sorted(
                x for x in wanted - _COMMON
                if x not in taken and x not in known and _other_names.get(x, x) not in taken
            )  # fmt: skip
            if absent and not all(x.startswith("_") for x in absent):
                found[f"{space}.{name}".lstrip(".")] = absent
    return found
