"""Least squares, with gradients: a polynomial close to the sign function, as in GradBench, and a
linear model."""

# ruff: noqa: F821

import numpy as np

from composit import knossos
from composit.knossos import Tensor


@knossos.register
def polynomial(x: "Tensor[float, m]", n: int) -> float:
    """Half the squared distance of the polynomial with coefficients x to the sign function, at n
    places between -1 and 1."""
    total = 0.0
    for i in range(n):
        t = 2.0 * i / (n - 1) - 1.0
        residual = 1.0 if t > 0.0 else (-1.0 if t < 0.0 else 0.0)
        power = 1.0
        for c in x:
            residual -= c * power
            power *= t
        total += residual * residual
    return 0.5 * total


@knossos.register
def linear(a: "Tensor[float, n, m]", x: "Tensor[float, m]", b: "Tensor[float, n]") -> float:
    """The squared length of a @ x - b."""
    residuals = a @ x - b
    return np.sum(residuals * residuals)


if __name__ == "__main__":
    x = np.zeros(4)
    for _ in range(2000):
        x -= 0.01 * polynomial.grad(x, 100)
    print(x, polynomial(x, 100))
