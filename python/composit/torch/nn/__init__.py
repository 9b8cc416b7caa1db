"""composit.torch.nn: modules, their parameters, and functions of networks."""

from composit.torch.nn import functional, init, modules, utils
from composit.torch.nn.module import Module
from composit.torch.nn.modules import *
from composit.torch.nn.parameter import Buffer, Parameter

__all__ = ["Buffer", "Module", "Parameter", "functional", "init", "utils", *modules.__all__]


def __getattr__(name: str):
    """What is not built says so."""
    raise AttributeError(f"composit.torch.nn.{name} is not built yet; docs/torch.md lists what is.")
