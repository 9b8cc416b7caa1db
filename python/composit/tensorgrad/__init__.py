"""composit.tensorgrad: a small library in PyTorch's manner, over composit.torch.

import composit.tensorgrad as tensorgrad

x = tensorgrad.tensor([[1.0, 2.0]])
(x * x).sum().backward()
x.grad    # [[2. 4.]]
"""

from composit.tensorgrad import const, nn, ops, optim, storage
from composit.tensorgrad.const import DEVICE, DTYPE
from composit.tensorgrad.ctx import is_grad_enabled, no_grad
from composit.tensorgrad.tensor import Tensor, tensor

__all__ = [
    "DEVICE", "DTYPE", "Tensor", "const", "is_cuda_available", "is_grad_enabled", "nn", "no_grad",
    "ops", "optim", "storage", "tensor",
]  # fmt: skip


def is_cuda_available() -> bool:
    """Whether there is a CUDA device, or one is registered under that name."""
    try:
        storage.StorageDispatch.get(DEVICE.CUDA)
    except NotImplementedError:
        return False
    return True
