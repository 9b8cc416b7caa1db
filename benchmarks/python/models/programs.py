"""Ordinary imperative programs: each takes the module that is NumPy, and returns its result."""

import math


def iterated(np):
    """x = f(x), with a look a step."""
    x = np.linspace(0.1, 1, 100)
    for _ in range(300):
        x = x * 0.99 + 0.001
        if float(x.max()) < 0.01:
            break
    return x


def moving_average(np):
    x = np.sin(np.arange(300.0))
    average, found = x[0], np.zeros(300)
    for i in range(300):
        average = 0.9 * average + 0.1 * x[i]
        found[i] = average
    return found


def wave(np):
    u = np.exp(-(np.linspace(-3, 3, 200) ** 2))
    before = u.copy()
    for _ in range(100):
        after = np.zeros(200)
        after[1:-1] = 2 * u[1:-1] - before[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        before, u = u, after
    return u


def heat(np):
    u = np.zeros((50, 50))
    u[20:30, 20:30] = 1
    for _ in range(100):
        u[1:-1, 1:-1] += 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return u


def reaction(np):
    """Gray and Scott."""
    u, v = np.ones((40, 40)), np.zeros((40, 40))
    v[15:25, 15:25] = 0.5
    for _ in range(60):
        ring = [
            x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1]
            for x in (u, v)
        ]
        inner, outer = u[1:-1, 1:-1], v[1:-1, 1:-1]
        made = inner * outer * outer
        u[1:-1, 1:-1] += 0.16 * ring[0] - made + 0.06 * (1 - inner)
        v[1:-1, 1:-1] += 0.08 * ring[1] + made - 0.122 * outer
    return u + v


def epidemic(np):
    """Susceptible, infected, recovered, by Runge and Kutta."""

    def slope(y):
        s, i, _ = y
        return np.array([-0.3 * s * i, 0.3 * s * i - 0.1 * i, 0.1 * i])

    y = np.array([0.99, 0.01, 0.0])
    for _ in range(100):
        a = slope(y)
        b = slope(y + 0.25 * a)
        c = slope(y + 0.25 * b)
        d = slope(y + 0.5 * c)
        y = y + 0.5 / 6 * (a + 2 * b + 2 * c + d)
    return y


def kalman(np):
    x, p = np.zeros(2), np.eye(2)
    f, h = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    for i in range(100):
        x, p = f @ x, f @ p @ f.T + 0.01 * np.eye(2)
        gain = p @ h.T / (h @ p @ h.T + 0.1)
        x = x + (gain * (math.sin(0.1 * i) - h @ x)).reshape(2)
        p = (np.eye(2) - gain @ h) @ p
    return x


def logistic(np):
    x = np.sin(np.arange(400.0)).reshape(100, 4)
    y = (x.sum(axis=1) > 0) * 1.0
    w = np.zeros(4)
    for _ in range(150):
        p = 1 / (1 + np.exp(-(x @ w)))
        w -= 0.1 * (x.T @ (p - y)) / 100
    return w


def edit_distance(np):
    a, b = "kitten sitting on", "sitting kitten at"
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d


def viterbi(np):
    move = np.log(np.array([[0.7, 0.3], [0.4, 0.6]]))
    seen = np.log(np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]))
    observed = [i * i % 3 for i in range(60)]
    best = np.zeros((60, 2))
    best[0] = seen[:, observed[0]]
    for t in range(1, 60):
        for s in range(2):
            best[t, s] = max(best[t - 1, k] + move[k, s] for k in range(2)) + seen[s, observed[t]]
    return best


def elimination(np):
    a = np.sin(np.arange(144.0)).reshape(12, 12) + 3 * np.eye(12)
    for k in range(12):
        for i in range(k + 1, 12):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
    return a


def bubble_sort(np):
    a = np.sin(np.arange(30.0))
    for i in range(30):
        for j in range(29 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


def insertion_sort(np):
    a = np.sin(np.arange(30.0))
    for i in range(1, 30):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


def dithering(np):
    image = (np.sin(np.arange(144.0)) * 0.5 + 0.5).reshape(12, 12)
    for i in range(11):
        for j in range(1, 11):
            old = image[i, j]
            image[i, j] = 1.0 if old > 0.5 else 0.0
            error = old - image[i, j]
            image[i, j + 1] += error * 7 / 16
            image[i + 1, j - 1] += error * 3 / 16
            image[i + 1, j] += error * 5 / 16
            image[i + 1, j + 1] += error / 16
    return image


def metropolis(np):
    x, total = np.array(0.5), np.array(0.0)
    for i in range(300):
        proposed = x + 0.5 * math.sin(12.9898 * i)
        if math.sin(78.233 * i) * 0.5 + 0.5 < float(np.exp(0.5 * (x * x - proposed * proposed))):
            x = proposed
        total = total + x
    return total / 300


def life(np):
    board = (np.arange(2500).reshape(50, 50) ** 2 % 7 < 2) * 1
    for _ in range(40):
        around = sum(
            np.roll(np.roll(board, i, 0), j, 1)
            for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
        )  # fmt: skip
        board = ((around == 3) | ((board == 1) & (around == 2))) * 1
    return board


def mandelbrot(np):
    c = np.linspace(-2, 1, 60)[None, :] + 1j * np.linspace(-1, 1, 40)[:, None]
    z, count = np.zeros(c.shape, dtype=complex), np.zeros(c.shape, dtype=int)
    for _ in range(30):
        inside = abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        count[inside] += 1
    return count


def bodies(np):
    x = np.sin(np.arange(30.0)).reshape(10, 3)
    v = np.zeros((10, 3))
    for _ in range(50):
        between = x[None, :, :] - x[:, None, :]
        distance = ((between**2).sum(axis=2) + 0.1) ** 1.5
        v += 0.01 * (between / distance[:, :, None]).sum(axis=1)
        x += 0.01 * v
    return x


def clusters(np):
    points = np.sin(np.arange(400.0)).reshape(200, 2)
    centres = points[:4].copy()
    for _ in range(20):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        for k in range(4):
            if (nearest == k).any():
                centres[k] = points[nearest == k].mean(axis=0)
    return centres


def elements(np):
    total = 0.0
    for value in np.linspace(0, 1, 3000):
        total += value
    return np.array([float(total)])


def rows(np):
    total = np.zeros(4)
    for row in np.arange(4000.0).reshape(1000, 4):
        total += row
    return total


# Program, and how many times NumPy's time it may take: at most, and as the aim.
PROGRAMS = [
    (iterated, 10, 3), (moving_average, 8, 2), (wave, 8, 2), (heat, 8, 2), (reaction, 8, 2),
    (epidemic, 8, 3), (kalman, 8, 3), (logistic, 8, 3), (edit_distance, 15, 5), (viterbi, 15, 5),
    (elimination, 15, 5), (bubble_sort, 15, 5), (insertion_sort, 15, 5), (dithering, 15, 5),
    (metropolis, 8, 2), (life, 8, 2), (mandelbrot, 8, 2), (bodies, 8, 2), (clusters, 8, 2),
    (elements, 8, 3), (rows, 8, 3),
]  # fmt: skip
