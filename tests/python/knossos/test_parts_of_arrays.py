"""Names for parts of arrays: NumPy's share elements with the whole. Kernels compute what NumPy
does, or say that they do not."""

import numpy as np
import pytest
from test_constructs import made

from composit import knossos

HEAD = 'def construct(x: "Tensor[float, n]", s: float) -> float:'

SHARED = {
    "the whole changes": "y = x.copy()\nt = y[1:]\ny[1] = s\nreturn t[0]",
    "the part changes": "y = x.copy()\nt = y[1:]\nt[0] = s\nreturn y[1]",
    "a part of an argument changes": "t = x[1:]\nt[0] = s\nreturn x[1]",
    "a row": "a = np.zeros((2, 2))\nr = a[0]\na[0, 0] = s\nreturn r[0]",
    "a column": "a = np.zeros((2, 2))\nr = a[:, 1]\na[0] = s\nreturn r[0]",
    "transposed": "a = np.zeros((2, 2))\nt = a.T\na[0, 1] = s\nreturn t[1, 0]",
    "a row of a loop": "a = np.zeros((2, 2))\nfor r in a:\n    r[0] = s\nreturn a[1, 0]",
    "a row of zip": "a = np.zeros((2, 2))\nfor r, v in zip(a, x):\n    r[0] = v\nreturn a[1, 0]",
    "as an array": "y = np.asarray(x)\ny[0] = s\nreturn x[0]",
    "another name of a list": "y = [v for v in x]\nw = y\nw[0] = s\nreturn y[0]",
    "in place": "y = x.copy()\nt = y[1:]\ny += s\nreturn t[0]",
    "a part in place": "y = x.copy()\nt = y[1:]\nt += s\nreturn y[1]",
    "a part of a part": "y = x.copy()\nt = y[1:]\nu = t[1:]\ny[2] = s\nreturn u[0]",
    "in a branch": "y = x.copy()\nt = y[1:]\nif s > 0.0:\n    y[1] = s\nreturn t[0]",
    "of one of two": "y = x.copy()\nt = x[1:]\nif s > 0.0:\n    t = y[1:]\ny[1] = s\nreturn t[0]",
    "in the iteration before": "y = x.copy()\nt = y[1:]\na = 0.0\nfor i in range(3):\n    "
    "a += t[i]\n    y[i + 1] = s\nreturn a",
    "before a break": "y = x.copy()\nt = y[1:]\nfor i in range(3):\n    if s > 0.0:\n        "
    "y[1] = s\n        break\nreturn t[0]",
    "before a continue": "y = x.copy()\nt = y[1:]\na = 0.0\nfor i in range(3):\n    a += t[0]\n    "
    "if s > 0.0:\n        y[1] = s\n        continue\n    a += 1.0\nreturn a",
    "in a condition": "y = x.copy()\nt = y[1:]\nk = 0\nwhile t[0] < 2.0 and k < 3:\n    "
    "y[1] = 3.0\n    k += 1\nreturn k + s",
    "in a loop over it": "y = x.copy()\nt = y[1:]\na = 0.0\nfor v in t:\n    y[2] = s\n    "
    "a += v\nreturn a",
    "rows of a list": "a = np.zeros((2, 2))\nr = [row for row in a]\na[0, 0] = s\nreturn r[0, 0]",
    "a function's part": "y = x.copy()\nt = later(y)\ny[1] = s\nreturn t[0]",
    "assigned in a loop over it": "y = x.copy()\nfor v in y:\n    y = y * 2.0\n    y[1] = v\n"
    "return y[0]",
    "changed behind the loop's other name": "best = x\nfor i in range(3):\n    new = best * s\n    "
    "if s > 0.0:\n        best = new\n    new[0] = s\nreturn best[0]",
    "the past array of a name": "y = x * s\nz = y\nw = y\ny = y + 1.0\nz[0] = s\nreturn w[0]",
    "of a tuple": "y = x.copy()\nfor a in (y, x):\n    y[0] = s\n    y = y * 2.0\nreturn y[0]",
}  # fmt: skip

APART = {
    "the past array of a name": "y = x * s\nz = y\ny = y + 1.0\nz[0] = s\nreturn y[0] + z[0]",
    "made of its own part": "y = x * s\ny = y[1:]\ny[0] = s\nreturn y[0] + y[1]",
    "a copy": "y = x.copy()\nt = y[1:].copy()\ny[1] = s\nt[1] = s\nreturn t[0] + y[2]",
    "read before": "y = x.copy()\nt = y[1:]\na = t[0]\ny[1] = s\nreturn a + y[1]",
    "computed": "y = x.copy()\nt = y[1:] * 1.0\ny[1] = s\nt[1] = s\nreturn t[0] + y[2]",
    "assigned again": "y = x.copy()\nt = y[1:]\ny[1] = s\nt = y[1:]\nreturn t[0]",
    "another array by then": "y = x.copy()\nt = y[1:]\ny = y * s\nreturn t[0] + y[1]",
    "the last row": "h = np.zeros((len(x), 2))\nlast = h[0]\nfor i in range(len(x)):\n    "
    "h[i] = np.tanh(last * s + x[i])\n    last = h[i]\nreturn np.sum(last) + h[1, 0]",
    "a row that is read first": "a = np.ones((3, 2))\nfor i in range(3):\n    r = a[i]\n    "
    "a[i] = r * s\nreturn np.sum(a)",
    "items that change": "y = x.copy()\nt = 0.0\nfor v in y:\n    y[3] = s\n    t += v\nreturn t",
    "computed items": "y = x.copy()\nt = 0.0\nfor v in y * 2.0:\n    y[3] = s\n    "
    "t += v\nreturn t",
    "items that are assigned": "y = x.copy()\nt = 0.0\nfor v in y:\n    y = y * 2.0\n    t += v\n"
    "return t + y[0]",
    "live elements of a tuple": "y = x.copy()\nt = 0.0\nfor a in (y, x):\n    y[0] = s\n    "
    "t += a[0]\nreturn t",
    "arrays that are assigned": "y = x.copy()\nt = 0.0\nfor a in (y, x, y[1:]):\n    "
    "y = y * 2.0\n    t += a[1] * y[0]\nreturn t",
    "a row by an index that changes": "a = np.ones((3, 2))\na[1] = x[:2]\nk = 1\nt = s\n"
    "for r, v in ((a[k], 2.0), (a[k - 1], 3.0)):\n    k = 0\n    t += r[0] * v\nreturn t",
    "a list of a comprehension": "y = [v * s for v in x]\ny[0] = 2.0\nreturn sum(y)",
}  # fmt: skip


def later(a: "knossos.Tensor[float, n]") -> "knossos.Tensor[float, m]":  # noqa: F821
    return a[1:]


def of(name, texts):
    function = made(f"part {name}", HEAD, texts[name])
    function.__globals__["later"] = later
    return function


@pytest.mark.parametrize("name", SHARED)
def test_what_numpy_shares_is_refused(name):
    with pytest.raises(TypeError, match=r"NumPy|nother name"):
        knossos.register(of(name, SHARED)).procedure()


@pytest.mark.parametrize("name", APART)
def test_as_numpy(name):
    function = of(name, APART)
    kernel = knossos.register(function)
    for s in (-0.5, 1.5):
        x = np.array([0.3, -1.25, 0.75, 2.0])
        assert kernel(x.copy(), s) == pytest.approx(function(x.copy(), s), rel=1e-14)
        dx, ds = kernel.grad(x, s)
        assert np.sum(dx * x) + ds * s == pytest.approx(kernel.jvp(x, s, x, s), rel=1e-12)
