"""Kernels of many sciences as people write them who have not read what kernels may hold: sequences,
differential equations, optics, finance, games, statistics. Each stands with its arguments."""

# ruff: noqa: F821

import math
from typing import NamedTuple

import numpy as np

from composit.knossos import Tensor

random = np.random.default_rng(73)


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def crf(emissions: Tensor[float, "t", "k"], moves: Tensor[float, "k", "k"],
        tags: Tensor[int, "t"]) -> float:  # fmt: skip
    """The negative log likelihood of tags under a conditional random field."""
    steps, k = emissions.shape
    alpha = emissions[0]
    score = emissions[0, tags[0]]
    for t in range(1, steps):
        new = np.zeros(k)
        for j in range(k):
            new[j] = logsumexp(alpha + moves[:, j]) + emissions[t, j]
        alpha = new
        score += moves[tags[t - 1], tags[t]] + emissions[t, tags[t]]
    return logsumexp(alpha) - score


def van_der_pol(t, y, mu):
    return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])


def dormand_prince(y0: Tensor[float, 2], mu: float, t_end: float, tol: float) -> Tensor[float, 2]:
    """Van der Pol's oscillator, with steps that adapt."""
    t, h, y = 0.0, 0.1, y0
    while t < t_end:
        h = min(h, t_end - t)
        k1 = van_der_pol(t, y, mu)
        k2 = van_der_pol(t + h / 5, y + h * k1 / 5, mu)
        k3 = van_der_pol(t + 3 * h / 10, y + h * (3 * k1 / 40 + 9 * k2 / 40), mu)
        k4 = van_der_pol(t + 4 * h / 5, y + h * (44 * k1 / 45 - 56 * k2 / 15 + 32 * k3 / 9), mu)
        k5 = van_der_pol(
            t + 8 * h / 9,
            y + h * (19372 * k1 / 6561 - 25360 * k2 / 2187 + 64448 * k3 / 6561 - 212 * k4 / 729),
            mu,
        )
        k6 = van_der_pol(
            t + h,
            y + h * (9017 * k1 / 3168 - 355 * k2 / 33 + 46732 * k3 / 5247 + 49 * k4 / 176
                     - 5103 * k5 / 18656),
            mu,
        )  # fmt: skip
        new = y + h * (35 * k1 / 384 + 500 * k3 / 1113 + 125 * k4 / 192 - 2187 * k5 / 6784
                       + 11 * k6 / 84)  # fmt: skip
        k7 = van_der_pol(t + h, new, mu)
        error = h * (71 * k1 / 57600 - 71 * k3 / 16695 + 71 * k4 / 1920 - 17253 * k5 / 339200
                     + 22 * k6 / 525 - k7 / 40)  # fmt: skip
        norm = np.max(np.abs(error)) / tol
        if norm <= 1:
            t += h
            y = new
        h *= min(5.0, max(0.2, 0.9 * (norm + 1e-10) ** -0.2))
    return y


def bounces(height: float, restitution: float, g: float, dt: float, steps: int) -> float:
    """A ball that falls on a floor: its height in the end."""
    y, v = height, 0.0
    for _ in range(steps):
        v -= g * dt
        y += v * dt
        if y < 0:
            # back to when it touched the floor
            back = y / v
            y, v = 0.0, v - g * back
            v = -restitution * v
            y += v * back
    return y


def lu_solve(a: Tensor[float, "n", "n"], b: Tensor[float, "n"]) -> Tensor[float, "n"]:
    """With partial pivoting."""
    n = len(b)
    lu, x = a.copy(), b.copy()
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[p, k]):
                p = i
        if p != k:
            for j in range(n):
                lu[k, j], lu[p, j] = lu[p, j], lu[k, j]
            x[k], x[p] = x[p], x[k]
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
            x[i] -= lu[i, k] * x[k]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for j in range(i + 1, n):
            s -= lu[i, j] * x[j]
        x[i] = s / lu[i, i]
    return x


def householder(a: Tensor[float, "m", "n"], b: Tensor[float, "m"]) -> Tensor[float, "n"]:
    """Least squares by QR."""
    n = a.shape[1]
    r, y = a.copy(), b.copy()
    for k in range(n):
        v = r[k:, k].copy()
        v[0] += math.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        r[k:, k:] -= 2 * np.outer(v, v @ r[k:, k:])
        y[k:] -= 2 * v * (v @ y[k:])
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (y[i] - r[i, i + 1 : n] @ x[i + 1 : n]) / r[i, i]
    return x


def lambda_rank(scores: Tensor[float, "n"], relevance: Tensor[int, "n"]) -> float:
    """A loss of ranking: pairs are weighted by how much their exchange changes the gain."""
    n = len(scores)
    order = np.argsort(-scores)
    rank = np.zeros(n, dtype=int)
    for place in range(n):
        rank[order[place]] = place
    loss = 0.0
    for i in range(n):
        for j in range(n):
            if relevance[i] > relevance[j]:
                gain = 2.0 ** relevance[i] - 2.0 ** relevance[j]
                discount = 1 / math.log2(rank[i] + 2) - 1 / math.log2(rank[j] + 2)
                loss += abs(gain * discount) * math.log1p(math.exp(scores[j] - scores[i]))
    return loss


def run_lengths(codes: Tensor[int, "n"]) -> Tensor[int, "n", 2]:
    """Runs of equal codes: the code, and how often; (-1, 0) behind the last."""
    out = np.full((len(codes), 2), -1)
    out[:, 1] = 0
    count = 0
    for i, code in enumerate(codes):
        if i > 0 and code == codes[i - 1]:
            out[count - 1, 1] += 1
        else:
            out[count] = [code, 1]
            count += 1
    return out


class Sphere(NamedTuple):
    center: Tensor[float, 3]
    radius: float
    shine: float


def hits(origin, direction, sphere):
    """How far the sphere is, or -1."""
    offset = origin - sphere.center
    b = offset @ direction
    c = offset @ offset - sphere.radius**2
    root = b * b - c
    if root < 0:
        return -1.0
    t = -b - math.sqrt(root)
    return t if t > 1e-6 else -1.0


def traced(a: Sphere, b: Sphere, origin: Tensor[float, 3], direction: Tensor[float, 3],
           light: Tensor[float, 3]) -> float:  # fmt: skip
    """The brightness that a ray finds, with up to three reflections."""
    d = direction / np.linalg.norm(direction)
    o = origin
    brightness, weight = 0.0, 1.0
    for _ in range(3):
        ta, tb = hits(o, d, a), hits(o, d, b)
        if ta < 0 and tb < 0:
            brightness += weight * 0.1 * max(d[2], 0.0)
            break
        first = ta > 0 and (tb < 0 or ta < tb)
        t = ta if first else tb
        point = o + t * d
        if first:
            normal = (point - a.center) / a.radius
            shine = a.shine
        else:
            normal = (point - b.center) / b.radius
            shine = b.shine
        to_light = light - point
        to_light = to_light / np.linalg.norm(to_light)
        brightness += weight * (1 - shine) * max(0.0, float(np.dot(normal, to_light)))
        weight *= shine
        d = d - 2 * np.dot(d, normal) * normal
        o = point
    return brightness


def ising(spins: Tensor[int, "n", "m"], coupling: float, field: float, beta: float, steps: int,
          seed: int) -> float:  # fmt: skip
    """The energy after single flips by Metropolis, of a linear congruential generator."""
    n, m = spins.shape
    s = spins.copy()
    state = seed
    energy = 0.0
    for i in range(n):
        for j in range(m):
            energy -= coupling * s[i, j] * (s[(i + 1) % n, j] + s[i, (j + 1) % m])
            energy -= field * s[i, j]
    for _ in range(steps):
        state = (1103515245 * state + 12345) % 2**31
        i = state % n
        state = (1103515245 * state + 12345) % 2**31
        j = state % m
        around = s[i - 1, j] + s[(i + 1) % n, j] + s[i, j - 1] + s[i, (j + 1) % m]
        change = 2 * s[i, j] * (coupling * around + field)
        state = (1103515245 * state + 12345) % 2**31
        if change <= 0 or state / 2**31 < math.exp(-beta * change):
            s[i, j] = -s[i, j]
            energy += change
    return energy


def kmeans_step(points: Tensor[float, "n", "d"],
                centers: Tensor[float, "k", "d"]) -> Tensor[float, "k", "d"]:  # fmt: skip
    """The means of the points that are nearest to each centre."""
    sums = np.zeros_like(centers)
    counts = np.zeros(len(centers), dtype=int)
    for p in points:
        nearest = np.argmin(np.sum((centers - p) ** 2, axis=1))
        sums[nearest] += p
        counts[nearest] += 1
    for k in range(len(centers)):
        if counts[k] > 0:
            sums[k] /= counts[k]
        else:
            sums[k] = centers[k]
    return sums


def beam_search(log_p: Tensor[float, "v", "v"], length: int, width: int) -> float:
    """The best score of a sequence, of those that a beam keeps."""
    v = len(log_p)
    scores = np.full(width, -np.inf)
    last = np.zeros(width, dtype=int)
    scores[0] = 0.0
    for _ in range(length):
        candidates = np.zeros(width * v)
        for b in range(width):
            for w in range(v):
                candidates[b * v + w] = scores[b] + log_p[last[b], w]
        order = np.argsort(-candidates)
        for b in range(width):
            scores[b] = candidates[order[b]]
            last[b] = order[b] % v
    return max(scores)


def rate(x, y):
    """x / (exp(x / y) - 1), with its limit at 0."""
    return y * (1 - x / y / 2) if abs(x / y) < 1e-6 else x / (math.exp(x / y) - 1)


def hodgkin_huxley(current: float, g_na: float, g_k: float, g_l: float, dt: float,
                   steps: int) -> float:  # fmt: skip
    """A membrane's voltage after a while."""
    v, m, h, n = -65.0, 0.05, 0.6, 0.32
    for _ in range(steps):
        am, bm = 0.1 * rate(-(v + 40), 10), 4 * math.exp(-(v + 65) / 18)
        ah, bh = 0.07 * math.exp(-(v + 65) / 20), 1 / (1 + math.exp(-(v + 35) / 10))
        an, bn = 0.01 * rate(-(v + 55), 10), 0.125 * math.exp(-(v + 65) / 80)
        m += dt * (am * (1 - m) - bm * m)
        h += dt * (ah * (1 - h) - bh * h)
        n += dt * (an * (1 - n) - bn * n)
        total = g_na * m**3 * h * (v - 50) + g_k * n**4 * (v + 77) + g_l * (v + 54.4)
        v += dt * (current - total)
    return v


def ransac(x: Tensor[float, "n"], y: Tensor[float, "n"], threshold: float, tries: int,
           seed: int) -> tuple[float, float]:  # fmt: skip
    """The line through two points that most others are near to, fitted to these."""
    n = len(x)
    state, best, best_slope, best_intercept = seed, -1, 0.0, 0.0
    for _ in range(tries):
        state = (state * 48271) % 2147483647
        i = state % n
        state = (state * 48271) % 2147483647
        j = state % n
        if i == j or x[i] == x[j]:
            continue
        slope = (y[j] - y[i]) / (x[j] - x[i])
        intercept = y[i] - slope * x[i]
        near = np.sum(np.abs(y - slope * x - intercept) < threshold)
        if near > best:
            best, best_slope, best_intercept = near, slope, intercept
    inside = np.abs(y - best_slope * x - best_intercept) < threshold
    w = inside.astype(float)
    mx, my = np.sum(w * x) / np.sum(w), np.sum(w * y) / np.sum(w)
    slope = np.sum(w * (x - mx) * (y - my)) / np.sum(w * (x - mx) ** 2)
    return slope, my - slope * mx


def curve_length(p: Tensor[float, 4, 2], depth: int) -> float:
    """A cubic Bézier curve, halved until its pieces are lines: by a stack of pieces."""
    pieces = np.zeros((int(2.0**depth), 4, 2))
    pieces[0] = p
    count = 1
    for _ in range(depth):
        for k in range(count - 1, -1, -1):
            a, b, c, d = pieces[k].copy()
            ab, bc, cd = (a + b) / 2, (b + c) / 2, (c + d) / 2
            abc, bcd = (ab + bc) / 2, (bc + cd) / 2
            middle = (abc + bcd) / 2
            pieces[2 * k] = np.array([a, ab, abc, middle])
            pieces[2 * k + 1] = np.array([middle, bcd, cd, d])
        count *= 2
    return sum(np.linalg.norm(piece[3] - piece[0]) for piece in pieces)


def levenberg(t: Tensor[float, "n"], y: Tensor[float, "n"], a: float,
              b: float) -> tuple[float, float]:  # fmt: skip
    """a exp(-b t), fitted by Levenberg and Marquardt."""
    damping = 1e-2
    cost = np.sum((a * np.exp(-b * t) - y) ** 2)
    for _ in range(15):
        e = np.exp(-b * t)
        r = a * e - y
        ja, jb = e, -a * t * e
        h11, h12, h22 = ja @ ja + damping, ja @ jb, jb @ jb + damping
        g1, g2 = ja @ r, jb @ r
        det = h11 * h22 - h12 * h12
        new_a = a - (h22 * g1 - h12 * g2) / det
        new_b = b - (h11 * g2 - h12 * g1) / det
        new_cost = np.sum((new_a * np.exp(-new_b * t) - y) ** 2)
        if new_cost < cost:
            a, b, cost = new_a, new_b, new_cost
            damping /= 3
        else:
            damping *= 2
    return a, b


CALLS = {
    crf: (random.normal(size=(5, 3)), random.normal(size=(3, 3)), np.array([0, 2, 1, 1, 0])),
    dormand_prince: (np.array([1.2, -0.4]), 1.5, 1.3, 1e-3),
    bounces: (1.3, 0.8, 9.81, 0.01, 120),
    lu_solve: (random.normal(size=(4, 4)), random.normal(size=4)),
    householder: (random.normal(size=(5, 3)), random.normal(size=5)),
    lambda_rank: (random.normal(size=5), np.array([2, 0, 1, 0, 3])),
    run_lengths: (np.array([4, 4, 1, 1, 1, 7, 4]),),
    traced: (Sphere(np.array([0.0, 0.0, 5.0]), 1.0, 0.4),
             Sphere(np.array([1.5, 0.3, 3.0]), 0.8, 0.3), np.zeros(3), np.array([0.2, 0.05, 1.0]),
             np.array([3.0, 4.0, -2.0])),
    ising: (np.where(random.uniform(size=(4, 5)) < 0.5, -1, 1), 0.8, 0.1, 0.5, 12, 3),
    kmeans_step: (random.normal(size=(9, 2)), random.normal(size=(3, 2))),
    beam_search: (np.log(random.dirichlet(np.ones(4), 4)), 3, 2),
    hodgkin_huxley: (9.0, 120.0, 36.0, 0.3, 0.01, 60),
    ransac: (np.arange(8.0), 0.7 * np.arange(8.0) + random.normal(size=8) * np.array(
        [0.01, 0.01, 3, 0.01, 0.01, 3, 0.01, 0.01]), 0.2, 12, 17),
    curve_length: (random.normal(size=(4, 2)), 3),
    levenberg: (np.linspace(0.0, 2.0, 7), 2.0 * np.exp(-1.3 * np.linspace(0.0, 2.0, 7)) + 0.05,
                1.0, 0.5),
}  # fmt: skip
