"""composit.torch.nn: modules, their parameters, and functions of networks."""

from __future__ import annotations

from typing import Any

from composit.torch import parts
from composit.torch.nn import functional, init, modules, utils
from composit.torch.nn.module import Module
from composit.torch.nn.modules import *
from composit.torch.nn.parameter import Buffer, Parameter

__all__ = ["Buffer", "Module", "Parameter", "functional", "init", "utils", *modules.__all__]


_part = parts.getter(__name__, ("parallel",))


def __getattr__(name: str) -> Any:
    """What loads when it is first used; what is not built says so."""
    if name in ("DataParallel",):
        from composit.torch.nn import parallel

        return getattr(parallel, name)
    return _part(name)
