"""A transformer encoder (Vaswani et al. 2017), normalised before each part."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit._core import value_error
from composit.cg import op
from composit.cg.models.fcn import Linear, linear
from composit.cg.module import Module
from composit.cg.template import Parameter, Variable


class LayerNorm(Module):
    """Each vector along the last axis with mean 0 and variance 1, scaled and moved."""

    def __init__(self, width: int) -> None:
        super().__init__(
            inputs=(Variable("x"),),
            params=(
                Parameter("weight", np.ones(width, np.float32)),
                Parameter("bias", np.zeros(width, np.float32)),
            ),
        )

    def call(self, x: Any) -> Any:
        return op.layer_norm(x, self.param("weight"), self.param("bias"))


class Attention(Module):
    """Every token of (batch, tokens, width) from all of them, by several heads."""

    def __init__(self, random: np.random.RandomState, width: int, heads: int) -> None:
        super().__init__(inputs=(Variable("x"),))
        self.query, self.key, self.value, self.output = (
            _projection(random, width, width) for _ in range(4)
        )
        self.heads = heads

    def call(self, x: Any) -> Any:
        batch, tokens, width = x.tensor.shape

        def by_heads(node: Any) -> Any:
            shape = (batch, tokens, self.heads, width // self.heads)
            return op.swapaxes(op.reshape(node, shape=shape), axis1=1, axis2=2)

        parts = [by_heads(one(x)) for one in (self.query, self.key, self.value)]
        mixed = op.swapaxes(op.attention(*parts), axis1=1, axis2=2)
        return self.output(op.reshape(mixed, shape=(batch, tokens, width)))


class Block(Module):
    """Attention, then two layers for each token, each added to what it was given."""

    def __init__(self, random: np.random.RandomState, width: int, heads: int) -> None:
        super().__init__(inputs=(Variable("x"),))
        self.norms = [LayerNorm(width), LayerNorm(width)]
        self.attention = Attention(random, width, heads)
        self.widened = linear(random, width, 4 * width)
        self.narrowed = _projection(random, 4 * width, width)

    def call(self, x: Any) -> Any:
        x = op.add(x, self.attention(self.norms[0](x)))
        return op.add(x, self.narrowed(op.gelu(self.widened(self.norms[1](x)))))


class Transformer(Module):
    """Scores (batch, classes) of sequences (batch, tokens, inputs): tokens with learned positions,
    blocks, the mean of all tokens, a linear layer."""

    def __init__(
        self, tokens: int = 8, inputs: int = 8, width: int = 32, heads: int = 4, blocks: int = 2,
        classes: int = 10, seed: int = 0,
    ) -> None:  # fmt: skip
        if width % heads:
            raise value_error(
                f"Transformer: a width of {width} in {heads} heads. The heads must divide it."
            )
        random = np.random.RandomState(seed)
        positions = (random.standard_normal((tokens, width)) * 0.1).astype(np.float32)
        super().__init__(
            inputs=(Variable("sequences"),), params=(Parameter("positions", positions),)
        )
        self.first = _projection(random, inputs, width)
        self.blocks = [Block(random, width, heads) for _ in range(blocks)]
        self.norm = LayerNorm(width)
        self.last = _projection(random, width, classes)

    def call(self, sequences: Any) -> Any:
        x = op.add(self.first(sequences), self.param("positions"))
        for block in self.blocks:
            x = block(x)
        return self.last(op.mean(self.norm(x), axis=1))


def _projection(random: np.random.RandomState, inputs: int, outputs: int) -> Linear:
    """A layer without a nonlinearity behind it: variance 1 / inputs (LeCun et al. 1998)."""
    weights = random.standard_normal((inputs, outputs)) / np.sqrt(inputs)
    return Linear(weights.astype(np.float32), np.zeros(outputs, np.float32))
