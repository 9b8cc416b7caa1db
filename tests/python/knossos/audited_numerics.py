"""Kernels of numerical mathematics, physics and finance as people write them who have not read what
kernels may hold. Each stands with the arguments that it is called with."""

# ruff: noqa: F821

import math
from typing import NamedTuple

import numpy as np

from composit.knossos import Tensor

random = np.random.default_rng(59)


def log_likelihood(k: Tensor[float, "n", "n"], y: Tensor[float, "n"]) -> float:
    """Of a Gaussian process, by Cholesky's factors."""
    n = len(y)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = k[i, j] - low[i, :j] @ low[j, :j]
            if i == j:
                low[i, i] = math.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    z = np.zeros_like(y)
    for i in range(n):
        z[i] = (y[i] - np.dot(low[i, :i], z[:i])) / low[i, i]
    return -0.5 * np.sum(z**2) - np.sum(np.log(np.diag(low))) - 0.5 * n * math.log(2 * math.pi)


def levinson(r: Tensor[float, "n"]) -> Tensor[float, "n"]:
    """The coefficients of linear prediction, of autocorrelations (Levinson and Durbin)."""
    n = len(r)
    a = np.zeros(n)
    a[0] = 1.0
    error = r[0]
    for i in range(1, n):
        acc = r[i]
        for j in range(1, i):
            acc += a[j] * r[i - j]
        k = -acc / error
        previous = a.copy()
        for j in range(1, i):
            a[j] = previous[j] + k * previous[i - j]
        a[i] = k
        error *= 1 - k * k
    return a


def crank_nicolson(u: Tensor[float, "n"], nu: float, dt: float, steps: int) -> Tensor[float, "n"]:
    n = len(u)
    h = 1.0 / (n - 1)
    r = nu * dt / (2 * h**2)
    u = u.copy()
    for _ in range(steps):
        d = u.copy()
        d[1:-1] = r * u[:-2] + (1 - 2 * r) * u[1:-1] + r * u[2:]
        c = np.zeros(n)
        for i in range(1, n - 1):
            m = 1 + 2 * r + r * c[i - 1]
            c[i] = -r / m
            d[i] = (d[i] + r * d[i - 1]) / m
        for i in range(n - 2, 0, -1):
            d[i] -= c[i] * d[i + 1]
        u = d
    return u


def pendulum(
    theta1: float, theta2: float, length: float, dt: float, steps: int
) -> tuple[float, float]:
    """A double pendulum, by Runge and Kutta."""
    g = 9.81

    def f(s):
        a, b, u, v = s
        d = a - b
        den = 3 - math.cos(2 * d)
        du = (
            -3 * g * math.sin(a)
            - g * math.sin(a - 2 * b)
            - 2 * math.sin(d) * length * (v**2 + u**2 * math.cos(d))
        ) / (length * den)
        dv = (
            2
            * math.sin(d)
            * (2 * u**2 * length + 2 * g * math.cos(a) + v**2 * length * math.cos(d))
            / (length * den)
        )
        return np.array([u, v, du, dv])

    s = np.array([theta1, theta2, 0.0, 0.0])
    for _ in range(steps):
        k1 = f(s)
        k2 = f(s + dt / 2 * k1)
        k3 = f(s + dt / 2 * k2)
        k4 = f(s + dt * k3)
        s += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return s[0], s[1]


def simpson(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += (4 if i % 2 else 2) * f(a + i * h)
    return total * h / 3


def arc_length(a: float, b: float, width: float) -> float:
    return simpson(
        lambda t: math.sqrt((a * math.sin(t)) ** 2 + (b * math.cos(t)) ** 2), 0.0, width, 20
    )


def cross_entropy(logits: Tensor[float, "n", "c"], labels: Tensor[int, "n"]) -> float:
    loss = 0.0
    for row, label in zip(logits, labels):
        m = row.max()
        loss += m + np.log(np.exp(row - m).sum()) - row[label]
    return loss / len(labels)


def crc(data: Tensor[int, "n"]) -> int:
    c = 0xFFFFFFFF
    for byte in data:
        c ^= byte
        for _ in range(8):
            if c & 1:
                c = (c >> 1) ^ 0xEDB88320
            else:
                c >>= 1
    return c ^ 0xFFFFFFFF


def horner(coefficients: Tensor[float, "n"], re: float, im: float) -> float:
    """The magnitude of a polynomial at a complex number."""
    x, y = 0.0, 0.0
    for c in coefficients[::-1]:
        x, y = x * re - y * im + c, x * im + y * re
    return math.hypot(x, y)


def norm_cdf(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


def black76(
    forward: float, strike: float, vol: float, t: float, rate: float, is_call: bool
) -> float:
    std = vol * t**0.5
    d1 = math.log(forward / strike) / std + std / 2
    d2 = d1 - std
    sign = 1 if is_call else -1
    return (
        math.exp(-rate * t) * sign * (forward * norm_cdf(sign * d1) - strike * norm_cdf(sign * d2))
    )


def implied_vol(price: float, s: float, k: float, t: float, r: float) -> float:
    vol = 0.2
    for _ in range(100):
        d1 = (math.log(s / k) + (r + vol * vol / 2) * t) / (vol * math.sqrt(t))
        d2 = d1 - vol * math.sqrt(t)
        diff = s * norm_cdf(d1) - k * math.exp(-r * t) * norm_cdf(d2) - price
        if abs(diff) < 1e-10:
            break
        vega = s * math.sqrt(t) * math.exp(-0.5 * d1**2) / math.sqrt(2 * math.pi)
        vol -= diff / vega
    else:
        raise ValueError("Newton does not converge")
    return vol


def sobel(image: Tensor[float, "h", "w"]) -> Tensor[float, "h", "w"]:
    h, w = image.shape
    kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    ky = kx.T
    out = np.zeros((h, w))
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            window = image[i - 1 : i + 2, j - 1 : j + 2]
            gx = (window * kx).sum()
            gy = np.sum(window * ky)
            out[i, j] = np.sqrt(gx**2 + gy**2)
    return out


def bisection(c: float, low: float, high: float) -> float:
    """Where exp(-x) = c x."""

    def f(x):
        return math.exp(-x) - c * x

    assert f(low) * f(high) < 0, "no change of sign"
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def legendre_nodes(n):
    nodes, weights = np.zeros(n), np.zeros(n)
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        while True:
            p0, p1 = 1.0, x
            for k in range(2, n + 1):
                p0, p1 = p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k
            dp = n * (x * p1 - p0) / (x * x - 1)
            dx = p1 / dp
            x -= dx
            if abs(dx) < 1e-14:
                break
        nodes[i] = x
        weights[i] = 2 / ((1 - x * x) * dp**2)
    return nodes, weights


def quadrature(a: float, b: float, c: float) -> float:
    x, w = legendre_nodes(8)
    half, middle = (b - a) / 2, (a + b) / 2
    return half * sum(wi * math.exp(-c * (middle + half * xi) ** 2) for xi, wi in zip(x, w))


def ewald(
    positions: Tensor[float, "n", 3], charges: Tensor[float, "n"], box: float, alpha: float
) -> float:
    n = len(charges)
    real = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            d = positions[i] - positions[j]
            d -= box * np.round(d / box)
            r = np.sqrt(np.dot(d, d))
            real += charges[i] * charges[j] * math.erfc(alpha * r) / r
    reciprocal = 0.0
    for kx in range(-2, 3):
        for ky in range(-2, 3):
            for kz in range(-2, 3):
                if kx == ky == kz == 0:
                    continue
                k = 2 * np.pi / box * np.array([kx, ky, kz])
                k2 = k @ k
                phase = positions @ k
                s_re = np.sum(charges * np.cos(phase))
                s_im = np.sum(charges * np.sin(phase))
                reciprocal += math.exp(-k2 / (4 * alpha**2)) / k2 * (s_re**2 + s_im**2)
    return real + 2 * np.pi / box**3 * reciprocal - alpha / math.sqrt(math.pi) * (charges**2).sum()


def histogram2d(
    points: Tensor[float, "n", 2], weights: Tensor[float, "n"], bins: int
) -> Tensor[float, "bins", "bins"]:
    counts = np.zeros((bins, bins))
    for (x, y), w in zip(points, weights):
        i = min(int(x * bins), bins - 1)
        j = min(int(y * bins), bins - 1)
        if i >= 0 and j >= 0:
            counts[i, j] += w
    return counts / counts.sum()


def gram_schmidt(a: Tensor[float, "n", "m"]) -> Tensor[float, "n", "m"]:
    q = a.copy()
    for j in range(q.shape[1]):
        for k in range(j):
            q[:, j] -= (q[:, k] @ q[:, j]) * q[:, k]
        q[:, j] /= np.linalg.norm(q[:, j])
    return q


def power_iteration(a: Tensor[float, "n", "n"]) -> float:
    v = np.ones(a.shape[0])
    value = 0.0
    for _ in range(100):
        w = a @ v
        old, value = value, v @ w / (v @ v)
        v = w / np.linalg.norm(w)
        if abs(value - old) < 1e-13:
            break
    return value


def jacobi_eigenvalues(a: Tensor[float, "n", "n"]) -> Tensor[float, "n"]:
    a = a.copy()
    n = len(a)
    for _ in range(8):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-15:
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = np.sign(theta) / (abs(theta) + np.sqrt(theta**2 + 1)) if theta != 0 else 1.0
                c = 1 / np.sqrt(t**2 + 1)
                s = t * c
                for k in range(n):
                    a[k, p], a[k, q] = c * a[k, p] - s * a[k, q], s * a[k, p] + c * a[k, q]
                for k in range(n):
                    a[p, k], a[q, k] = c * a[p, k] - s * a[q, k], s * a[p, k] + c * a[q, k]
    return np.sort(np.diag(a))


def mandelbrot(cx: float, cy: float, limit: int = 60) -> float:
    """How soon a point escapes, smoothly."""
    x = y = 0.0
    for n in range(limit):
        x, y = x * x - y * y + cx, 2 * x * y + cy
        if x * x + y * y > 256:
            return n + 1 - math.log2(math.log2(x * x + y * y) / 2)
    return float(limit)


def fade(t):
    return t * t * t * (t * (t * 6 - 15) + 10)


def noise(x: float, y: float, seed: int) -> float:
    """Perlin's, of gradients by a hash."""

    def corner(ix, iy):
        h = (ix * 374761393 + iy * 668265263 + seed * 2147483647) & 0xFFFFFFFF
        h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
        angle = h / 2**32 * 2 * math.pi
        return math.cos(angle) * (x - ix) + math.sin(angle) * (y - iy)

    x0, y0 = math.floor(x), math.floor(y)
    u, v = fade(x - x0), fade(y - y0)
    top = corner(x0, y0) + u * (corner(x0 + 1, y0) - corner(x0, y0))
    bottom = corner(x0, y0 + 1) + u * (corner(x0 + 1, y0 + 1) - corner(x0, y0 + 1))
    return top + v * (bottom - top)


def compensated_sum(x: Tensor[float, "n"]) -> float:
    """Kahan's and Neumaier's."""
    s, c = x[0], 0.0
    for v in x[1:]:
        t = s + v
        if abs(s) >= abs(v):
            c += (s - t) + v
        else:
            c += (v - t) + s
        s = t
    return s + c


def huber_line(x: Tensor[float, "n"], y: Tensor[float, "n"], delta: float) -> tuple[float, float]:
    """A line by reweighted least squares."""
    w = np.ones(len(x))
    a = b = 0.0
    for _ in range(10):
        sw, sx, sy = w.sum(), (w * x).sum(), (w * y).sum()
        sxx, sxy = np.sum(w * x * x), np.sum(w * x * y)
        det = sw * sxx - sx**2
        a, b = (sxx * sy - sx * sxy) / det, (sw * sxy - sx * sy) / det
        r = np.abs(y - a - b * x)
        w = np.where(r <= delta, 1.0, delta / r)
    return a, b


def dft(x: Tensor[float, "n"]) -> Tensor[float, "n"]:
    """The power of each frequency."""
    n = len(x)
    power = []
    for k in range(n):
        re = sum(x[t] * math.cos(2 * math.pi * k * t / n) for t in range(n))
        im = sum(-x[t] * math.sin(2 * math.pi * k * t / n) for t in range(n))
        power.append(re**2 + im**2)
    return np.array(power)


def rule(cells: Tensor[int, "n"], number: int, steps: int) -> Tensor[int, "n"]:
    """A cellular automaton on a ring."""
    n = len(cells)
    for _ in range(steps):
        cells = np.array(
            [
                (number >> (4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % n])) & 1
                for i in range(n)
            ]
        )
    return cells


class Body(NamedTuple):
    x: float
    y: float
    vx: float
    vy: float
    mass: float


def energy(sun: Body, earth: Body, dt: float, steps: int) -> float:
    """Of two bodies after leapfrog's steps."""
    x, y, vx, vy = earth.x - sun.x, earth.y - sun.y, earth.vx - sun.vx, earth.vy - sun.vy
    mu = sun.mass + earth.mass
    for _ in range(steps):
        r3 = (x**2 + y**2) ** 1.5
        vx -= dt / 2 * mu * x / r3
        vy -= dt / 2 * mu * y / r3
        x += dt * vx
        y += dt * vy
        r3 = (x**2 + y**2) ** 1.5
        vx -= dt / 2 * mu * x / r3
        vy -= dt / 2 * mu * y / r3
    return (vx**2 + vy**2) / 2 - mu / np.hypot(x, y)


def nearest(points: Tensor[float, "n", 2], q: Tensor[float, 2], k: int) -> float:
    """The mean distance of the k nearest, chosen one by one."""
    d = np.sqrt(((points - q) ** 2).sum(axis=1))
    used = np.zeros(len(points), dtype=bool)
    total = 0.0
    for _ in range(k):
        best = -1
        for i in range(len(d)):
            if not used[i] and (best == -1 or d[i] < d[best]):
                best = i
        used[best] = True
        total += d[best]
    return total / k


def moving_average(x: Tensor[float, "n"], alpha: float, window: int) -> Tensor[float, "n"]:
    """Exponential, over a mean of the last ones."""
    out = np.zeros(len(x))
    ema = 0.0
    for i in range(len(x)):
        start = max(0, i - window + 1)
        mean = np.mean(x[start : i + 1])
        ema = mean if i == 0 else alpha * mean + (1 - alpha) * ema
        out[i] = ema
    return out


spd = random.normal(size=(5, 5))
spd = spd @ spd.T + 2 * np.eye(5)
CALLS = {
    log_likelihood: (spd, random.normal(size=5)),
    levinson: (np.array([2.0, 1.1, 0.7, -0.3, 0.2]),),
    crank_nicolson: (random.normal(size=7), 0.3, 0.02, 4),
    pendulum: (1.2, -0.7, 1.1, 0.02, 6),
    arc_length: (1.3, 0.7, 2.0),
    cross_entropy: (random.normal(size=(4, 3)), np.array([0, 2, 1, 2])),
    crc: (np.frombuffer(b"123456789", np.uint8).astype(int),),
    horner: (random.normal(size=5), 0.3, -1.2),
    black76: (101.0, 95.0, 0.3, 0.7, 0.02, False),
    implied_vol: (8.0, 100.0, 105.0, 0.8, 0.01),
    sobel: (random.normal(size=(5, 6)),),
    bisection: (0.8, 0.0, 2.0),
    quadrature: (-0.3, 1.1, 0.9),
    ewald: (random.uniform(size=(4, 3)), np.array([1.0, -1.0, 0.5, -0.5]), 1.5, 2.0),
    histogram2d: (random.uniform(size=(9, 2)), random.uniform(size=9), 3),
    gram_schmidt: (random.normal(size=(4, 3)),),
    power_iteration: (spd,),
    jacobi_eigenvalues: (spd[:3, :3],),
    mandelbrot: (0.4, 0.35),
    noise: (3.3, -1.7, 5),
    compensated_sum: (random.normal(size=8),),
    huber_line: (np.arange(6.0), np.array([0.1, 1.2, 1.9, 3.2, 9.0, 5.1]), 0.5),
    dft: (random.normal(size=6),),
    rule: (np.array([0, 0, 0, 1, 0, 0, 1, 1]), 110, 3),
    energy: (Body(0.0, 0.0, 0.0, 0.0, 1.0), Body(1.0, 0.1, -0.1, 0.9, 0.01), 0.05, 8),
    nearest: (random.normal(size=(7, 2)), np.array([0.1, 0.2]), 3),
    moving_average: (random.normal(size=8), 0.4, 3),
}
