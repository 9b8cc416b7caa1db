"""A recurrent network of long short-term memory (Hochreiter and Schmidhuber 1997)."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit.cg import op
from composit.cg.models.fcn import linear
from composit.cg.module import Module
from composit.cg.template import Parameter, Variable


class LSTMCell(Module):
    """One step: an input (batch, inputs), the state and the memory (batch, width) to the next state
    and memory."""

    def __init__(self, random: np.random.RandomState, inputs: int, width: int) -> None:
        bias = np.zeros(4 * width, np.float32)
        bias[width : 2 * width] = 1  # remember at first
        super().__init__(
            inputs=(Variable("x"), Variable("state"), Variable("memory")),
            params=(
                Parameter("W", _uniform(random, inputs, 4 * width, width)),
                Parameter("U", _uniform(random, width, 4 * width, width)),
                Parameter("b", bias),
            ),
        )
        self.width = width

    def call(self, x: Any, state: Any, memory: Any) -> Any:
        sums = op.add(
            op.add(op.matmul(x, self.param("W")), op.matmul(state, self.param("U"))),
            self.param("b"),
        )
        put, keep, new, show = (
            op.get_item(sums, index=(slice(None), slice(i * self.width, (i + 1) * self.width)))
            for i in range(4)
        )
        memory = op.add(op.mult(op.sigmoid(keep), memory), op.mult(op.sigmoid(put), op.tanh(new)))
        return op.mult(op.sigmoid(show), op.tanh(memory)), memory


def _uniform(random: np.random.RandomState, rows: int, columns: int, width: int) -> Any:
    return random.uniform(-1, 1, (rows, columns)).astype(np.float32) / np.float32(np.sqrt(width))


class Recurrent(Module):
    """Scores (batch, classes) of sequences (batch, steps, inputs): an LSTM reads the steps one
    after the other, a linear layer its last state."""

    def __init__(self, inputs: int = 8, width: int = 64, classes: int = 10, seed: int = 0) -> None:
        super().__init__(inputs=(Variable("sequences"),))
        random = np.random.RandomState(seed)
        self.cell = LSTMCell(random, inputs, width)
        self.last = linear(random, width, classes)

    def call(self, sequences: Any) -> Any:
        batch, steps, _ = sequences.tensor.shape
        state = memory = np.zeros((batch, self.cell.width), np.float32)
        for i in range(steps):
            x = op.get_item(sequences, index=(slice(None), i))
            state, memory = self.cell(x, state, memory)
        return self.last(state)
