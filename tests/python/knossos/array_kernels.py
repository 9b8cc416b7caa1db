"""Kernels with arrays, each with arguments to run it on."""

# ruff: noqa: F821

from __future__ import annotations

import math

import numpy as np

from composit import knossos
from composit.knossos import Tensor


def logsumexp(x: Tensor[float, n]) -> float:
    """The logarithm of a sum of exponentials."""
    m = max(x)
    s = 0.0
    for i in range(len(x)):
        s += math.exp(x[i] - m)
    return m + math.log(s)


def sqrl(x: Tensor[float, n]) -> float:
    """The kernel of knossos' capsule network."""
    y = np.mean(x)
    if y < 0.0:
        t = -0.125 * x
    else:
        t = 1 / 2 * x**2
    return np.mean(np.sin(t) * t)


def affine(a: Tensor[float, n, m], x: Tensor[float, m], b: Tensor[float, n]) -> Tensor[float, n]:
    return np.tanh(a @ x + b)


def recurrence(x: Tensor[float, n], w: float) -> Tensor[float, n]:
    h = np.zeros(len(x))
    h[0] = x[0]
    for i in range(1, len(x)):
        h[i] = math.tanh(w * h[i - 1] + x[i])
    return h


def polynomials(x: Tensor[float, n], a: float, k: int) -> float:
    total = 0.0
    for i in range(len(x)):
        p = 1.0
        for _ in range(k):
            p = p * x[i] + a
        if p > 0.5:
            total += math.log(p)
        elif p < -0.5:
            continue
        else:
            total += p * p
    return total


def roots(x: Tensor[float, n]) -> Tensor[float, n]:
    y = np.zeros(len(x))
    for i in range(len(x)):
        a = x[i] * x[i] + 1.0
        r = a
        k = 0
        while abs(r * r - a) > 1e-14 and k < 60:
            r = 0.5 * (r + a / r)
            k += 1
        y[i] = r
    return y


def convolution(x: Tensor[float, n], w: Tensor[float, k]) -> Tensor[float, n]:
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(w)):
            if i - j >= 0:
                y[i] += w[j] * x[i - j]
    return y


def normalised(x: Tensor[float, n, 3]) -> Tensor[float, n]:
    norms = [math.sqrt(x[i, 0] ** 2 + x[i, 1] ** 2 + x[i, 2] ** 2) for i in range(len(x))]
    largest = max(norms)
    return np.array([v / largest for v in norms])


def two_results(x: Tensor[float, n], s: float) -> tuple[float, Tensor[float, n]]:
    t = s
    for v in x:
        t = t * 0.5 + v * t
    y = x * t
    y = y + x[::1]
    if t > 0.0:
        t = t * t
    return t, y


def early(x: Tensor[float, n], s: float) -> float:
    if s < 0.0:
        return s * x[0]
    t = x[0]
    if s < 1.0:
        t = t * s
        return t * t
    for i in range(len(x) - 1, -1, -1):
        t = t + x[i] * t
        if t > 10.0:
            break
    return t


def strided(x: Tensor[float, n]) -> float:
    t = 1.0
    for i in range(0, len(x), 2):
        t = t * (1.0 + x[i])
    for i in range(len(x) - 1, 0, -3):
        t = math.sin(t) + x[i] * t
    return t


def distances(points: Tensor[float, n, d], centres: Tensor[float, k, d]) -> float:
    """k-means' cost."""
    total = 0.0
    for i in range(len(points)):
        least = math.inf
        for j in range(len(centres)):
            distance = 0.0
            for a in range(points.shape[1]):
                distance += (points[i, a] - centres[j, a]) ** 2
            least = min(least, distance)
        total += least
    return total


def residuals(a: Tensor[float, n, m], x: Tensor[float, m], b: Tensor[float, n]) -> float:
    """Least squares."""
    r = a @ x - b
    return np.sum(r * r)


def guarded(x: Tensor[float, n], k: int) -> float:
    total = 0.0
    for i in range(k):
        total += x[i] if i < len(x) and x[i] > 0.0 else -1.0
    return total + x[-1]


def matrix(a: Tensor[float, n, m]) -> Tensor[float, m]:
    b = a.copy()
    b[0, 1] = a[0, 0] * a[0, 1]
    b[1] = 2.0
    return np.sum(b.T * b.T, axis=1) + b[0]


def sorted_pair(x: Tensor[float, 2]) -> tuple[float, float]:
    low, high = (x[0], x[1]) if x[0] < x[1] else (x[1], x[0])
    return low * low, high / 2.0


def made(k: int, a: float) -> Tensor[float, k]:
    return np.array([a ** (i + 1) for i in range(k)])


def searched(x: Tensor[float, n], s: float) -> tuple[float, Tensor[float, n]]:
    """Returns within loops, with what was computed on the way."""
    t = s
    for i in range(len(x)):
        t = t * x[i] + s
        if t > 1.5:
            return t * t, x * s
        for j in range(i):
            t = t + 0.1 * x[j] * t
            if t < -2.0:
                return t * s * x[j], np.sin(x)
    return t - s, x * t


def settled(x: Tensor[float, n]) -> float:
    """A loop that ends by its return alone."""
    a = np.sum(x * x) + 1.0
    r = a
    while True:
        old = r
        r = 0.5 * (r + a / r)
        if abs(r - old) < 1e-13:
            return r * x[0]


def examples():
    """(kernel, arguments), with every branch of each taken by some."""
    random = np.random.default_rng(0)
    normal = random.normal
    return [
        (logsumexp, [normal(size=7)]),
        (sqrl, [normal(size=5) - 2]),
        (sqrl, [normal(size=5) + 2]),
        (affine, [normal(size=(3, 4)), normal(size=4), normal(size=3)]),
        (recurrence, [normal(size=6), 0.7]),
        (polynomials, [normal(size=9), 0.3, 3]),
        (polynomials, [normal(size=4), 0.3, 0]),
        (roots, [normal(size=6)]),
        (convolution, [normal(size=6), normal(size=3)]),
        (normalised, [normal(size=(5, 3))]),
        (two_results, [normal(size=5), 0.7]),
        (two_results, [normal(size=3), -0.7]),
        (early, [normal(size=5), -0.7]),
        (early, [normal(size=5), 0.7]),
        (early, [abs(normal(size=9)) + 0.5, 1.7]),
        (early, [normal(size=5) / 4, 1.7]),
        (strided, [normal(size=8)]),
        (strided, [normal(size=5)]),
        (distances, [normal(size=(9, 2)), normal(size=(3, 2))]),
        (residuals, [normal(size=(5, 3)), normal(size=3), normal(size=5)]),
        (guarded, [normal(size=5), 8]),
        (matrix, [normal(size=(3, 2))]),
        (searched, [np.array([0.3, 1.2, 0.9]), 0.9]),
        (searched, [np.array([0.3, -0.2, 0.4]), 0.2]),
        (searched, [np.array([2.0, 0.5, 0.7]), -0.8]),
        (settled, [normal(size=3)]),
    ]


kernel_of = knossos.register
