"""Kernels of many fields, as people write them, that are measured beside C++ written by hand."""

import math

import numpy as np

from composit import knossos
from composit.knossos import Tensor

# ruff: noqa: F821


@knossos.register
def accelerations(x: "Tensor[float, n, 3]", m: "Tensor[float, n]") -> "Tensor[float, n, 3]":
    """Of bodies that attract each other."""
    a = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                dx = x[j, 0] - x[i, 0]
                dy = x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2]
                factor = m[j] / (dx * dx + dy * dy + dz * dz) ** 1.5
                a[i, 0] += factor * dx
                a[i, 1] += factor * dy
                a[i, 2] += factor * dz
    return a


def normal_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@knossos.register
def portfolio(
    strikes: "Tensor[float, n]", years: "Tensor[float, n]", spot: float, rate: float, sigma: float
) -> float:
    """The value of call options, by Black and Scholes."""
    total = 0.0
    for k, t in zip(strikes, years):
        spread = sigma * math.sqrt(t)
        d1 = (math.log(spot / k) + (rate + 0.5 * sigma**2) * t) / spread
        total += spot * normal_cdf(d1) - k * math.exp(-rate * t) * normal_cdf(d1 - spread)
    return total


@knossos.register
def american_put(
    spot: float, strike: float, rate: float, sigma: float, years: float, steps: int
) -> float:
    """By a tree of Cox, Ross and Rubinstein."""
    dt = years / steps
    up = math.exp(sigma * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    prices = [spot * up ** (k - steps) for k in range(2 * steps + 1)]
    values = [max(strike - prices[2 * j], 0.0) for j in range(steps + 1)]
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            hold = discount * (p * values[j + 1] + (1 - p) * values[j])
            values[j] = max(hold, strike - prices[2 * j + steps - i])
    return values[0]


@knossos.register
def heat(u: "Tensor[float, n, m]", k: "Tensor[float, n, m]", steps: int) -> "Tensor[float, n, m]":
    """In a plate of several materials."""
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                new[i, j] = u[i, j] + k[i, j] * (around - 4 * u[i, j])
        u, new = new, u
    return u


@knossos.register
def fourier(
    re: "Tensor[float, n]", im: "Tensor[float, n]"
) -> "tuple[Tensor[float, n], Tensor[float, n]]":
    """The fast transform of 2^k numbers, by loops."""
    n = len(re)
    a, b = re.copy(), im.copy()
    j = 0
    for i in range(1, n):
        bit = n // 2
        while j >= bit:
            j -= bit
            bit //= 2
        j += bit
        if i < j:
            a[i], a[j] = a[j], a[i]
            b[i], b[j] = b[j], b[i]
    c, s = np.zeros(n // 2), np.zeros(n // 2)
    for k in range(n // 2):
        c[k], s[k] = math.cos(-2 * math.pi * k / n), math.sin(-2 * math.pi * k / n)
    half = 1
    while half < n:
        for i in range(0, n, 2 * half):
            for k in range(half):
                turn = k * (n // 2 // half)
                x = c[turn] * a[i + k + half] - s[turn] * b[i + k + half]
                y = s[turn] * a[i + k + half] + c[turn] * b[i + k + half]
                a[i + k + half] = a[i + k] - x
                b[i + k + half] = b[i + k] - y
                a[i + k] += x
                b[i + k] += y
        half *= 2
    return a, b


@knossos.register
def lambert(x: float) -> float:
    """W(x) of x > 0, by Halley's steps."""
    w = math.log(1.0 + x)
    for _ in range(20):
        e = math.exp(w)
        f = w * e - x
        step = f / (e * (w + 1) - (w + 2) * f / (2 * w + 2))
        w -= step
        if abs(step) < 1e-10 * (1 + abs(w)):
            break
    return w


@knossos.register
def warping(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """The distance of two series by dynamic time warping."""
    n, m = len(x), len(y)
    cost = np.full((n + 1, m + 1), math.inf)
    cost[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            d = x[i] - y[j]
            cost[i + 1, j + 1] = d * d + min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
    return cost[n, m]


@knossos.register
def markov(
    start: "Tensor[float, s]", trans: "Tensor[float, s, s]", emit: "Tensor[float, s, v]",
    seen: "Tensor[int, t]",
) -> float:  # fmt: skip
    """The log likelihood of what a hidden Markov model was seen to emit."""
    alpha = start * emit[:, seen[0]]
    total = 0.0
    for o in seen[1:]:
        scale = np.sum(alpha)
        total += math.log(scale)
        alpha = (alpha / scale) @ trans * emit[:, o]
    return total + math.log(np.sum(alpha))


@knossos.register
def matern(x: "Tensor[float, n, d]", y: "Tensor[float, n]", scale: float) -> float:
    """y @ K @ y, of the covariances by Matern, 5/2."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            squared = 0.0
            for k in range(x.shape[1]):
                squared += (x[i, k] - x[j, k]) ** 2
            r = math.sqrt(5.0 * squared) / scale
            total += 2 * y[i] * y[j] * (1 + r + r * r / 3) * math.exp(-r)
        total += y[i] * y[i]
    return total


@knossos.register
def biquad(
    x: "Tensor[float, n]", b0: float, b1: float, b2: float, a1: float, a2: float
) -> "Tensor[float, n]":
    """A filter of second order."""
    y = np.zeros(len(x))
    x1 = x2 = y1 = y2 = 0.0
    for i in range(len(x)):
        v = b0 * x[i] + b1 * x1 + b2 * x2 - a2 * y2 - a1 * y1
        x2, x1, y2, y1 = x1, x[i], y1, v
        y[i] = v
    return y


@knossos.register
def smoothed(z: "Tensor[float, n]", q: float, r: float) -> "Tensor[float, n]":
    """By Kalman's filter, then by Rauch, Tung and Striebel."""
    n = len(z)
    x, p = np.zeros(n), np.zeros(n)
    mean, variance = z[0], r
    x[0], p[0] = mean, variance
    for k in range(1, n):
        variance = variance + q
        gain = variance / (variance + r)
        mean = mean + gain * (z[k] - mean)
        variance = (1 - gain) * variance
        x[k], p[k] = mean, variance
    y = np.zeros(n)
    y[n - 1] = mean
    for k in range(n - 2, -1, -1):
        y[k] = x[k] + p[k] / (p[k] + q) * (y[k + 1] - x[k])
    return y
