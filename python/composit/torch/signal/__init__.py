"""torch.signal: windows of signals."""

from composit.torch.signal import windows

__all__ = ["windows"]
