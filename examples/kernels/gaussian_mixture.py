"""A Gaussian mixture model: ADBench's log likelihood, with its gradient.

k Gaussians in d dimensions, each with a weight, a mean and the inverse of its covariance's factor:
the logarithms of the diagonal, then the columns below it. A Wishart distribution is their prior.
"""

# ruff: noqa: F821

import math

import numpy as np

from composit import knossos
from composit.knossos import Tensor


@knossos.register
def gaussian_mixture(
    alphas: "Tensor[float, k]", means: "Tensor[float, k, d]", factors: "Tensor[float, k, l]",
    x: "Tensor[float, n, d]", gamma: float, m: int,
) -> float:  # fmt: skip
    """The log likelihood of points x, without terms that are constant."""
    k, d = means.shape
    sums = np.zeros(k)
    diagonal = np.zeros((k, d))
    prior = 0.0
    for j in range(k):
        squares = 0.0
        for a in range(d):
            sums[j] += factors[j, a]
            diagonal[j, a] = math.exp(factors[j, a])
            squares += diagonal[j, a] ** 2
        for a in range(d, factors.shape[1]):
            squares += factors[j, a] ** 2
        prior += 0.5 * gamma * gamma * squares
    for j in range(k):
        prior = prior - m * sums[j]
    total = 0.0
    for i in range(len(x)):
        terms = np.zeros(k)
        for j in range(k):
            centred = x[i] - means[j]
            moved = diagonal[j] * centred
            for a in range(d):
                column = d + a * d - a * (a + 1) // 2 - a - 1
                for b in range(a + 1, d):
                    moved[b] += factors[j, column + b] * centred[a]
            terms[j] = alphas[j] + sums[j] - 0.5 * np.sum(moved * moved)
        largest = max(terms)
        total += largest + math.log(np.sum(np.exp(terms - largest)))
    largest = max(alphas)
    return total - len(x) * (largest + math.log(np.sum(np.exp(alphas - largest)))) + prior
