"""Kernels as people write them who have not read the grammar: programs of many fields."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from composit.knossos import Tensor

# ruff: noqa: F821

# ----- robotics


def arm(lengths: "Tensor[float, n]", angles: "Tensor[float, n]") -> "Tensor[float, 2]":
    p = np.zeros(2)
    total = 0.0
    for length, angle in zip(lengths, angles):
        total += angle
        p += length * np.array([np.cos(total), np.sin(total)])
    return p


class Quaternion(NamedTuple):
    w: float
    x: float
    y: float
    z: float


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    return Quaternion(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    )


def rotate(q: Quaternion, v: "Tensor[float, 3]") -> "Tensor[float, 3]":
    n = math.sqrt(sum(c * c for c in q))
    q = Quaternion(*(c / n for c in q))
    r = multiply(multiply(q, Quaternion(0.0, *v)), Quaternion(q.w, -q.x, -q.y, -q.z))
    return np.array([r.x, r.y, r.z])


def skew(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rodrigues(w):
    theta = np.linalg.norm(w)
    if theta < 1e-8:
        return np.eye(3) + skew(w)  # to first order, so that its slope is the function's
    k = skew(w / theta)
    return np.eye(3) + np.sin(theta) * k + (1 - np.cos(theta)) * k @ k


def camera(w: "Tensor[float, 3]", t: "Tensor[float, 3]", p: "Tensor[float, 3]", f: float) -> float:
    q = rodrigues(w) @ p + t
    if q[2] <= 0:
        raise ValueError("the point is behind the camera")
    return f * q[0] / q[2] + f * q[1] / q[2]


# ----- finance


def american_put(
    spot: float, strike: float, rate: float, sigma: float, years: float, steps: int
) -> float:
    dt = years / steps
    up = math.exp(sigma * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    values = [max(strike - spot * up**j * down ** (steps - j), 0.0) for j in range(steps + 1)]
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            hold = math.exp(-rate * dt) * (p * values[j + 1] + (1 - p) * values[j])
            values[j] = max(hold, strike - spot * up**j * down ** (i - j))
    return values[0]


def normal_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def call_price(s: float, k: float, r: float, sigma: float, t: float) -> float:
    d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    return s * normal_cdf(d1) - k * math.exp(-r * t) * normal_cdf(d2)


def newton(f, df, x0, tol=1e-12):
    x = x0
    for _ in range(50):
        step = f(x) / df(x)
        x -= step
        if abs(step) < tol:
            return x
    return x


def irr(flows: "Tensor[float, n]", guess: float = 0.1) -> float:
    def value(r):
        return sum(c / (1 + r) ** k for k, c in enumerate(flows))

    def slope(r):
        return sum(-k * c / (1 + r) ** (k + 1) for k, c in enumerate(flows))

    return newton(value, slope, guess)


# ----- signals


def biquad(x: "Tensor[float, n]", b0: float, b1: float, a1: float) -> "Tensor[float, n]":
    y = np.empty_like(x)
    x1 = y1 = 0.0
    for i, xi in enumerate(x):
        yi = b0 * xi + b1 * x1 - a1 * y1
        x1, y1 = xi, yi
        y[i] = yi
    return y


def walsh(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.copy()
    h = 1
    while h < len(y):
        for i in range(0, len(y), 2 * h):
            for j in range(i, i + h):
                y[j], y[j + h] = y[j] + y[j + h], y[j] - y[j + h]
        h *= 2
    return y


def median_filter(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.copy()
    for i in range(1, len(x) - 1):
        _, middle, _ = sorted(x[i - 1 : i + 2])
        y[i] = middle
    return y


def kalman(z: "Tensor[float, n]", q: float, r: float) -> "Tensor[float, n]":
    x, p = z[0], 1.0
    out = [0.0] * len(z)
    for k, m in enumerate(z):
        p = p + q
        gain = p / (p + r)
        x = x + gain * (m - x)
        p = (1 - gain) * p
        out[k] = x
    return np.array(out)


# ----- geometry and pictures


def inside(px: "Tensor[float, n]", py: "Tensor[float, n]", x: float, y: float) -> bool:
    odd = False
    j = len(px) - 1
    for i in range(len(px)):
        slope = (px[j] - px[i]) / (py[j] - py[i]) if py[j] != py[i] else 0.0
        if (py[i] > y) != (py[j] > y) and x < slope * (y - py[i]) + px[i]:
            odd = not odd
        j = i
    return odd


@dataclass
class Ray:
    origin: "Tensor[float, 3]"
    direction: "Tensor[float, 3]"


def hit(ray: Ray, center: "Tensor[float, 3]", radius: float) -> float:
    oc = ray.origin - center
    a = ray.direction @ ray.direction
    half = oc @ ray.direction
    c = oc @ oc - radius * radius
    inner = half * half - a * c
    if inner < 0:
        return float("inf")
    t = (-half - math.sqrt(inner)) / a
    return t if t > 1e-3 else (-half + math.sqrt(inner)) / a


def triangle(a: "Tensor[float, 3]", b: "Tensor[float, 3]", c: "Tensor[float, 3]") -> float:
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a))


# ----- games


def life(board: "Tensor[int, h, w]") -> "Tensor[int, h, w]":
    h, w = board.shape
    new = np.zeros((h, w), dtype=int)
    for i in range(h):
        for j in range(w):
            alive = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di == 0 and dj == 0:
                        continue
                    alive += board[(i + di) % h, (j + dj) % w]
            if alive == 3 or (board[i, j] == 1 and alive == 2):
                new[i, j] = 1
    return new


def update(r, winner, loser, k):
    expected = 1 / (1 + 10 ** ((r[loser] - r[winner]) / 400))
    r[winner] += k * (1 - expected)
    r[loser] -= k * (1 - expected)


def elo(
    ratings: "Tensor[float, n]", winners: "Tensor[int, m]", losers: "Tensor[int, m]", k: float
) -> "Tensor[float, n]":
    ratings = ratings.copy()
    for winner, loser in zip(winners, losers):
        update(ratings, winner, loser, k)
    return ratings


# ----- chemistry and physics


def rates(c, k1, k2):
    a, b, _ = c
    return np.array([-k1 * a, k1 * a - k2 * b, k2 * b])


def kinetics(c0: "Tensor[float, 3]", k1: float, k2: float, dt: float, n: int) -> "Tensor[float, 3]":
    c = c0
    for _ in range(n):
        s1 = rates(c, k1, k2)
        s2 = rates(c + dt * s1, k1, k2)
        c = c + dt / 2 * (s1 + s2)
    return c


def heat(u: "Tensor[float, n]", alpha: float, steps: int) -> "Tensor[float, n]":
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        new[1:-1] = u[1:-1] + alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, new = new, u
    return u


def kepler(m: float, e: float, tol: float = 1e-12) -> float:
    anomaly = m if e < 0.8 else math.pi
    while True:
        delta = (anomaly - e * math.sin(anomaly) - m) / (1 - e * math.cos(anomaly))
        anomaly -= delta
        if abs(delta) < tol:
            break
    return anomaly


# ----- graphs


def shortest(w: "Tensor[float, n, n]") -> "Tensor[float, n, n]":
    d = w.copy()
    for k in range(len(d)):
        for i in range(len(d)):
            for j in range(len(d)):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def pagerank(
    source: "Tensor[int, m]", target: "Tensor[int, m]", n: int, damping: float
) -> "Tensor[float, n]":
    degree = np.zeros(n)
    for s in source:
        degree[s] += 1
    rank = np.ones(n) / n
    for _ in range(20):
        new = np.full(n, (1 - damping) / n)
        for s, t in zip(source, target):
            new[t] += damping * rank[s] / degree[s]
        rank = new
    return rank


def components(a: "Tensor[int, m]", b: "Tensor[int, m]", n: int) -> int:
    parent = np.arange(n)

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    count = n
    for x, y in zip(a, b):
        rx, ry = find(x), find(y)
        if rx != ry:
            parent[rx] = ry
            count -= 1
    return count


def steps_from(near: "Tensor[bool, n, n]", start: int) -> "Tensor[int, n]":
    n = len(near)
    distance = np.full(n, -1)
    queue = [0] * n
    head, tail = 0, 1
    queue[0] = start
    distance[start] = 0
    while head < tail:
        u = queue[head]
        head += 1
        for v in range(n):
            if near[u, v] and distance[v] < 0:
                distance[v] = distance[u] + 1
                queue[tail] = v
                tail += 1
    return distance


def knapsack(weights: "Tensor[int, n]", values: "Tensor[float, n]", capacity: int) -> float:
    best = np.zeros(capacity + 1)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[capacity]


# ----- texts and integers


def vowels(text: "Tensor[int, n]") -> int:
    return sum(1 for c in text if c in (97, 101, 105, 111, 117))


def edit_distance(a: "Tensor[int, n]", b: "Tensor[int, m]") -> int:
    previous = np.arange(len(b) + 1)
    for i, ca in enumerate(a):
        current = np.zeros(len(b) + 1, dtype=int)
        current[0] = i + 1
        for j, cb in enumerate(b):
            cost = 0 if ca == cb else 1
            current[j + 1] = min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost)
        previous = current
    return previous[-1]


def rolling_hash(text: "Tensor[int, n]", base: int, modulus: int) -> int:
    h = 0
    for c in text:
        h = (h * base + c) % modulus
    return h


def count_primes(n: int) -> int:
    sieve = [True] * (n + 1)
    count = 0
    for i in range(2, n + 1):
        if sieve[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                sieve[j] = False
    return count


# ----- statistics


def product_by_lists(a: "Tensor[float, n, k]", b: "Tensor[float, k, m]") -> "Tensor[float, n, m]":
    c = [[0.0] * b.shape[1] for _ in range(a.shape[0])]
    for i in range(len(a)):
        for j in range(len(b[0])):
            for k in range(len(b)):
                c[i][j] += a[i][k] * b[k][j]
    return np.array(c)


def losses(x: "Tensor[float, n]", most: float) -> float:
    if any(v < -most for v in x) and not all(v < most for v in x):
        return 0.0
    return sum(v * v for v in x if v < 0.0)


def gaussian(x: "Tensor[float, n]", m: "Tensor[float, n]", s: "Tensor[float, n, n]") -> float:
    d = x - m
    return -0.5 * d @ np.linalg.solve(s, d) - 0.5 * math.log(np.linalg.det(s))


def viterbi(
    start: "Tensor[float, s]", trans: "Tensor[float, s, s]", emit: "Tensor[float, s, v]",
    seen: "Tensor[int, t]",
) -> float:  # fmt: skip
    score = start + emit[:, seen[0]]
    for o in seen[1:]:
        score = np.max(score[:, None] + trans, axis=0) + emit[:, o]
    return np.max(score)


def bernoulli(n: int, k: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def interpolate(x: "Tensor[float, n]", y: "Tensor[float, n]", t: float) -> float:
    for i in range(len(x) - 1):
        if t <= x[i + 1]:
            w = (t - x[i]) / (x[i + 1] - x[i])
            return (1 - w) * y[i] + w * y[i + 1]
    return y[-1]


def two_places(x: "Tensor[float, n]", y: "Tensor[float, n]", t: float) -> float:
    return interpolate(x, y, t) * interpolate(x, y, 2 * t)


class Layer(NamedTuple):
    weight: "Tensor[float, n, m]"
    bias: "Tensor[float, n]"


def applied(layer, x):
    return np.tanh(layer.weight @ x + layer.bias)


def network(first: Layer, second: Layer, x: "Tensor[float, k]") -> float:
    return np.sum(applied(second, applied(first, x)))


def clipped_step(x: "Tensor[float, n]", g: "Tensor[float, n]", most: float) -> "Tensor[float, n]":
    size = np.linalg.norm(g)
    step = g if size <= most else g * (most / size)
    return x - step


def calls():
    """(function, arguments) of each."""
    random = np.random.default_rng(0)

    def r(*shape):
        return random.normal(size=shape)

    edges = (np.array([0, 0, 1, 2, 3, 3]), np.array([1, 2, 2, 0, 0, 1]))
    ways = np.abs(r(5, 5)) + 0.1
    positive = r(3, 3) + 4 * np.eye(3)
    square = np.array([0.0, 1.0, 1.0, 0.0])
    return [
        (arm, (np.abs(r(4)), r(4))), (rotate, (Quaternion(*r(4)), r(3))),
        (camera, (r(3), np.array([0.1, 0.2, 9.0]), r(3), 1.5)),
        (camera, (np.zeros(3), np.array([0.1, 0.2, 9.0]), r(3), 1.5)),
        (american_put, (100.0, 105.0, 0.03, 0.2, 1.0, 6)),
        (call_price, (100.0, 95.0, 0.02, 0.25, 0.7)), (irr, (np.array([-9.0, 4.0, 5.0, 3.0]),)),
        (biquad, (r(9), 0.2, 0.3, -0.5)), (walsh, (r(8),)), (median_filter, (r(8),)),
        (kalman, (r(8), 0.1, 0.5)), (inside, (square, square[[0, 0, 1, 1]] * 1.0, 0.5, 0.4)),
        (hit, (Ray(np.array([0.0, 0.0, -5.0]), np.array([0.01, 0.02, 1.0])), np.zeros(3), 1.0)),
        (triangle, (r(3), r(3), r(3))), (life, ((r(6, 6) > 0).astype(int),)),
        (elo, (1500 + 30 * r(4), np.array([0, 2, 1]), np.array([1, 0, 3]), 20.0)),
        (kinetics, (np.array([1.0, 0.2, 0.0]), 0.7, 0.3, 0.1, 5)), (heat, (r(7), 0.2, 5)),
        (kepler, (1.0, 0.3)), (shortest, (ways,)), (pagerank, (*edges, 4, 0.85)),
        (edit_distance, (np.array([1, 2, 3, 4]), np.array([2, 3, 3, 5, 4]))),
        (rolling_hash, (np.array([5, 7, 11, 13]), 131, 1000003)), (count_primes, (50,)),
        (gaussian, (r(3), r(3), positive @ positive.T)),
        (viterbi, (r(3), r(3, 3), r(3, 4), np.array([0, 2, 3, 1]))), (bernoulli, (8, 3, 0.4)),
        (two_places, (np.arange(5.0), r(5), 0.7)),
        (network, (Layer(r(4, 3), r(4)), Layer(r(2, 4), r(2)), r(3))),
        (components, (np.array([0, 2, 1]), np.array([1, 3, 2]), 6)),
        (steps_from, (r(5, 5) > 0, 0)), (vowels, (np.array([97, 98, 101]),)),
        (knapsack, (np.array([2, 3, 4]), np.array([3.0, 4.0, 5.5]), 6)),
        (product_by_lists, (r(2, 3), r(3, 2))), (losses, (r(6), 5.0)),
        (clipped_step, (r(4), r(4), 0.5)), (clipped_step, (r(4), r(4), 50.0)),
    ]  # fmt: skip
