"""Kernels as people write them who have not read what kernels may hold: algorithms of graphs, text,
geometry, signals, chemistry, games. Each stands with the arguments that it is called with."""

# ruff: noqa: F821

import math
from typing import NamedTuple

import numpy as np

from composit.knossos import Tensor

random = np.random.default_rng(40)


def shortest_paths(weights: Tensor[float, "n", "n"]) -> float:
    """Floyd and Warshall; the sum of all distances."""
    n = weights.shape[0]
    d = weights.copy()
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return np.sum(d)


def page_rank(links: Tensor[float, "n", "n"], damping: float) -> Tensor[float, "n"]:
    n = len(links)
    out = links.sum(axis=1)
    rank = np.full(n, 1.0 / n)
    for _ in range(30):
        new = np.zeros(n)
        for i in range(n):
            for j in range(n):
                if out[j] > 0:
                    new[i] += links[j, i] / out[j] * rank[j]
        rank = (1 - damping) / n + damping * new
    return rank


def alignment(a: Tensor[int, "n"], b: Tensor[int, "m"], gap: float, mismatch: float) -> float:
    """Needleman and Wunsch's cost."""
    n, m = len(a), len(b)
    cost = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        cost[i, 0] = i * gap
    for j in range(1, m + 1):
        cost[0][j] = j * gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            step = 0.0 if a[i - 1] == b[j - 1] else mismatch
            cost[i, j] = min(cost[i - 1, j - 1] + step, cost[i - 1, j] + gap, cost[i, j - 1] + gap)
    return cost[-1, -1]


def onto_simplex(v: Tensor[float, "n"]) -> Tensor[float, "n"]:
    """The nearest point whose elements are at least 0 and sum to 1."""
    u = np.sort(v)[::-1]
    total, shift = 0.0, 0.0
    for k, value in enumerate(u, start=1):
        total += value
        candidate = (1.0 - total) / k
        if value + candidate > 0:
            shift = candidate
    return np.maximum(v + shift, 0.0)


def spline(x: Tensor[float, "n"], y: Tensor[float, "n"], at: float) -> float:
    """A natural cubic spline, by Thomas's algorithm."""
    n = len(x)
    h = np.diff(x)
    lower, diagonal, upper, right = np.zeros(n), np.ones(n), np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        lower[i] = h[i - 1]
        diagonal[i] = 2 * (h[i - 1] + h[i])
        upper[i] = h[i]
        right[i] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    for i in range(1, n):
        w = lower[i] / diagonal[i - 1]
        diagonal[i] -= w * upper[i - 1]
        right[i] -= w * right[i - 1]
    curvature = np.zeros(n)
    curvature[n - 1] = right[n - 1] / diagonal[n - 1]
    for i in reversed(range(n - 1)):
        curvature[i] = (right[i] - upper[i] * curvature[i + 1]) / diagonal[i]
    k = 0
    while k < n - 2 and at > x[k + 1]:
        k += 1
    a, b = (x[k + 1] - at) / h[k], (at - x[k]) / h[k]
    bend = (a**3 - a) * curvature[k] + (b**3 - b) * curvature[k + 1]
    return a * y[k] + b * y[k + 1] + bend * h[k] ** 2 / 6


class Populations(NamedTuple):
    hares: float
    lynxes: float


def predators(start: Populations, birth: float, catch: float, steps: int) -> Populations:
    """Lotka and Volterra, by Runge and Kutta's method."""

    def slope(p):
        return Populations(p.hares * (birth - catch * p.lynxes), p.lynxes * (catch * p.hares - 0.5))

    def moved(p, by, d):
        return Populations(p.hares + by * d.hares, p.lynxes + by * d.lynxes)

    h, p = 0.05, start
    for _ in range(steps):
        k1 = slope(p)
        k2 = slope(moved(p, h / 2, k1))
        k3 = slope(moved(p, h / 2, k2))
        k4 = slope(moved(p, h, k3))
        hares = (k1.hares + 2 * k2.hares + 2 * k3.hares + k4.hares) / 6
        lynxes = (k1.lynxes + 2 * k2.lynxes + 2 * k3.lynxes + k4.lynxes) / 6
        p = moved(p, h, Populations(hares, lynxes))
    return p


def bezier(points: Tensor[float, "n", 2], t: float) -> Tensor[float, 2]:
    """De Casteljau's algorithm."""
    rest = points.copy()
    for r in range(len(points) - 1, 0, -1):
        for i in range(r):
            rest[i] = (1 - t) * rest[i] + t * rest[i + 1]
    return rest[0]


def median_filtered(x: Tensor[float, "n"]) -> Tensor[float, "n"]:
    y = x.copy()
    for i in range(1, len(x) - 1):
        a, b, c = x[i - 1], x[i], x[i + 1]
        y[i] = max(min(a, b), min(max(a, b), c))
    return y


def lyapunov(r: float, x: float) -> float:
    """The mean logarithm of slopes along the logistic map."""
    total = 0.0
    for i in range(200):
        x = r * x * (1 - x)
        if i >= 50:
            total += math.log(abs(r - 2 * r * x) + 1e-12)
    return total / 150


def slerp(p: Tensor[float, 4], q: Tensor[float, 4], t: float) -> Tensor[float, 4]:
    p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
    cosine = p @ q
    if cosine < 0:
        q, cosine = -q, -cosine
    if cosine > 0.9995:
        made = p + t * (q - p)
        return made / np.linalg.norm(made)
    angle = np.arccos(cosine)
    return (np.sin((1 - t) * angle) * p + np.sin(t * angle) * q) / np.sin(angle)


def vincenty(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """The distance on an ellipsoid, in metres."""
    a, f = 6378137.0, 1 / 298.257223563
    b = (1 - f) * a
    u1, u2 = math.atan((1 - f) * math.tan(lat1)), math.atan((1 - f) * math.tan(lat2))
    span = lon2 - lon1
    lam = span
    sin_s = cos_s = s = cos2_alpha = cos_2m = 0.0
    for _ in range(100):
        sin_s = math.hypot(
            math.cos(u2) * math.sin(lam),
            math.cos(u1) * math.sin(u2) - math.sin(u1) * math.cos(u2) * math.cos(lam),
        )
        if sin_s == 0:
            return 0.0
        cos_s = math.sin(u1) * math.sin(u2) + math.cos(u1) * math.cos(u2) * math.cos(lam)
        s = math.atan2(sin_s, cos_s)
        sin_alpha = math.cos(u1) * math.cos(u2) * math.sin(lam) / sin_s
        cos2_alpha = 1 - sin_alpha**2
        cos_2m = cos_s - 2 * math.sin(u1) * math.sin(u2) / cos2_alpha if cos2_alpha != 0 else 0.0
        c = f / 16 * cos2_alpha * (4 + f * (4 - 3 * cos2_alpha))
        before = lam
        turn = cos_2m + c * cos_s * (-1 + 2 * cos_2m**2)
        lam = span + (1 - c) * f * sin_alpha * (s + c * sin_s * turn)
        if abs(lam - before) < 1e-13:
            break
    square = cos2_alpha * (a**2 - b**2) / b**2
    big_a = 1 + square / 16384 * (4096 + square * (-768 + square * (320 - 175 * square)))
    big_b = square / 1024 * (256 + square * (-128 + square * (74 - 47 * square)))
    correction = big_b * sin_s * (cos_2m + big_b / 4 * cos_s * (-1 + 2 * cos_2m**2))
    return b * big_a * (s - correction)


def lennard_jones(x: Tensor[float, "n", 3], box: float, cutoff: float) -> float:
    """The energy of atoms in a periodic box."""
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            d -= box * np.rint(d / box)
            r2 = np.sum(d**2)
            if r2 > cutoff**2:
                continue
            s6 = (1 / r2) ** 3
            energy += 4 * (s6**2 - s6)
    return energy


def viterbi(start: Tensor[float, "s"], moves: Tensor[float, "s", "s"],
            emissions: Tensor[float, "t", "s"]) -> float:  # fmt: skip
    """The logarithm of the best path's probability."""
    score = start + emissions[0]
    for t in range(1, len(emissions)):
        score = np.max(score[:, None] + moves, axis=0) + emissions[t]
    return np.max(score)


def ratings(games: Tensor[int, "g", 2], scores: Tensor[float, "g"], k: float,
            players: int) -> Tensor[float, "players"]:  # fmt: skip
    """Elo's, after some games."""
    r = np.full(players, 1500.0)
    for (a, b), score in zip(games, scores):
        expected = 1 / (1 + 10 ** ((r[b] - r[a]) / 400))
        change = k * (score - expected)
        r[a] += change
        r[b] -= change
    return r


def sampled(image: Tensor[float, "h", "w"], x: float, y: float) -> float:
    """Bilinear, with the border repeated."""
    h, w = image.shape
    x, y = np.clip(x, 0, w - 1), np.clip(y, 0, h - 1)
    x0, y0 = int(x), int(y)
    x1, y1 = min(x0 + 1, w - 1), min(y0 + 1, h - 1)
    fx, fy = x - x0, y - y0
    top = (1 - fx) * image[y0, x0] + fx * image[y0, x1]
    bottom = (1 - fx) * image[y1, x0] + fx * image[y1, x1]
    return (1 - fy) * top + fy * bottom


def conjugate_gradients(a: Tensor[float, "n", "n"], b: Tensor[float, "n"]) -> Tensor[float, "n"]:
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(len(b)):
        if rs < 1e-30:
            break
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + new / rs * p
        rs = new
    return x


def tree(
    features: Tensor[int, "n"], limits: Tensor[float, "n"], left: Tensor[int, "n"],
    right: Tensor[int, "n"], values: Tensor[float, "n"], x: Tensor[float, "k"],
) -> float:  # fmt: skip
    """A decision tree: nodes without a left one are leaves."""
    node = 0
    while left[node] >= 0:
        node = left[node] if x[features[node]] <= limits[node] else right[node]
    return values[node]


def drawdown(prices: Tensor[float, "n"]) -> float:
    """The largest fall from a peak, relative to it."""
    peak, worst = prices[0], 0.0
    for price in prices[1:]:
        peak = max(peak, price)
        worst = max(worst, (peak - price) / peak)
    return worst


def to_lab(rgb: tuple[float, float, float]) -> tuple[float, float, float]:
    """sRGB to CIE L*a*b*."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    r, g, b = linear
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089

    def f(t):
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116

    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))


def sinkhorn(cost: Tensor[float, "n", "m"], a: Tensor[float, "n"], b: Tensor[float, "m"],
             epsilon: float) -> float:  # fmt: skip
    """The cost of transport, smoothed by entropy."""
    kernel = np.exp(-cost / epsilon)
    u, v = np.ones(len(a)), np.ones(len(b))
    for _ in range(20):
        u = a / (kernel @ v)
        v = b / (kernel.T @ u)
    return np.sum(u[:, None] * kernel * v[None, :] * cost)


def infected(beta: float, gamma: float, days: int) -> Tensor[float, "days"]:
    """A list that grows day by day."""
    s, i = 0.99, 0.01
    history = []
    for _ in range(days):
        new, gone = beta * s * i, gamma * i
        s -= new
        i += new - gone
        history.append(i)
    return np.array(history)


def b_spline(knots: Tensor[float, "k"], i: int, t: float) -> float:
    """The cubic basis function, from the constant ones up."""
    n = np.zeros(4)
    for j in range(4):
        n[j] = 1.0 if knots[i + j] <= t < knots[i + j + 1] else 0.0
    for d in range(1, 4):
        for j in range(4 - d):
            a = (t - knots[i + j]) / (knots[i + j + d] - knots[i + j])
            b = (knots[i + j + d + 1] - t) / (knots[i + j + d + 1] - knots[i + j + 1])
            n[j] = a * n[j] + b * n[j + 1]
    return n[0]


def brent(a: float, b: float, c: float) -> float:
    """Where x ** 3 + c x is 1, between two numbers, by Brent's method."""

    def f(x):
        return x**3 + c * x - 1

    fa, fb = f(a), f(b)
    if abs(fa) < abs(fb):
        a, b, fa, fb = b, a, fb, fa
    old, fo, older, was_halved = a, fa, a, True
    for _ in range(60):
        if fb == 0 or abs(b - a) < 1e-14:
            break
        if fa != fo and fb != fo:
            s = (a * fb * fo / ((fa - fb) * (fa - fo)) + b * fa * fo / ((fb - fa) * (fb - fo))
                 + old * fa * fb / ((fo - fa) * (fo - fb)))  # fmt: skip
        else:
            s = b - fb * (b - a) / (fb - fa)
        far = abs(s - b) >= abs(b - old) / 2 if was_halved else abs(s - b) >= abs(old - older) / 2
        was_halved = not min((3 * a + b) / 4, b) < s < max((3 * a + b) / 4, b) or far
        if was_halved:
            s = (a + b) / 2
        fs = f(s)
        older, old, fo = old, b, fb
        if fa * fs < 0:
            b, fb = s, fs
        else:
            a, fa = s, fs
        if abs(fa) < abs(fb):
            a, b, fa, fb = b, a, fb, fa
    return b


def _positive(*shape):
    return random.uniform(0.5, 2.0, shape)


_spd = _positive(4, 4)
CALLS = {
    shortest_paths: (_positive(5, 5),),
    page_rank: ((random.random((5, 5)) < 0.5).astype(float) + 0.1, 0.85),
    alignment: (np.array([1, 2, 3, 4, 2]), np.array([1, 3, 4, 4]), 1.1, 0.7),
    onto_simplex: (random.standard_normal(6),),
    spline: (np.cumsum(_positive(6)), random.standard_normal(6), 3.3),
    predators: (Populations(1.5, 0.8), 1.1, 0.4, 20),
    bezier: (random.standard_normal((5, 2)), 0.3),
    median_filtered: (random.standard_normal(9),),
    lyapunov: (2.9, 0.4),
    slerp: (random.standard_normal(4), random.standard_normal(4), 0.3),
    vincenty: (0.9, 0.2, 0.7, -1.3),
    lennard_jones: (random.uniform(0, 4, (5, 3)), 4.0, 1.9),
    viterbi: (np.log(_positive(3)), np.log(_positive(3, 3)), np.log(_positive(6, 3))),
    ratings: (np.array([[0, 1], [1, 2], [2, 0], [0, 2]]), np.array([1.0, 0.5, 0.0, 1.0]), 20.0, 3),
    sampled: (random.random((4, 5)), 2.3, 1.6),
    conjugate_gradients: (_spd @ _spd.T + 4 * np.eye(4), random.standard_normal(4)),
    tree: (np.array([0, 1, 0, 0, 0]), np.array([0.5, 0.2, 0.0, 0.0, 0.0]),
           np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1]), _positive(5),
           np.array([0.3, 0.4])),
    drawdown: (_positive(12),),
    to_lab: ((0.5, 0.02, 0.8),),
    sinkhorn: (_positive(4, 3), np.full(4, 0.25), np.full(3, 1 / 3), 0.5),
    infected: (0.4, 0.1, 10),
    b_spline: (np.cumsum(_positive(8)), 1, 4.0),
    brent: (0.0, 2.0, 1.5),
}  # fmt: skip
