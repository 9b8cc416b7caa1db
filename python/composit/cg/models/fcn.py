"""Fully connected layers, and networks of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from composit._core import value_error
from composit.cg import op
from composit.cg.module import Module
from composit.cg.template import Parameter, Variable
from composit.cg.values import described


class Linear(Module):
    """f(X) = XW + b, for weights (n, p), a bias (p,), and inputs (…, n)."""

    def __init__(self, init_weights: Any, init_bias: Any) -> None:
        weights, bias = np.shape(init_weights), np.shape(init_bias)
        if len(weights) != 2 or bias != (weights[1],):
            raise value_error(
                f"Linear: weights of shape {weights} and a bias of shape {bias}. (n, p) and "
                "(p,) are required."
            )
        super().__init__(
            inputs=(Variable("X"),),
            params=(Parameter("W", init_weights), Parameter("b", init_bias)),
        )
        self._shape = weights

    @property
    def input_dim(self) -> int:
        """n"""
        return self._shape[0]

    @property
    def output_dim(self) -> int:
        """p"""
        return self._shape[1]

    def call(self, X: Any) -> Any:
        shape = X.tensor.shape
        if not shape or shape[-1] != self.input_dim:
            raise value_error(
                f"Linear: input 'X' has shape {tuple(shape)}. Its last axis must have the "
                f"length {self.input_dim}."
            )
        return op.add(op.matmul(X, self.param("W")), self.param("b"))


def linear(random: np.random.RandomState, inputs: int, outputs: int) -> Linear:
    """A layer of random weights, of variance 2 / inputs (He et al. 2015), and no bias."""
    weights = random.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)
    return Linear(weights.astype(np.float32), np.zeros(outputs, np.float32))


class FeedForward(Module):
    """Layers of these widths, from inputs (batch, widths[0]) to scores (batch, widths[-1]), relu
    between them."""

    def __init__(self, widths: Sequence[int], seed: int = 0) -> None:
        super().__init__(inputs=(Variable("x"),))
        if len(widths) < 2:
            raise value_error(
                f"FeedForward: widths is {described(tuple(widths))}. That of the input and at "
                "least one more are required."
            )
        random = np.random.RandomState(seed)
        self.layers = [linear(random, a, b) for a, b in pairwise(widths)]

    def call(self, x: Any) -> Any:
        for layer in self.layers[:-1]:
            x = op.relu(layer(x))
        return self.layers[-1](x)
