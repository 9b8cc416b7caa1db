"""KernelModule: a kernel as a module of composit.torch."""

from __future__ import annotations

from typing import Any

from composit.torch.nn import Module


class KernelModule(Module):
    """Applies a kernel to its inputs. It has no parameters."""

    def __init__(self, kernel: Any) -> None:
        super().__init__()
        self.kernel = kernel

    def forward(self, *arguments: Any, example_input: Any = None) -> Any:
        """The kernel of the arguments."""
        if not arguments and example_input is not None:
            return self  # kernel.nnModule(example_input=x), as it was once written
        return self.kernel(*arguments)

    def extra_repr(self) -> str:
        """The kernel's name."""
        return self.kernel.__name__
