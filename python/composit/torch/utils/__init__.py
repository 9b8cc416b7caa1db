"""torch.utils: data."""

from composit.torch.utils import data

__all__ = ["data"]
