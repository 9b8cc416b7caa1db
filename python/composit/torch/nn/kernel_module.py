"""KernelModule: a kernel as a module of composit.torch."""

from __future__ import annotations

from composit.knossos.applies_kernel import AppliesKernel
from composit.torch.nn import Module


class KernelModule(AppliesKernel, Module):
    """Applies a kernel to its inputs. It has no parameters."""
