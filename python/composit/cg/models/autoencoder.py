"""An autoencoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from composit.cg import op
from composit.cg.models.fcn import FeedForward
from composit.cg.module import Module
from composit.cg.template import Variable


class Autoencoder(Module):
    """Inputs (batch, widths[0]) of numbers from 0 to 1 to reconstructions of them, by way of codes
    of widths[-1] numbers: `encoder` and `decoder` are modules of their own."""

    def __init__(self, widths: Sequence[int] = (64, 64, 12), seed: int = 0) -> None:
        super().__init__(inputs=(Variable("x"),))
        self.encoder = FeedForward(widths, seed)
        self.decoder = FeedForward(tuple(widths)[::-1], seed + 1)

    def call(self, x: Any) -> Any:
        return op.sigmoid(self.decoder(self.encoder(x)))
