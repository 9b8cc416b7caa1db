"""Loops that run in blocks where they are loaded, and columns that are copied apart: the bits of
the interpreter, whatever one iteration hands on to the next."""

# ruff: noqa: F821

import linecache
import math
import random as randomness

import numpy as np
import pytest
from as_python import anew

from composit import _core
from composit.knossos import Tensor


def kernel_matrix(x: "Tensor[float, n, d]", y: "Tensor[float, n]", scale: float) -> float:
    """A sum of an inner loop, a function of it, and a sum."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            squared = 0.0
            for k in range(x.shape[1]):
                squared += (x[i, k] - x[j, k]) ** 2
            total += y[i] * y[j] * math.exp(-math.sqrt(squared + 0.1) / scale)
    return total


def softened(x: "Tensor[float, n, 3]", m: "Tensor[float, n]") -> "Tensor[float, n, 3]":
    """Rows of three, of which the inner loop reads each."""
    a = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(len(x)):
            d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            factor = m[j] / (d0 * d0 + d1 * d1 + d2 * d2 + 0.01) ** 1.5
            a[i, 0] += factor * d0
            a[i, 1] += factor * d1
            a[i, 2] += factor * d2
    return a


def smoothed(z: "Tensor[float, n]", q: float) -> "Tensor[float, n]":
    """What one iteration hands on by an element, counted down."""
    p, y = np.zeros(len(z)), np.zeros(len(z))
    v = 1.0
    for k in range(len(z)):
        v = (v + q) / (v + q + 1.0)
        p[k] = v * z[k] / (v + 2.0)
    y[-1] = p[-1]
    for k in range(len(z) - 2, -1, -1):
        y[k] = p[k] + p[k] / (p[k] + q + 3.0) * (y[k + 1] - p[k]) + z[k] / (q + 2.0)
    return y


def guarded(x: "Tensor[float, n]", w: "Tensor[float, m, d]", where: "Tensor[int, n]") -> float:
    """Elements that are looked up, each after it was asked whether there is one."""
    total = 1.0
    for i in range(len(x)):
        s = 0.0
        for k in range(w.shape[1]):
            s += w[where[i], k] * x[i]
        total = total * 0.5 + math.tanh(s) / (1.0 + x[i] * x[i])
    return total


def neighbours(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """Contributions to three neighbours, and one that is read back."""
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        t = math.exp(x[i]) / (2.0 + x[i - 1] * x[i - 1])
        y[i - 1] += t
        y[i + 1] -= t / 3.0
        y[i] += t * x[i + 1] + 0.1 * y[i - 1]
    return y


def left_behind(x: "Tensor[float, n]", c: float) -> float:
    """Variables that are read behind the loop, and one that is read before it is written."""
    last, state, total = 0.0, c, 0.0
    for i in range(len(x)):
        s = 0.0
        for k in range(3):
            s += math.sin(x[i] + k)
        last = math.exp(s) / (1.0 + c * c)
        total += last * state
        state = 0.3 * state + s
    return total + last * state


FUNCTIONS = (kernel_matrix, softened, smoothed, guarded, neighbours, left_behind)


def cases(function):
    random = np.random.default_rng(0)
    for n in (1, 2, 15, 16, 17, 63, 64, 65, 130, 150):
        x, d = random.normal(size=n), (1, 3, 4)[n % 3]
        yield {
            kernel_matrix: (random.normal(size=(n, d)), x, 1.5),
            softened: (random.normal(size=(n, 3)), np.abs(x)), smoothed: (x, 0.3),
            guarded: (x, random.normal(size=(5, d)), random.integers(-5, 5, size=n)),
            neighbours: (x,), left_behind: (x, 0.7),
        }[function]  # fmt: skip


def interpreted(kernel):
    kernel._use(_core.procedure.interpreted(kernel.procedure()))
    return kernel


def loaded(kernel):
    return _core.procedure.print_loadable("kernel", [[kernel.procedure()]])


def parts(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bits_are_those_of_the_interpreter(function):
    kernel, other = anew(function), interpreted(anew(function))
    slow = interpreted(anew(function).vjp)
    random = np.random.default_rng(1)
    for given in cases(function):
        value = kernel(*given)
        np.testing.assert_array_equal(value, other(*given))
        np.testing.assert_allclose(value, function(*given), rtol=1e-12, atol=1e-12)
        dy = random.normal(size=np.shape(value)) if np.shape(value) else 1.0
        for one, same in zip(parts(kernel.vjp(*given, dy)), parts(slow(*given, dy))):
            np.testing.assert_array_equal(one, same)


def test_which_loops_run_in_blocks():
    for function in FUNCTIONS:
        kernel = anew(function)
        assert "block + 64" not in kernel.source  # of text that is read
        if function is not smoothed:  # of few quotients
            assert ("block + 64" in loaded(kernel)) == (function is not softened)
    assert "block + 64" in loaded(anew(smoothed).vjp)
    assert "x_column[j]" in loaded(anew(softened))


def test_what_lies_outside_is_told_as_ever():
    kernel = anew(guarded)
    x, w, where = np.ones(100), np.ones((5, 3)), np.zeros(100, int)
    where[70] = 5
    with pytest.raises(IndexError, match="5"):
        kernel(x, w, where)
    assert math.isfinite(kernel(x, np.ones((5, 0)), where))  # no element is read


def test_rows_that_meet_in_a_cache_run_as_ever():
    """Elements of neighbouring rows, of 4096 bytes each, are all in one place of a first cache."""
    text = loaded(anew(kernel_matrix))
    assert " % 128" in text or "remainder_int64" in text, text
    kernel, other = anew(kernel_matrix), interpreted(anew(kernel_matrix))
    x = np.random.default_rng(5).normal(size=(20, 128))
    assert kernel(x, x[:, 0].copy(), 30.0) == other(x, x[:, 0].copy(), 30.0)


class Grammar:
    """Loops of functions, inner sums, and what iterations hand on to one another."""

    def __init__(self, seed):
        self.pick = randomness.Random(seed)

    def value(self, names, depth=2):
        if depth == 0 or self.pick.random() < 0.2:
            return self.pick.choice(names)
        a, b = (self.value(names, depth - 1) for _ in range(2))
        form = self.pick.choice(
            ["{a} + {b}", "{a} - {b}", "({a}) * ({b})", "({a}) / (2.5 + ({b}) * ({b}))",
             "math.exp(-(({a}) ** 2))", "math.sin({a})", "max({a}, {b})",
             "math.sqrt(abs({a}) + 0.5)", "0.5 * ({a})"]
        )  # fmt: skip
        return form.format(a=a, b=b)

    def body(self):
        names, lines = ["x[i]", "z[i]", "x[i - 2]", "c", "s", "u"], []
        fixed = list(names)
        for number in range(self.pick.randint(3, 8)):
            value = self.value(names, 3)
            kind = self.pick.randrange(9)
            if kind < 3:
                lines.append(f"t{number} = {value}")
                names.append(f"t{number}")
            elif kind == 3:
                inner = self.value([*names, "w[i, k]", "w[k, 1]"])
                lines += [f"t{number} = {self.value(fixed, 1)}", "for k in range(m):",
                          f"    t{number} += {inner}"]  # fmt: skip
                names.append(f"t{number}")
            elif kind == 4:
                lines.append(self.pick.choice(["s += {}", "s = 0.4 * s + {}", "u -= {}"])
                             .format(value))  # fmt: skip
            elif kind == 5:
                place = self.pick.choice(["i", "i - 1", "i - 2", "i + 1", "2"])
                lines.append(f"y[{place}] += {value}")
            elif kind == 6:
                lines.append(f"y[i] = {value} + {self.pick.choice(['y[i - 1]', 'y[i]', 'c'])}")
            elif kind == 7:
                lines += [f"if {self.pick.choice(names)} > 0.1:", f"    s += {value}"]
            else:
                lines += ["for k in range(m):", f"    y[i - k] += w[i, k] * ({value})"]
        return lines

    def text(self, name):
        loop = self.pick.choice(["range(4, n - 1)", "range(n - 2, 3, -1)"])
        lines = [
            f"def {name}(x: 'Tensor[float, n]', z: 'Tensor[float, n]', w: 'Tensor[float, n, m]',",
            "        c: float) -> 'Tensor[float, n]':", "    n, m = len(x), w.shape[1]",
            "    y = np.zeros(n)", "    s, u = 0.5, c", f"    for i in {loop}:",
            *("        " + line for line in self.body()), "    y[0] += s * u", "    return y",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"


def defined(text, name):
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"np": np, "math": math, "Tensor": Tensor}
    exec(compile(text, file, "exec"), names)
    return names[name]


@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(k, marks=pytest.mark.long_tail) for k in range(10, 200))]
)
def test_random_loops_have_the_bits_of_the_interpreter(seed):
    name = f"loop_{seed}"
    text = Grammar(seed).text(name)
    function = defined(text, name)
    kernel, other = anew(function), interpreted(anew(function))
    slow = interpreted(anew(function).vjp)
    random = np.random.default_rng(seed)
    for n in (9, 23, 69, 150):
        x, z, dy = random.normal(size=(3, n))
        given = x, z, 0.3 * random.normal(size=(n, 3)), 0.7
        with np.errstate(all="ignore"):
            found = kernel(*given)
            np.testing.assert_array_equal(found, other(*given), text)
            if n == 9:  # some states grow, and tell the last bits of functions apart
                np.testing.assert_allclose(found, function(*given), 1e-9, 1e-9, err_msg=text)
            for one, same in zip(kernel.vjp(*given, dy), slow(*given, dy)):
                np.testing.assert_array_equal(one, same, text)


def far_column(x: "Tensor[float, n, m]", y: "Tensor[float, q]") -> float:
    total = 0.0
    for i in range(len(y)):
        for j in range(len(x)):
            total += math.exp(-x[j, 500000000] * y[i])
    return total


def far_column_if_there(x: "Tensor[float, n, m]", y: "Tensor[float, q]") -> float:
    total = 0.0
    for i in range(len(y)):
        for j in range(len(x)):
            if x.shape[1] > 500000000:
                total += math.exp(-x[j, 500000000] * y[i])
    return total


def test_columns_that_are_not_there():
    """They are copied apart only where they are."""
    x, y = np.ones((1000, 2)), np.ones(3)
    with pytest.raises(IndexError):
        anew(far_column)(x, y)
    assert anew(far_column)(x, np.ones(0)) == 0
    assert anew(far_column_if_there)(x, y) == 0


def asserted(x: "Tensor[float, n, d]", y: "Tensor[float, n]", a: int, b: int) -> float:
    total = 0.0
    for i in range(len(x)):
        assert i < a or i >= b
        s = 0.0
        for k in range(x.shape[1]):
            s += x[i, k] * x[i, k]
        total += y[i] * math.exp(-math.sqrt(s + 0.1))
    return total


def test_an_assertion_that_holds_in_each_iteration():
    """Each for its own reason: no end of a block stands for both."""
    x, y = np.random.default_rng(0).standard_normal((200, 5)), np.ones(200)
    assert anew(asserted)(x, y, 10, 10) == asserted(x, y, 10, 10)
    with pytest.raises(AssertionError):
        anew(asserted)(x, y, 10, 12)
