"""composit.torch.nn: modules, their parameters, and functions of networks."""

from __future__ import annotations

from typing import Any

from composit._core import type_error
from composit.torch import parts
from composit.torch.nn import functional, init, modules, utils
from composit.torch.nn.module import Module
from composit.torch.nn.modules import *
from composit.torch.nn.parameter import Buffer, Parameter

__all__ = [
    "Buffer", "Module", "Parameter", "factory_kwargs", "functional", "init", "utils",
    *modules.__all__,
]  # fmt: skip


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The device, dtype and memory_format among keywords, and those in their "factory_kwargs", for
    functions that make tensors. TypeError for other keywords, and for one that is given twice."""
    if kwargs is None:
        return {}
    names = {"device", "dtype", "memory_format"}
    if not kwargs.keys() <= names | {"factory_kwargs"}:
        raise type_error(f"unexpected kwargs {kwargs.keys() - names - {'factory_kwargs'}}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in names & kwargs.keys():
        if name in found:
            raise type_error(f"{name} specified twice, in **kwargs and in factory_kwargs")
        found[name] = kwargs[name]
    return found


_part = parts.getter(__name__, ("parallel",))


def __getattr__(name: str) -> Any:
    """What loads when it is first used; what is not built says so."""
    if name in ("DataParallel",):
        from composit.torch.nn import parallel

        return getattr(parallel, name)
    return _part(name)
