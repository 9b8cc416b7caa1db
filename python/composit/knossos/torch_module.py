"""KernelModule: a kernel as a module of PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from composit.knossos.applies_kernel import AppliesKernel
from composit.knossos.frames import skip_frames_of
from composit.knossos.provided import provided
from composit.knossos.torch_compiling import leave_frames_as_they_are


class KernelModule(AppliesKernel, torch.nn.Module):
    """Applies a kernel to its inputs. It has no parameters."""

    def composit_module(self) -> Any:
        """What composit.torch's modules take in its place."""
        return provided.composit_module_of(self.kernel)


leave_frames_as_they_are(AppliesKernel.forward)
skip_frames_of("torch")
