"""The logarithm of a sum of exponentials, with its gradient: one of GradBench's problems."""

# ruff: noqa: F821

import math

import numpy as np

from composit import knossos
from composit.knossos import Tensor


@knossos.register
def logsumexp(x: "Tensor[float, n]") -> float:
    """log(sum(exp(x))), which overflows nowhere."""
    largest = max(x)
    return largest + math.log(np.sum(np.exp(x - largest)))


if __name__ == "__main__":
    x = np.random.default_rng(0).normal(size=10)
    print(logsumexp(x), logsumexp.grad(x))
