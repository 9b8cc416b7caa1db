"""What is refused says what to write instead, and what it says works."""

import numpy as np
import pytest
from test_constructs import made

from composit import _core, knossos

HEAD = 'def construct(x: "Tensor[float, n]", a: "Tensor[float, m, n]", s: float, k: int)'

# The refused text, what the error says, and the text that follows it.
REFUSED = {
    "an element of an argument": (
        "x[0] = s\nreturn np.sum(x)",
        "an element of the argument x is assigned, and NumPy would change the caller's array. "
        "Write x = x.copy() before, and return x.",
        "x = x.copy()\nx[0] = s\nreturn x",
    ),
    "an argument in place": (
        "x /= np.sum(x)\nreturn x",
        "`x /= np.sum(x)` changes the argument x, and NumPy would change the caller's array. "
        "Write x = x.copy() before, and return x.",
        "x = x.copy()\nx /= np.sum(x)\nreturn x",
    ),
    "another name of an argument": (
        "y = x\ny[0] = s\nreturn y",
        "an element of y is assigned, which may be x or a part of it, so that NumPy would change "
        "x, too. Write x = x.copy() at the beginning, or .copy() where y is assigned.",
        "x = x.copy()\ny = x.copy()\ny[0] = s\nreturn y",
    ),
    "exchanged with an argument": (
        "new = x.copy()\nfor _ in range(k):\n    new[0] = x[0] * s\n    x, new = new, x\nreturn x",
        "Write x = x.copy() at the beginning",
        "x = x.copy()\nnew = x.copy()\nfor _ in range(k):\n    new[0] = x[0] * s\n    "
        "x, new = new, x\nreturn x",
    ),
    "a row": (
        "y = a * s\nrow = y[0]\nrow[0] = 1.0\nreturn y",
        "Write .copy() where row is assigned.",
        "y = a * s\nrow = y[0].copy()\nrow[0] = 1.0\nreturn y",
    ),
    "a list that grows as long as values say": (
        "out = []\nwhile s < 3.0:\n    out.append(s)\n    s += 1.0\nreturn np.sum(out)",
        "how often `out.append(s)` runs is not known before the kernel runs. Write out = "
        "np.zeros(n) before the loop, and out[i] = … in it.",
        "n, i = 3, 0\nout = np.zeros(n)\nwhile s < 3.0:\n    out[i] = s\n    s += 1.0\n    i += 1\n"
        "return np.sum(out)",
    ),
    "a list that a function inside grows": (
        "out = []\ndef put(v):\n    out.append(v)\n    return v\nput(s)\nreturn sum(out)",
        "how often `out.append(v)` runs is not known before the kernel runs.",
        "out = []\ndef put(v):\n    return v\nout.append(put(s))\nreturn sum(out)",
    ),
    "a list of lists of other lengths": (
        "out = []\nfor i in range(2):\n    out.append(x[: i + 1])\nreturn np.sum(out[1])",
        "out has elements that are float, or have extents that are computed. Numbers, or arrays "
        "whose extents are those of arguments, are required: write out = np.zeros(n) before the "
        "loop, and out[i] = … in it.",
        "out = np.zeros((2, 3))\nfor i in range(2):\n    out[i, : i + 1] = x[: i + 1]\n"
        "return np.sum(out[1])",
    ),
    "another list of one name": (
        "out = [s]\nout.append(s)\nif s > 1.0:\n    out = []\nreturn sum(out)",
        "out is another list here than before. A variable keeps its structure: use another name.",
        "out = [s]\nout.append(s)\nnone = []\nreturn sum(out) if s <= 1.0 else 0.0",
    ),
    "an array that grows": (
        "y = x * s\ny.append(s)\nreturn y",
        "append changes how many elements an array has",
        "n = len(x) + 1\ny = np.zeros(n)\ny[:-1] = x * s\ny[-1] = s\nreturn y",
    ),
    "no value behind a loop": (
        "for i in range(k):\n    y = s * i\nreturn y",
        "y may have no value here. Give it one on every path that leads here, as y = 0.0 before "
        "the branch or loop.",
        "y = 0.0\nfor i in range(k):\n    y = s * i\nreturn y",
    ),
    "no array behind a branch": (
        "if s > 0:\n    y = x * s\nreturn y",
        "as y = np.zeros(n) before the branch or loop.",
        "n = len(x)\ny = np.zeros(n)\nif s > 0:\n    y = x * s\nreturn y",
    ),
    "a sum without rounding": (
        "return math.fsum([v * s for v in x])",
        "math.fsum cannot be called in kernels. Write sum(…), whose order of summation is that of "
        "the values.",
        "return sum([v * s for v in x])",
    ),
    "a sum of an array without rounding": (
        "return math.fsum(x) * s", "Write sum(…)", "return sum(x) * s",
    ),
    "subscripts that are computed": (
        "t = 'ij,j'\nreturn np.einsum(t, a, x)",
        "'ij,j' is no number",
        "return np.einsum('ij,j', a, x)",
    ),
    "subscripts with keywords": (
        "return np.einsum('ij,j->i', a, x, optimize=True)",
        "the argument optimize of einsum, in `np.einsum('ij,j->i', a, x, optimize=T…`. Leave it "
        "out.",
        "return np.einsum('ij,j->i', a, x)",
    ),
    "two functions of one name": (
        "if s > 0:\n    f = lambda v: v * s\nelse:\n    f = lambda v: v - s\nreturn f(x[0])",
        "f is one function here and another one before. Give them two names, and choose between "
        "their values.",
        "f = lambda v: v * s\ng = lambda v: v - s\nreturn f(x[0]) if s > 0 else g(x[0])",
    ),
    "an extent of one of several paths": (
        "def f(m):\n    if m > 1.0:\n        k = int(m)\n        return np.zeros(k)\n    return x\n"
        "return np.sum(f(x[0]))",
        "the extent of an array is computed on one of several paths, and the array is one of them "
        "all. Compute the extent before the if, or the loop.",
        "def f(m):\n    k = int(m) if m > 1.0 else len(x)\n    if m > 1.0:\n        "
        "return np.zeros(k)\n    return np.ones(k)\nreturn np.sum(f(x[0]))",
    ),
    "arrays and numbers on several paths": (
        "y = x if s > 0 else 0.0\nreturn np.sum(y)",
        "it is a number on one path and an array of 1 axes on another. The same on all paths is "
        "required.",
        "y = x if s > 0 else np.zeros(len(x))\nreturn np.sum(y)",
    ),
    "an error that kernels do not know": (
        "if k < 0:\n    raise KeyError(k)\nreturn s",
        "`raise KeyError(k)` is not part of kernels. Write raise of one of ValueError, IndexError, "
        "AssertionError, TypeError, ZeroDivisionError, OverflowError, RuntimeError, LinAlgError, "
        "with a text.",
        "if k < 0:\n    raise ValueError(f'no {k}')\nreturn s",
    ),
    "integers in a list": (
        "y = [0] * k\ny[0] = s\nreturn sum(y)",
        "an element of y is float here, and int elsewhere. Write int(…), or make y of floats.",
        "y = [0.0] * k\ny[0] = s\nreturn sum(y)",
    ),
    "an element of a list at a computed place": (
        "y = [s, s * s, 1.0]\nreturn y[k]",
        "the index is not known, in `y[k]`. A literal integer, or a comprehension's, is required: "
        "write np.array(y)[k].",
        "y = [s, s * s, 1.0]\nreturn np.array(y)[k]",
    ),
    "a power of integers": (
        "return np.sum(x) * 2**k",
        "write float(x) ** n, or int(float(x) ** n).",
        "y = np.zeros(int(float(2) ** k))\nreturn np.sum(x) * float(2) ** k + len(y)",
    ),
    "a sum of some elements": (
        "return np.sum(x, where=x > 0)",
        "the argument where of sum, in `np.sum(x, where=x > 0)`. Write np.where(condition, x, "
        "other) for the array.",
        "return np.sum(np.where(x > 0, x, 0.0))",
    ),
    "a dictionary": (
        "d = dict(a=s, b=k)\nreturn d['a']",
        "dict cannot be called in kernels. Write a NamedTuple, or a variable for each value.",
        "first, second = s, k\nreturn first * second",
    ),
    "a list of several loops": (
        "return max([x[i] * x[j] for i in range(len(x)) for j in range(i)])",
        "a comprehension of several loops, in `[x[i] * x[j] for i in range(len(x)) f…`. Write out "
        "= [] and loops with out.append(…); sum, any and all take it.",
        "out = []\nfor i in range(len(x)):\n    for j in range(len(x)):\n"
        "        out.append(x[i] * x[j])\nreturn max(out)",
    ),
    "functions of functions": (
        "return sum(map(lambda v: v * s, x))",
        "map cannot be called in kernels. Write a comprehension: [f(v) for v in x].",
        "return sum([v * s for v in x])",
    ),
    "a root of an integer": (
        "return s * math.isqrt(k + 9)",
        "math.isqrt cannot be called in kernels. Write int(math.sqrt(n)), for n < 2**52.",
        "return s * int(math.sqrt(k + 9))",
    ),
    "an exponent apart": (
        "return math.ldexp(s, k)",
        "math.ldexp cannot be called in kernels. Write x * 2.0 ** n.",
        "return s * 2.0 ** k",
    ),
    "a complex number": (
        "return abs(complex(s, x[0]))",
        "complex cannot be called in kernels. Kernels have no complex numbers: write both parts as "
        "floats.",
        "re, im = s, x[0]\nreturn math.hypot(re, im)",
    ),
    "larger arrays": (
        "return np.sort(a)[0, 0]",
        "np.sort of an array of 2 axes, in `np.sort(a)`. An array of one axis is required; of "
        "larger ones, write a loop.",
        "y = np.zeros(a.shape)\nfor i in range(len(a)):\n    y[i] = np.sort(a[i])\nreturn y[0, 0]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    text, message, _ = REFUSED[name]
    with pytest.raises((NotImplementedError, TypeError, NameError, ValueError)) as caught:
        knossos.register(made(f"refused {name}", HEAD + ":", text)).procedure()
    assert message in str(caught.value)


@pytest.mark.parametrize("name", REFUSED)
def test_what_to_write_instead(name):
    function = made(f"instead {name}", HEAD + ":", REFUSED[name][2])
    kernel = knossos.register(function)
    kernel._use(_core.procedure.interpreted(kernel.procedure()))
    x, a = np.array([0.5, -1.0, 2.0]), np.arange(6.0).reshape(2, 3)
    got, want = kernel(x, a, 1.5, 2), function(x.copy(), a.copy(), 1.5, 2)
    np.testing.assert_allclose(got, want, rtol=1e-14)
    assert kernel.vjp.procedure().source
