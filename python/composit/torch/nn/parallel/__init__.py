"""torch.nn.parallel: a module over the devices there are, which is one."""

from __future__ import annotations

from typing import Any

from composit._core import runtime_error
from composit.torch import parts
from composit.torch.nn.module import Module
from composit.torch.nn.parallel.pieces import gather, parallel_apply, replicate, scatter

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply",
           "replicate", "scatter"]  # fmt: skip
parts.register_namesakes(__name__, "data_parallel", "parallel_apply", "replicate")


class DataParallel(Module):
    """A module in a module, as its attribute `module`; calls are the inner one's. PyTorch's does so
    without CUDA, too."""

    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """RuntimeError: processes that train together are not built."""

    def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
        raise runtime_error(
            "DistributedDataParallel: processes that train together are not built. The module "
            "itself, or DataParallel of it, is required."
        )


def data_parallel(
    module: Any, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
    module_kwargs: Any = None,
) -> Any:  # fmt: skip
    """What the module gives for the inputs."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))
