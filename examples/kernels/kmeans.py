"""k-means as Newton's method on its cost, of which the gradient and the Hessian's diagonal come
from derivatives: one of GradBench's problems."""

# ruff: noqa: F821

import math

import numpy as np

from composit import knossos
from composit.knossos import Tensor


@knossos.register
def cost(points: "Tensor[float, n, d]", centres: "Tensor[float, k, d]") -> float:
    """The sum of each point's squared distance to the nearest centre."""
    total = 0.0
    for point in points:
        least = math.inf
        for centre in centres:
            moved = point - centre
            least = min(least, np.sum(moved * moved))
        total += least
    return total


def direction(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradient with respect to the centres, and the diagonal of the Hessian: a centre's
    coordinates meet those of no other, so one product with ones gives it for all."""
    _, gradient = cost.vjp(points, centres, 1.0)
    tangents = np.zeros_like(points), np.ones_like(centres), 0.0
    _, diagonal = cost.vjp.jvp(points, centres, 1.0, *tangents)
    return gradient, diagonal


def moved(points: np.ndarray, centres: np.ndarray, steps: int) -> np.ndarray:
    """The centres after so many steps; one that is nearest to no point stays."""
    for _ in range(steps):
        gradient, diagonal = direction(points, centres)
        centres = centres - gradient / np.where(diagonal == 0.0, 1.0, diagonal)
    return centres


if __name__ == "__main__":
    random = np.random.default_rng(0)
    given = random.normal(size=(300, 2)) / 3 + random.integers(0, 3, size=(300, 1))
    found = moved(given, given[:3], 20)
    print(found, cost(given, found))
