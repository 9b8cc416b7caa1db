"""Losses."""

from __future__ import annotations

import numpy as np

from composit._core import value_error
from composit.tensorgrad.nn.module import Module, check
from composit.tensorgrad.tensor import Tensor


class _Loss(Module):
    def __init__(self, reduction: str = "mean") -> None:
        if reduction not in ("mean", "sum"):
            raise value_error(
                f"{type(self).__name__}: reduction is {reduction!r}. 'mean' or 'sum' is required."
            )
        self.reduction = reduction

    def _reduced(self, losses: Tensor) -> Tensor:
        return losses.mean() if self.reduction == "mean" else losses.sum()


class MSELoss(_Loss):
    """Squares of differences."""

    def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        """One number for two tensors of one shape."""
        difference = prediction - target
        return self._reduced(difference * difference)


class CrossEntropyLoss(_Loss):
    """-log softmax(logits) of the targets."""

    def _check_input(self, logits: Tensor, targets: Tensor) -> None:
        check(logits.ndim == 2, self, logits, "(batch, classes)")
        check(targets.shape == logits.shape[:1], self, targets, f"({logits.shape[0]},) of targets")

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """One number for logits (batch, classes) and targets (batch,)."""
        # A constant for each row, so that exponentials stay in range.
        largest = logits.detach().max(dim=1, keepdim=True)
        shifted = logits - largest
        rows = np.arange(logits.shape[0])
        chosen = shifted[rows, targets.numpy()]
        return self._reduced(shifted.exp().sum(dim=1).log() - chosen)
