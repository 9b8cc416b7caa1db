"""Names of arguments: those that PyTorch's operators take (by their schemas), and those that its
functions of Python take, which composit.torch does not."""

from __future__ import annotations

import inspect
from typing import Any

import torch as peer
from composit._core import argument_names

from composit import torch
from composit.torch.keywords import other_names

other_argument_names, ignored_arguments = argument_names()

SPACES = ("", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn",
          "nn.utils.parametrize", "nn.utils.parametrizations", "nn.attention", "nn.parallel",
          "nn.Module", "nn.Sequential", "nn.ModuleList", "nn.ModuleDict", "nn.ParameterList",
          "nn.ParameterDict", "optim", "optim.lr_scheduler", "optim.lr_scheduler.LRScheduler",
          "optim.Optimizer", "optim.swa_utils", "linalg", "fft", "special", "autograd",
          "autograd.functional", "autograd.forward_ad", "autograd.Function", "func", "utils.data",
          "utils.data.distributed", "utils.checkpoint", "utils.dlpack", "distributions",
          "distributions.transforms", "distributions.constraints", "distributions.kl",
          "distributions.utils", "distributions.Distribution", "distributions.Transform", "amp",
          "amp.GradScaler", "cuda", "cuda.amp", "accelerator", "backends", "random",
          "serialization", "sparse", "hub", "compiler", "Generator")  # fmt: skip
# How the schemas of a namespace begin.
_BEFORE = {"": "", "Tensor": "", "linalg": "linalg_", "fft": "fft_", "special": "special_",
           "nn.functional": ""}  # fmt: skip
# Of TorchScript's overloads for Python's own numbers and lists, which are no functions of tensors.
_SCRIPTED = {"a", "b", "t", "l", "n", "i", "x", "idx", "list", "el"}
_COMMON = {"self", "input", "out", "names", "dimname", *ignored_arguments}
# Names of schemas that PyTorch's functions of Python do not take themselves, with a call that says
# so: `sort(reverse=)` is of TorchScript's lists.
REFUSED_BY_PYTORCH = {
    "Generator": ("seed", lambda t, name: t.Generator(**{name: 1})),
    "sort": ("reverse", lambda t, name: t.sort(t.ones(2), **{name: True})),
    "Tensor.sort": ("reverse", lambda t, name: t.ones(2).sort(**{name: True})),
    **{
        f"nn.functional.fractional_max_pool{n}d": (
            "random_samples",
            lambda t, name, n=n: getattr(t.nn.functional, f"fractional_max_pool{n}d")(
                t.ones(1, *[4] * n), 2, output_size=2, **{name: t.ones(1, 1, n) / 2}
            ),
        )
        for n in (2, 3)
    },
}  # fmt: skip


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


def _wanted(space: str, name: str, function: Any, schemas: dict[str, set[str]]) -> set[str]:
    """The names that PyTorch's function has: by its signature, else its schemas, else its text."""
    by_signature = _taken(function)
    if by_signature is not None:
        return by_signature
    if space in _BEFORE and _BEFORE[space] + name in schemas:
        return schemas[_BEFORE[space] + name]
    return set()


def _taken_here(space: str, name: str) -> set[str] | None:
    """The names that ours takes; of one in place, which gives on what it gets, those of the
    function that it is made of."""
    own = _at(torch, space)
    for each in (name, name.removesuffix("_")):
        value = getattr(own, each, None)
        taken = _taken(value) if callable(value) else None
        if taken is not None:
            return taken
    return None


def missing() -> dict[str, list[str]]:
    """For each space and name the arguments of PyTorch's that cannot be named."""
    schemas, found = _schemas(), {}
    for space in SPACES:
        theirs, mine = _at(peer, space), _at(torch, space)
        for name in dir(theirs):
            function = getattr(theirs, name, None)
            home = str(getattr(function, "__module__", None) or "torch")
            if name.startswith("_") or not callable(function) or not home.startswith("torch"):
                continue
            try:
                own = getattr(mine, name)
            except (AttributeError, NotImplementedError):
                continue
            taken = _taken_here(space, name) if callable(own) else None
            if taken is None:
                continue
            plain = _BEFORE.get(space, "") + name.removesuffix("_")
            known = {
                *other_names(plain),
                *REFUSED_BY_PYTORCH.get(f"{space}.{name}".lstrip("."), ()),
            }
            absent = sorted(
                x for x in _wanted(space, name, function, schemas) - _COMMON
                if x not in taken and x not in known and other_argument_names.get(x, x) not in taken
                and not x.startswith("_")
            )  # fmt: skip
            if absent:
                found[f"{space}.{name}".lstrip(".")] = absent
    return found
