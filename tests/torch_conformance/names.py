"""PyTorch's public names, by namespace, and whether composit.torch takes the same arguments."""

from __future__ import annotations

import inspect
import re
import types
from typing import Any

import torch as peer

from composit import torch

SPACES = (
    "", "Tensor", "nn.functional", "nn", "optim", "optim.lr_scheduler", "linalg", "fft", "special",
    "autograd", "autograd.functional", "func", "utils.data",
)  # fmt: skip
# Arguments that every function takes, as composit/torch/calling.py says.
_COMMON = {"out", "device", "layout", "pin_memory", "memory_format", "non_blocking", "generator",
           "self", "input", "args", "kwargs", "name", "_stacklevel"}  # fmt: skip
# What PyTorch has under these namespaces beside functions and classes for users: its compiler's and
# its interpreter's types, typing's names, and what is of other devices and of quantised tensors.
_INNER = re.compile(
    r"^(cudnn_|miopen_|mkldnn_|quantize|quantized_|q_|fbgemm_|fake_quantize|sym_|SymInt|Sym|parse_|"
    r"import_ir|is_autocast|set_autocast|get_autocast|autocast_|clear_autocast|is_vulkan|profiler)|"
    r"(Type|Storage|Tag|Logger|Archive|Reader|Writer|Module|Schema|Graph|Stats|Key|Iterator)$"
)


def at(library: Any, space: str) -> Any:
    """A namespace of a library, or None."""
    for part in filter(None, space.split(".")):
        try:
            library = getattr(library, part)
        except AttributeError:
            return None
    return library


def public(space: str) -> list[str]:
    """What PyTorch documents there: callables that have a text and are no types of its insides."""
    where = at(peer, space)
    listed = set(getattr(where, "__all__", ()))
    found = []
    for name in sorted({*dir(where), *listed}):
        value = getattr(where, name, None)
        if name.startswith("_") or not callable(value) or isinstance(value, types.ModuleType):
            continue
        if _INNER.search(name) and not (space in ("nn", "Tensor") and "quant" not in name):
            continue
        home = str(getattr(value, "__module__", None) or "torch")
        if not home.startswith("torch") or not getattr(value, "__doc__", None):
            continue
        if space and name not in listed and space not in home and space != "Tensor" and listed:
            continue
        if space == "" and name not in listed and isinstance(value, type):
            continue
        found.append(name)
    return found


def has(space: str, name: str) -> bool:
    """Whether composit.torch has it."""
    try:
        getattr(at(torch, space), name)
    except AttributeError:
        return False
    return True


def _parameters_of(value: Any) -> set[str] | None:
    """The names that PyTorch's function or class takes; from its text where there is no other."""
    try:
        if isinstance(value, type):
            value = value.__init__  # type: ignore[misc]
        described = inspect.signature(value)
        return set(described.parameters) - _COMMON
    except (TypeError, ValueError):
        pass
    match = re.match(r"\s*[\w.]+\((.*?)\)(?: ->|\n|$)", value.__doc__ or "", re.DOTALL)
    if match is None:
        return None
    parts = re.sub(r"\([^)]*\)|\[[^]]*\]", "", match[1]).split(",")
    names = {re.split("[=:]", part)[0].strip().lstrip("*").split(" ")[-1] for part in parts}
    return {name for name in names if name.isidentifier()} - _COMMON


def takes_the_same(space: str, name: str) -> bool | None:
    """Whether each argument PyTorch names is one of composit's; None where neither says."""
    theirs = _parameters_of(getattr(at(peer, space), name))
    mine = getattr(at(torch, space), name)
    try:
        described = inspect.signature(mine.__init__ if isinstance(mine, type) else mine)
    except (TypeError, ValueError):
        return None
    if theirs is None:
        return None
    kinds = {p.kind for p in described.parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return True
    is_open = inspect.Parameter.VAR_POSITIONAL in kinds
    missing = theirs - set(described.parameters)
    return not missing or (is_open and len(missing) <= 1)
