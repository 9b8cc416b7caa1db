"""Each construct of the language: the value that CPython computes, to the bit for arithmetic, and
the slopes of dual numbers."""

import dataclasses
import math  # noqa: F401, read by the texts below
from typing import NamedTuple

import duals
import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

SCALE = 1.5
PAIR = (0.25, 4)


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Ball:
    centre: Point
    radius: float


def helper(x: float, n: int) -> float:
    return x * n + SCALE


def power(x: float, n: int) -> float:
    return 1.0 if n <= 0 else x * power(x, n - 1)


NUMBERS = {
    "assignment": "y = x * x\nreturn y",
    "annotated assignment": "y: float = x * 2\nreturn y",
    "several targets": "y, z = x, 2.0\nreturn y * z",
    "swap": "y, z = x, 2.0\ny, z = z, y\nreturn y - z",
    "augmented": "y = x\ny += 2.0\ny -= 0.5 * y\ny *= x\ny /= 3.0\nreturn y",
    "integer division": "return float(n // 3 + n % 4 - (-n) // 3)",
    "float division": "return x // 0.75 + x % 0.75",
    "power": "return x ** 2 + x ** 3 + 2.0 ** n",
    "bits": "return x * ((n & 3) | (n ^ 5) + (n << 2) - (n >> 1) + ~n)",
    "comparison chain": "return x if -1.0 < x < 1.0 else 2.0",
    "and or not": "return x if x > 0.0 and n > 2 or not n > 1 else -x",
    "if": "if x > 0.5:\n    x = x * 2.0\nreturn x",
    "elif": "if x > 1.0:\n    y = 1.0\nelif x > 0.0:\n    y = x\nelse:\n    y = -x\nreturn y",
    "early return": "if x > 0.5:\n    return x * x\nreturn x + 1.0",
    "conditional expression": "return (x if n > 2 else 2.0 * x) + (1.0 if x > 0 else 3.0)",
    "for range": "y = 0.0\nfor i in range(n):\n    y += x * i\nreturn y",
    "for bounds and step": "y = 0.0\nfor i in range(n, -3, -2):\n    y = y * x + i\nreturn y",
    "nested for": "y = 0.0\nfor i in range(3):\n    "
    "for j in range(i):\n        y += x * j\nreturn y",
    "while": "y = x\nwhile y < 3.0:\n    y = y * y + 1.0\nreturn y",
    "while and else branch": "k = n\nwhile k > 0:\n    k -= 1\n    x = x * 0.5\nreturn x",
    "break": "y = x\nfor i in range(9):\n    if y > 2.0:\n        break\n    y += 0.5\nreturn y",
    "continue": "y = x\nfor i in range(5):\n    if i == n:\n        "
    "continue\n    y += x * i\nreturn y",
    "return in a loop": "for i in range(9):\n    x = x * 1.5\n    "
    "if x > 4.0:\n        return x\nreturn -x",
    "call": "return helper(x, n) * 2.0",
    "bounded recursion": "return power(x, 3)",
    "closure over constants": "return x * SCALE + PAIR[0] * PAIR[1]",
    "tuple": "t = (x, 2.0 * x, 3.0)\nreturn t[0] * t[-1] + t[1]",
    "tuple slices and sums": "t = (x, 2.0) + (3.0,)\nreturn sum(t[1:]) * t[0]",
    "comprehension": "return sum([x * i for i in range(4)]) + max(x + i for i in range(2))",
    "filtered comprehension": "return sum(x * i for i in range(6) if i % 2 == 0)",
    "record": "p = Point(x, 2.0)\nreturn p.x * p.y + p[1]",
    "record with a part replaced": "p = Point(x, 2.0)._replace(y=x)\nreturn p.x * p.y",
    "record in a record": "b = Ball(Point(x, 1.0), radius=2.0)\nreturn b.centre.x * b.radius",
    "dataclass with a part replaced":
    "b = dataclasses.replace(Ball(Point(x, 1.0), 2.0), radius=x)\n"
    "return b.centre.x * b.radius",
    "math": "return math.sin(x) + math.exp(-x) * math.atan2(x, 2.0) + math.hypot(x, 1.0)",
    "min max abs": "return min(x, 0.5) + max(x, n) + abs(x)",
    "conversions": "return float(int(x * 3.0)) + round(x) * x + math.floor(x) + float(n > 2)",
    "numpy": "return np.sin(x) + np.maximum(x, 0.25) + "
    "np.where(n > 2, x, 2.0) + np.clip(x, 0.0, 1.0)",
    "assert": "assert n > -9\nreturn x",
    "docstring and pass": '"""Of x."""\nif n > 99:\n    pass\nreturn x',
}  # fmt: skip

ARRAYS = {
    "elements": "return x[0] * x[-1] + y[1]",
    "for over an array": "t = s\nfor v in x:\n    t += v * v\nreturn t",
    "enumerate by range": "t = s\nfor i in range(len(x)):\n    t += x[i] * y[i] * i\nreturn t",
    "local array": "u = np.zeros(len(x))\nfor i in range(len(x)):\n    "
    "u[i] = x[i] * s\nreturn u[0] + u[1]",
    "functional update": "u = x.copy()\nu[1] = s\nu[0] += 2.0 * s\nreturn np.sum(u * y)",
    "ones and like": "u = np.ones(3)\nv = np.zeros_like(u)\nv[0] = s\nreturn np.sum(u * v)",
    "full": "u = np.full(3, s)\nreturn np.sum(u * u) + np.full((2, 2), 2)[0, 1]",
    "eye": "u = np.eye(3)\nu[0, 1] = s\nreturn np.sum(u) + np.identity(2)[1, 1]",
    "outer": "return np.sum(np.outer(x, y)[1] * s)",
    "clip": "return np.sum(np.clip(x, -0.5, s)) + np.clip(s, 0.0, 1.0)",
    "expressions": "return np.sum(np.exp(x * s) - y / 2.0 + np.where(x > 0, x, y))",
    "products": "return x @ y + np.dot(x, y)",
    "reductions": "return np.mean(x) + np.max(y) - np.min(x) + np.prod(y)",
    "slices": "t = x[1:]\nreturn np.sum(t) * s",
    "comprehension of an array": "u = np.array([v * s for v in x])\nreturn np.sum(u)",
    "comprehension of a range": "u = [x[i] * y[i] for i in range(len(x))]\nreturn sum(u)",
    "two axes": "u = np.zeros((2, 3))\nu[1, 2] = s\n"
    "u[0, 0] = s * s\nreturn np.sum(u[:, 2]) + u[0][0]",
    "shape": "return s * x.shape[0] + x.size + x.ndim",
    "break in a loop over an array": "t = s\nfor v in x:\n    if v > 1.0:\n        "
    "break\n    t += v\nreturn t",
}  # fmt: skip


def made(name, head, text):
    """The function of a text, which inspect finds again."""
    import linecache

    lines = [head, *("    " + line for line in text.split("\n"))]
    file = f"construct_{name.replace(' ', '_')}.py"
    whole = "\n".join(lines) + "\n"
    linecache.cache[file] = (len(whole), None, whole.splitlines(keepends=True), file)
    names = {**globals(), "Tensor": Tensor}
    exec(compile(whole, file, "exec"), names)
    return names["construct"]


@pytest.mark.parametrize("name", NUMBERS)
def test_of_numbers(name):
    function = made(name, "def construct(x: float, n: int) -> float:", NUMBERS[name])
    kernel = knossos.register(function)
    for x in (-1.25, -0.0, 0.3, 0.75, 1.9):
        for n in (0, 3, 5):
            wanted = float(function(x, n))
            assert kernel(x, n) == pytest.approx(wanted, rel=4e-16, abs=0)
            if name == "numpy":  # duals have no functions of NumPy's
                continue
            (slope,) = duals.slopes(function, (x, n))
            assert kernel.vjp(x, n, 1.0) == pytest.approx(slope, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ARRAYS)
def test_of_arrays(name):
    head = 'def construct(x: "Tensor[float, n]", y: "Tensor[float, n]", s: float) -> float:'
    function = made(name, head, ARRAYS[name])
    kernel = knossos.register(function)
    random = np.random.default_rng(0)
    x, y, dx, dy = random.normal(size=(4, 4))
    for s in (-0.4, 0.7):
        assert kernel(x, y, s) == pytest.approx(function(x, y, s), rel=1e-14)
        step = 1e-6
        ahead = function(x + step * dx, y + step * dy, s + step)
        behind = function(x - step * dx, y - step * dy, s - step)
        forward = kernel.jvp(x, y, s, dx, dy, 1.0)
        assert forward == pytest.approx((ahead - behind) / (2 * step), rel=1e-6, abs=1e-6)
        gx, gy, gs = kernel.vjp(x, y, s, 1.0)
        assert gx @ dx + gy @ dy + gs == pytest.approx(forward, rel=1e-12, abs=1e-12)
