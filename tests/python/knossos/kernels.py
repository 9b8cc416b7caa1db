"""Kernels that the tests share: of each construct that the language has."""

import dataclasses
import math
import typing

BOUND = 3
COEFFICIENTS = (1.0, 2, 3.5)


class Point(typing.NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Camera:
    focus: float
    distortion: tuple[float, float]


def relu3(x: float) -> float:
    """
    Like ReLu, but smoother
    Like GeLu, but cheaper
    """
    if x < 0.0:
        return 0.0
    elif x < 1.0:
        return 1 / 3 * x**3
    else:
        return x - 2 / 3


def gelu(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def square_plus_one(x: float) -> float:
    return x * x + 1


def newton(a: float) -> float:
    x = a
    for _ in range(50):
        old = x
        x = 0.5 * (x + a / x)
        if abs(x - old) < 1e-12:
            break
    return x


def polar(x: float, y: float):
    r = math.hypot(x, y)
    theta = math.atan2(y, x)
    return r, theta


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def ordered(a: float, b: float) -> float:
    if a > b:
        a, b = b, a
    return a - 2 * b


def project(p: Point, camera: Camera) -> Point:
    q = Point(p.x * camera.focus, p.y * camera.focus)
    r2 = q.x**2 + q.y**2
    s = 1 + camera.distortion[0] * r2 + camera.distortion[1] * r2 * r2
    return Point(q.x * s, q.y * s)


def turned(p: Point, by: tuple[float, float]) -> Point:
    return Point(by[0] * p.x - by[1] * p.y, by[1] * p.x + by[0] * p.y)


def distance(p: Point, q: Point, angle: float) -> float:
    """Records and tuples go through calls."""
    moved = turned(q, (math.cos(angle), math.sin(angle)))
    x, y = p.x - moved.x, p.y - moved[1]
    return math.sqrt(x * x + y * y)


def loops(x: float, n: int) -> float:
    s = 0
    for i in range(n):
        for j in range(i, 0, -1):
            if j % 3 == 1:
                continue
            s += x / j
            if s > 100:
                return -s
        if s > 50.0 and i > 2:
            break
    i = 7
    while True:
        i -= 1
        if i < BOUND:
            break
        s = s + square_plus_one(x) % 2.5
    return s + i


def guarded(x: float, n: int) -> float:
    assert n >= 0
    y = 0.0
    if n > 0:
        while n != 0:
            n -= 1
            y = y + math.sin(x) if x > 0 else y - 1
    return y if 0 <= y < 5 and not (n == 3 or n < 0) else max(x, y, -1)


def polynomial(x: float) -> float:
    c = COEFFICIENTS
    return sum(c[i] * x**i for i in range(len(c))) + min(v * x for v in c)


def integers(a: int, b: int) -> int:
    both = (a ^ b) + (a & 7) - (b >> 1) + (a << 2) + abs(a) % 5
    return both + round(1.5 * b) + int(a / 3) + a**3 + (not a)


def shadowed(n: int) -> int:
    total = 0
    stop = n
    for i in range(stop):
        stop += 1
        i += 2
        total += i * stop
    for i in range(2):
        total -= i
    return total + stop


def smooth(x: float, y: float) -> float:
    """Every function of math that has a derivative."""
    u = math.exp(-x * x) + math.log1p(y * y) + math.sin(x) * math.cos(y) + math.tanh(x * y)
    v = math.atan2(y, 1 + x * x) + math.sqrt(1 + x * x) + math.expm1(0.1 * x) + math.erf(y)
    w = math.sinh(0.3 * x) + math.cosh(0.3 * y) + math.asinh(x) + math.atan(y) + math.fabs(x + 3)
    t = math.pow(2 + math.sin(x), y) + math.log(3 + math.cos(x), 10) + math.cbrt(y + 9)
    return u * v + w / (1 + t * t) + (x + 5) ** 2.5 + math.hypot(x, y + 1) + math.tan(0.2 * x)
