"""More kernels of people who have not read what kernels may hold: fluids, filters, statistics of
survival, finance, alignment, geometry, special functions. Each stands with its arguments."""

# ruff: noqa: F821

import math

import numpy as np

from composit.knossos import Tensor

random = np.random.default_rng(74)


def particle_filter(z: Tensor[float, "t"], noise: Tensor[float, "t", "p"], u: Tensor[float, "t"],
                    q: float, r: float) -> float:  # fmt: skip
    """The log likelihood of a random walk that is measured, by particles that are drawn again."""
    steps, n = noise.shape
    x = np.zeros(n)
    total = 0.0
    for t in range(steps):
        x = x + q * noise[t]
        w = np.exp(-0.5 * ((z[t] - x) / r) ** 2) / (r * math.sqrt(2 * math.pi))
        total += math.log(np.mean(w))
        c = np.cumsum(w / np.sum(w))
        chosen = np.zeros(n)
        j = 0
        for i in range(n):
            while j < n - 1 and c[j] < (i + u[t]) / n:
                j += 1
            chosen[i] = x[j]
        x = chosen
    return total


def minmod(a, b):
    if a * b <= 0:
        return 0.0
    return a if abs(a) < abs(b) else b


def burgers(u0: Tensor[float, "n"], dx: float, dt: float, steps: int) -> Tensor[float, "n"]:
    """Burgers' equation on a ring, with limited slopes and Godunov's flux."""
    n = len(u0)
    u = u0.copy()
    for _ in range(steps):
        slope = [minmod(u[i] - u[i - 1], u[(i + 1) % n] - u[i]) for i in range(n)]
        flux = np.zeros(n)
        for i in range(n):
            left = u[i - 1] + 0.5 * slope[i - 1]
            right = u[i] - 0.5 * slope[i]
            if left > right:
                flux[i] = 0.5 * max(left * abs(left), -right * abs(right), 0.0)
            elif left > 0:
                flux[i] = 0.5 * left**2
            elif right < 0:
                flux[i] = 0.5 * right**2
        u = u - dt / dx * (np.roll(flux, -1) - flux)
    return u


def cox(x: Tensor[float, "n", "d"], time: Tensor[float, "n"], event: Tensor[bool, "n"],
        beta: Tensor[float, "d"]) -> float:  # fmt: skip
    """The partial likelihood of proportional hazards, its logarithm."""
    risk = x @ beta
    total = 0.0
    for i in range(len(time)):
        if event[i]:
            total += risk[i] - math.log(sum(math.exp(risk[j]) for j in range(len(time))
                                            if time[j] >= time[i]))  # fmt: skip
    return total


def garch(returns: Tensor[float, "n"], omega: float, alpha: float, beta: float) -> float:
    variance = np.var(returns)
    total = 0.0
    for r in returns:
        total += 0.5 * (math.log(2 * math.pi) + math.log(variance) + r**2 / variance)
        variance = omega + alpha * r**2 + beta * variance
    return total


def reflectance(n: Tensor[float, "k"], d: Tensor[float, "k"], wavelength: float,
                substrate: float) -> float:  # fmt: skip
    """Thin films on glass, by their matrices, of complex numbers as pairs."""
    ar, ai, br, bi = 1.0, 0.0, 0.0, 0.0
    cr, ci, dr, di = 0.0, 0.0, 1.0, 0.0
    for index, thickness in zip(n, d):
        phase = 2 * math.pi * index * thickness / wavelength
        c, s = math.cos(phase), math.sin(phase)
        # times [[c, i s / n], [i n s, c]]
        ar, ai, br, bi = (ar * c - bi * index * s, ai * c + br * index * s,
                          br * c - ai * s / index, bi * c + ar * s / index)  # fmt: skip
        cr, ci, dr, di = (cr * c - di * index * s, ci * c + dr * index * s,
                          dr * c - ci * s / index, di * c + cr * s / index)  # fmt: skip
    yr, yi = ar + substrate * br, ai + substrate * bi
    zr, zi = cr + substrate * dr, ci + substrate * di
    return ((yr - zr) ** 2 + (yi - zi) ** 2) / ((yr + zr) ** 2 + (yi + zi) ** 2)


def incomplete_gamma(a: float, x: float) -> float:
    """P(a, x), by its series or its continued fraction."""
    if x < 0 or a <= 0:
        raise ValueError("incomplete_gamma is of a > 0 and x >= 0")
    if x == 0:
        return 0.0
    front = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        k = a
        while abs(term) > abs(total) * 1e-16:
            k += 1
            term *= x / k
            total += term
        return total * front
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    h = d
    for i in range(1, 200):
        an = -i * (i - a)
        b += 2
        d = an * d + b
        d = tiny if abs(d) < tiny else d
        c = b + an / c
        c = tiny if abs(c) < tiny else c
        d = 1 / d
        delta = d * c
        h *= delta
        if abs(delta - 1) < 1e-16:
            break
    return 1 - front * h


def hull_area(points: Tensor[float, "n", 2]) -> float:
    """The area of the convex hull, by a monotone chain."""
    n = len(points)
    order = np.argsort(points[:, 0])
    hull = np.zeros((2 * n, 2))
    k = 0
    for i in order:
        while k >= 2 and turn(hull[k - 2], hull[k - 1], points[i]) <= 0:
            k -= 1
        hull[k] = points[i]
        k += 1
    lower = k + 1
    for i in order[::-1][1:]:
        while k >= lower and turn(hull[k - 2], hull[k - 1], points[i]) <= 0:
            k -= 1
        hull[k] = points[i]
        k += 1
    area = 0.0
    for i in range(k - 1):
        area += hull[i, 0] * hull[i + 1, 1] - hull[i + 1, 0] * hull[i, 1]
    return area / 2


def turn(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def gotoh(a: Tensor[int, "n"], b: Tensor[int, "m"], scores: Tensor[float, 4, 4], opening: float,
          extending: float) -> float:  # fmt: skip
    """The best local alignment, with gaps that cost more to open than to extend."""
    n, m = len(a), len(b)
    best = 0.0
    h = np.zeros((n + 1, m + 1))
    e = np.full((n + 1, m + 1), -1e9)
    f = np.full((n + 1, m + 1), -1e9)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            e[i, j] = max(h[i, j - 1] - opening, e[i, j - 1] - extending)
            f[i, j] = max(h[i - 1, j] - opening, f[i - 1, j] - extending)
            h[i, j] = max(0.0, h[i - 1, j - 1] + scores[a[i - 1], b[j - 1]], e[i, j], f[i, j])
            best = max(best, h[i, j])
    return best


def log_add(a, b):
    if a == -math.inf:
        return b
    if b == -math.inf:
        return a
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


def ctc(log_p: Tensor[float, "t", "k"], target: Tensor[int, "s"]) -> float:
    """The loss of connectionist temporal classification; 0 is the blank."""
    steps, length = log_p.shape[0], 2 * len(target) + 1
    labels = [0 if i % 2 == 0 else target[i // 2] for i in range(length)]
    alpha = np.full(length, -np.inf)
    alpha[0] = log_p[0, 0]
    alpha[1] = log_p[0, labels[1]]
    for t in range(1, steps):
        new = np.full(length, -np.inf)
        for s in range(length):
            total = alpha[s]
            if s >= 1:
                total = log_add(total, alpha[s - 1])
            if s >= 2 and labels[s] != 0 and labels[s] != labels[s - 2]:
                total = log_add(total, alpha[s - 2])
            new[s] = total + log_p[t, labels[s]]
        alpha = new
    return -log_add(alpha[-1], alpha[-2])


def poisson(
    f: Tensor[float, "n", "m"], h: float, omega: float, sweeps: int
) -> Tensor[float, "n", "m"]:
    """Successive over-relaxation; zero at the edges."""
    u = np.zeros(f.shape)
    for _ in range(sweeps):
        for i in range(1, f.shape[0] - 1):
            for j in range(1, f.shape[1] - 1):
                gauss = 0.25 * (
                    u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h * h * f[i, j]
                )
                u[i, j] = (1 - omega) * u[i, j] + omega * gauss
    return u


def madgwick(
    gyro: Tensor[float, "t", 3], accel: Tensor[float, "t", 3], beta: float, dt: float
) -> Tensor[float, 4]:
    """How a body is turned, of what turns it and where down is."""
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    for (gx, gy, gz), a in zip(gyro, accel):
        ax, ay, az = a / np.linalg.norm(a)
        f1 = 2 * (x * z - w * y) - ax
        f2 = 2 * (w * x + y * z) - ay
        f3 = 2 * (0.5 - x * x - y * y) - az
        sw = -2 * y * f1 + 2 * x * f2
        sx = 2 * z * f1 + 2 * w * f2 - 4 * x * f3
        sy = -2 * w * f1 + 2 * z * f2 - 4 * y * f3
        sz = 2 * x * f1 + 2 * y * f2
        size = math.sqrt(sw**2 + sx**2 + sy**2 + sz**2)
        dw = 0.5 * (-x * gx - y * gy - z * gz) - beta * sw / size
        dx = 0.5 * (w * gx + y * gz - z * gy) - beta * sx / size
        dy = 0.5 * (w * gy - x * gz + z * gx) - beta * sy / size
        dz = 0.5 * (w * gz + x * gy - y * gx) - beta * sz / size
        w, x, y, z = w + dw * dt, x + dx * dt, y + dy * dt, z + dz * dt
        size = math.sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = w / size, x / size, y / size, z / size
    return np.array([w, x, y, z])


def total_variation(
    image: Tensor[float, "h", "w"], weight: float, rate: float, steps: int
) -> Tensor[float, "h", "w"]:
    """An image without noise: steps down the gradient."""
    u = image.copy()
    for _ in range(steps):
        gx = np.zeros(u.shape)
        gy = np.zeros(u.shape)
        gx[:, :-1] = u[:, 1:] - u[:, :-1]
        gy[:-1] = u[1:] - u[:-1]
        size = np.sqrt(gx**2 + gy**2 + 1e-6)
        gx, gy = gx / size, gy / size
        divergence = gx + gy
        divergence[:, 1:] -= gx[:, :-1]
        divergence[1:] -= gy[:-1]
        u += rate * (image - u + weight * divergence)
    return u


def bits_of(n: int) -> int:
    count = 0
    while n != 0:
        n &= n - 1
        count += 1
    return count


def gray_distance(a: Tensor[int, "n"], b: Tensor[int, "n"]) -> int:
    """How many bits of Gray codes differ."""
    return sum(bits_of((p ^ (p >> 1)) ^ (q ^ (q >> 1))) for p, q in zip(a, b))


def hermite(x: Tensor[float, "n"], y: Tensor[float, "n"], at: float) -> float:
    """A curve that keeps what rises rising (Fritsch and Carlson)."""
    n = len(x)
    slopes = (y[1:] - y[:-1]) / (x[1:] - x[:-1])
    m = np.zeros(n)
    m[0], m[-1] = slopes[0], slopes[-1]
    for i in range(1, n - 1):
        if slopes[i - 1] * slopes[i] > 0:
            m[i] = 2 * slopes[i - 1] * slopes[i] / (slopes[i - 1] + slopes[i])
    i = min(max(int(np.searchsorted(x, at)) - 1, 0), n - 2)
    h = x[i + 1] - x[i]
    t = (at - x[i]) / h
    return ((1 + 2 * t) * (1 - t) ** 2 * y[i] + t * (1 - t) ** 2 * h * m[i]
            + t * t * (3 - 2 * t) * y[i + 1] + t * t * (t - 1) * h * m[i + 1])  # fmt: skip


CALLS = {
    particle_filter: (random.normal(size=4), random.normal(size=(4, 5)), random.uniform(size=4),
                      0.7, 0.5),
    burgers: (random.normal(size=8), 0.2, 0.05, 4),
    cox: (random.normal(size=(6, 2)), random.uniform(size=6), np.array([1, 0, 1, 1, 0, 1], bool),
          random.normal(size=2)),
    garch: (random.normal(size=9), 0.1, 0.2, 0.6),
    reflectance: (np.array([1.38, 2.1, 1.46]), np.array([0.1, 0.12, 0.08]), 0.55, 1.52),
    incomplete_gamma: (2.3, 4.7),
    hull_area: (random.normal(size=(8, 2)),),
    gotoh: (np.array([0, 1, 2, 3, 1]), np.array([1, 2, 2, 3]),
            random.normal(size=(4, 4)) + 2 * np.eye(4), 1.1, 0.3),
    ctc: (np.log(random.dirichlet(np.ones(4), 6)), np.array([1, 3, 3])),
    poisson: (random.normal(size=(5, 6)), 0.2, 1.5, 4),
    madgwick: (random.normal(size=(5, 3)), random.normal(size=(5, 3)), 0.1, 0.05),
    total_variation: (random.normal(size=(4, 5)), 0.3, 0.1, 3),
    gray_distance: (np.array([5, 9, 1000]), np.array([6, 2, 77])),
    hermite: (np.cumsum(random.uniform(0.5, 1.5, 6)), np.cumsum(random.uniform(0.5, 1.5, 6)),
              3.1),
}  # fmt: skip
