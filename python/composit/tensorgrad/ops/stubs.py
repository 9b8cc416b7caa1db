"""What operations are made of."""

from __future__ import annotations

from typing import Any


class BaseOp:
    """An operation on a device's arrays. `forward` computes and keeps what `backward` needs, which
    takes the gradient of the result to one for each input (None: there is none)."""

    NAME: str = ""

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """The result."""
        raise NotImplementedError

    def backward(self, upstream: Any) -> Any:
        """The gradients of the inputs: a tuple, or one alone."""
        raise NotImplementedError


class UnaryOp(BaseOp):
    """forward(x)"""


class BinaryOp(BaseOp):
    """forward(a, b)"""


class ReduceOp(BaseOp):
    """forward(x, *, dim, keepdim): dim is None, an int, or a tuple of such for sums and means."""
