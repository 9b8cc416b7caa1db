"""torch.utils: data."""

from composit.torch import parts
from composit.torch.utils import data

__all__ = ["data"]

__getattr__ = parts.getter(__name__, ("checkpoint", "dlpack", "hooks", "tensorboard"))
