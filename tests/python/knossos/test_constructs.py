"""Each construct of the language: the value that CPython computes, to the bit for arithmetic, and
the slopes of dual numbers."""

import dataclasses
import math  # noqa: F401, read by the texts below
from typing import NamedTuple

import duals
import numpy as np
import pytest

from composit import _core, knossos
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


class Scaled(NamedTuple):
    value: float
    by: float = 2.0
    around: Point = Point(1.0, 0.5)


@dataclasses.dataclass
class Shifted:
    x: float
    by: float = 0.5


ORIGIN = Point(0.5, 4.0)


def helper(x: float, n: int) -> float:
    return x * n + SCALE


def difference(a: float, b: float) -> float:
    return a - 2.0 * b


def doubled_in(a: "Tensor[float, n]") -> "Tensor[float, n]":  # noqa: F821
    u = np.zeros(len(a))
    for i, v in enumerate(a):
        u[i] = 2.0 * v
    return u


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
    "for over a tuple": "s = 0.0\nfor v in (x, 2.0, x * x):\n    s = s * v + 1.0\nreturn s",
    "for over variables that change": "y = 2.0\ns = 0.0\nfor v in [x, y]:\n    "
    "x = x + 1.0\n    y = y * 2.0\n    s += v * x\nreturn s + x",
    "for over pairs": "s = 0.0\nfor a, b in ((x, 1.0), (2.0, x)):\n    s += a * b\nreturn s",
    "for over a known index": "t = (x, 3.0, x * x)\ns = 0.0\nfor k in (2, 0):\n    "
    "for j in range(k):\n        s += t[k - 1] * j\nreturn s",
    "for over integers": "s = 0\nfor v in (1, n, 3):\n    s += v * n\nreturn s * x",
    "for over a record": "s = 0.0\nfor v in ORIGIN:\n    s += v * x\nreturn s + ORIGIN.y",
    "break in a loop over a tuple": "s = 0.0\nfor v in (x, 0.5, 2.0):\n    if v > 1.0:\n        "
    "break\n    s += v * x\nreturn s",
    "continue in a loop over a tuple": "s = 0.0\nfor v in (x, 0.5, 2.0):\n    m = v * x\n    "
    "if m > 0.8:\n        continue\n    s += m\nreturn s",
    "return in a loop over a tuple": "for v in (x, -x):\n    if v > 0.5:\n        "
    "return v * x\nreturn x",
    "the last of a tuple": "v = 1.0\nfor v in (x, 3.0):\n    v = v * x\nreturn v * 2.0",
    "enumerate": "s = 0.0\nfor i, v in enumerate((x, 2.0, 3.0 * x)):\n    s += i * v\nreturn s",
    "enumerate from one": "s = 0.0\nfor i, v in enumerate([x, 2.0], 1):\n    "
    "s = s * i + v\nreturn s",
    "zip": "s = 0.0\nfor a, b in zip((x, 2.0, 1.0), (2.0, x)):\n    s += a * b\nreturn s",
    "enumerate of a range": "s = 0.0\nfor i, v in enumerate(range(2, n)):\n    "
    "s += x * i - v\nreturn s",
    "enumerate of a known range": "s = 0.0\nfor i, v in enumerate(range(9, 2, -2)):\n    "
    "s += x * i - v\nreturn s + sum(i * v * x for i, v in enumerate(range(3)))",
    "zip of known ranges": "s = 0.0\nfor i, v in zip(range(3), range(5, 9)):\n    "
    "s += x * i - v\nreturn s + sum(a * b for a, b in zip((x, 2.0), range(1, 9)))",
    "zip of a tuple and a range": "t = (x, 2.0)\ns = 0.0\nfor a, i in zip(t, range(9)):\n    "
    "s += a * t[i]\nreturn s",
    "else of a loop over a tuple": "for v in (x, 0.5, 2.0):\n    if v > 1.0:\n        break\n"
    "else:\n    x = 2.0 * x\nreturn x",
    "reversed": "s = 0.0\nfor v in reversed((x, 2.0, 0.5)):\n    s = s * v + x\nreturn s",
    "reversed range": "s = 0.0\nfor i in reversed(range(n)):\n    s = s * x + i\nreturn s",
    "reversed range by three": "s = 0.0\nfor i in reversed(range(1, n, 3)):\n    "
    "s = s * x + i\nreturn s",
    "reversed range down": "s = 0.0\nfor i in reversed(range(n, -2, -2)):\n    "
    "s = s * x + i\nreturn s",
    "comprehension of pairs": "return sum(a * b for a, b in zip((x, 3.0), (0.5, x)))",
    "for and else": "for i in range(n):\n    if x > 1.0:\n        y = x * i\n        break\n    "
    "x += 0.4\nelse:\n    y = 2.0 * x\nreturn y + x",
    "while and else": "k = 0\nwhile k < n:\n    if x > 1.0:\n        z = x\n        break\n    "
    "x += 0.3\n    k += 1\nelse:\n    return x * 5.0\nreturn z * 2.0",
    "else without break": "for i in range(n):\n    x *= 0.5\nelse:\n    x += 1.0\nreturn x",
    "else of an inner loop": "y = 0.0\nfor i in range(n):\n    for j in range(3):\n        "
    "if x > 1.0:\n            break\n        x += 0.25\n    else:\n        continue\n    "
    "break\nelse:\n    y += 1.0\nreturn x + y",
    "arguments by name": "return difference(b=x, a=2.0) + difference(x, b=3.0)",
    "arguments of a tuple": "t = (x, 3.0)\nreturn difference(*t)",
    "defaults of fields": "s, t = Scaled(x), Shifted(by=x, x=2.0)\n"
    "return s.by * s.value + s.around.y * x + t.by + Shifted(x).by",
    "sum from a start": "return sum((x, 2.0), 1.0) + sum([x, x])",
    "slices of tuples": "t = (x, 2.0, 3.0, x * x)\nreturn sum(t[::-2]) + t[-2:][0] * x",
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
    "slices from the end": "return np.sum(x[:-1] * y[1:]) * s + x[-3:][0] * x[:3][1] + x[1:-1][0]",
    "slices with steps": "return np.sum(x[::2]) * s + np.sum(x[::-1] * y) + x[1::2][1]",
    "slices downwards": "return np.sum(x[-1:-3:-1] * s) + np.sum(y[:0:-1]) + x[2::-2][1]",
    "slices of slices": "u = x[1:][1:] - x[:-1][:-1]\nreturn np.sum(u * y[::-1][2:]) * s",
    "slices of rows and columns": "a = np.outer(x, y)\nb = a[:, :-1] + a[:, 1:]\n"
    "return np.sum(b) * s + a[1:, ::-1][0, 0] + np.sum(a[::-1, ::2][0])",
    "slices that are assigned": "u = np.zeros(len(x))\nu[::2] = s\nu[1:-1] += x[2:]\n"
    "u[::-1] = u * y\nu[-1:] *= 2.0\nreturn np.sum(u * y)",
    "columns that are assigned": "a = np.zeros((3, 4))\na[:, ::-2] = s\na[1:, 1] = y[:2] * s\n"
    "a[::-1] += x\nreturn np.sum(a * y) + np.sum(a[0] * x)",
    "enumerate": "t = s\nfor i, v in enumerate(x):\n    t = t * 0.5 + i * v * y[i]\nreturn t",
    "enumerate from a number": "t = s\nfor i, v in enumerate(x, start=2):\n    "
    "t = t * v + i\nreturn t",
    "zip to the shorter": "t = s\nfor a, b in zip(x, y[1:]):\n    t = t * a + b\nreturn t",
    "zip with a tuple": "t = s\nfor k, a in zip((1.0, s, 3.0), x):\n    t += k * a\nreturn t",
    "zip with a range": "t = s\nfor k, a in zip(range(1, 9, 2), x):\n    t += k * a\nreturn t",
    "zip of rows": "a = np.outer(x, y)\nt = s\nfor r, w in zip(a, y):\n    "
    "t += r[0] * w + np.sum(r[1:])\nreturn t",
    "enumerate of zip": "t = s\nfor i, (a, b) in enumerate(zip(x, y)):\n    if a > 0.8:\n        "
    "break\n    t = t * a + b * i\nreturn t",
    "reversed": "t = s\nfor v in reversed(x):\n    t = t * 0.7 + v\nreturn t",
    "comprehensions of several": "return sum(a * b for a, b in zip(x, y)) * s + "
    "np.sum(np.array([v * i for i, v in enumerate(y)]))",
    "for over arrays": "t = s\nfor a in (x, y):\n    for v in a:\n        "
    "t = t * 0.5 + v\nreturn t",
    "for over values of what changes": "u = x.copy()\nt = s\nfor v in u * s:\n    "
    "u[3] = 0.0\n    s = s + v\n    t += v * s\nreturn t",
    "arange": "u = np.arange(len(x)) * x + np.arange(1, 2 * len(x), 2)\n"
    "return np.sum(u) * s + np.arange(9, 0, -3)[1]",
    "array of numbers": "u = np.array([s, x[0], 2])\nreturn np.sum(u * u) + "
    "np.array([[s, 1.0], [x[1], s]])[1, 0]",
    "array of rows": "a = np.array([x, y, x * s])\nreturn np.sum(a[:, ::2]) * s + a[2, 1]",
    "array in a loop": "t = 0.0\nfor i in range(2):\n    u = np.array([s * i, x[i]])\n    "
    "t += np.sum(u * u)\nreturn t",
    "cumsum and diff": "u = np.cumsum(x * s)\n"
    "return u[-1] * u[0] + np.sum(np.diff(y) * np.diff(u)) + y.cumsum()[-1]",
    "diff of rows": "return np.sum(np.diff(np.outer(x, y)) * s)",
    "argmax and argmin": "i = np.argmax(x * y)\n"
    "return x[i] * s + y[np.argmin(y)] * y.argmax()",
    "norm": "return np.linalg.norm(x) * s + np.linalg.norm(x - y)",
    "linspace": "return np.sum(np.linspace(s, 2.0, len(x)) * x) + np.linspace(0.0, s, num=5)[3]",
    "several arrays": "u, v = np.zeros(3), np.ones(2)\nu[1] = s\nv[0] = s * s\n"
    "return np.sum(u) + np.sum(v)",
    "array of a call": "u = doubled_in(x)\nu[0] = s\nreturn np.sum(doubled_in(a=u) * y)",
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


def interpreted(kernel, given):
    """What the interpreter makes of a call, without compiled code."""
    compiled = kernel(*given)
    kernel._use(_core.procedure.interpreted(kernel.procedure()))
    made = kernel(*given)
    kernel._use(None)
    assert type(made) is type(compiled)
    return made


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


def test_loops_over_known_ranges_stay_loops():
    text = "s = x\nfor i, v in enumerate(range(1000)):\n    s += i * v\nreturn s"
    kernel = knossos.register(made("long", "def construct(x: float) -> float:", text))
    assert kernel(0.5) == kernel.__wrapped__(0.5)
    assert len(kernel.source.splitlines()) < 40


@pytest.mark.long_tail
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
        for each, given in ((kernel, (x, y, s)), (kernel.vjp, (x, y, s, 1.0))):
            with_bits = interpreted(each, given)
            compiled = each(*given)
            compiled = compiled if isinstance(compiled, tuple) else (compiled,)
            with_bits = with_bits if isinstance(with_bits, tuple) else (with_bits,)
            for a, b in zip(compiled, with_bits, strict=True):
                assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        assert gx @ dx + gy @ dy + gs == pytest.approx(forward, rel=1e-12, abs=1e-12)
