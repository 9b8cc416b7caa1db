"""Loops that add to neighbouring elements, of which each element sums what it receives where the
text is loaded: the bits of one addition behind the other, zeros' signs and NaN too."""

# ruff: noqa: F821

import os
import random as randomness

import numpy as np
import pytest
from as_python import anew
from test_loops_in_blocks import defined, loaded, parts

from composit import _core
from composit.knossos import Tensor


def heat(u: "Tensor[float, n, m]", k: "Tensor[float, n, m]", steps: int) -> "Tensor[float, n, m]":
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                new[i, j] = u[i, j] + k[i, j] * (around - 4 * u[i, j])
        u, new = new, u
    return u


def spread(u: "Tensor[float, n, m]", k: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    """A function that adds: to five columns of one row, one of the row above, counted down."""
    y = 0.5 * u
    for i in range(1, len(u)):
        for j in range(u.shape[1] - 3, 1, -1):
            g = u[i, j] * k[i, j]
            y[i, j - 2] += g
            y[i, j + 2] -= g * u[i, j]
            y[i - 1, j + 1] += g
            y[i, j] += g
            y[i, j] -= k[i, j]
    return y


def corners(u: "Tensor[float, n, m]", k: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    """One element of each of two rows, of different columns."""
    y = np.zeros(u.shape)
    for i in range(1, len(u) - 1):
        for j in range(1, u.shape[1] - 1):
            y[i - 1, j - 1] += u[i, j]
            y[i + 1, j + 1] += k[i, j]
            y[i, j] -= u[i, j]
    return y


def blurred(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
    """Its gradient adds to five neighbours; of float32."""
    y = np.zeros_like(x)
    for i in range(2, len(x) - 2):
        y[i] = (0.5 * x[i - 2] + x[i - 1] + 3.0 * x[i] + x[i + 1] - 0.25 * x[i + 2]) / 4.0
    return y * w


def far(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """Elements between the two stay as they are."""
    y = -0.0 * x
    for i in range(len(x) - 7):
        y[i] += x[i]
        y[i + 7] += 0.25 * x[i + 3]
    return y


def read_too(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """What iterations read of the array is what they have added to it."""
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i - 1] += x[i]
        y[i + 1] += x[i] * 0.5 + y[i]
    return y


def handed_on(x: "Tensor[float, n]", c: float) -> "Tensor[float, n]":
    y, s = np.zeros(len(x)), c
    for i in range(1, len(x) - 1):
        s = 0.5 * s + x[i]
        y[i - 1] += s
        y[i + 1] += x[i]
    return y


SUMMED = (spread, corners, far)
FUNCTIONS = (heat, *SUMMED, blurred, read_too, handed_on)


def numbers(random, shape, kind):
    """Ordinary ones; ones of very different sizes; and some that are no numbers, or no finite
    ones, and zeros of both signs."""
    x = random.normal(size=shape)
    if kind == 1:
        x *= 10.0 ** random.integers(-12, 12, size=shape)
    if kind == 2:
        x = np.where(random.random(shape) < 0.5, random.choice([0.0, -0.0], size=shape), x)
        x = np.where(random.random(shape) < 0.03, random.choice([np.inf, np.nan], size=shape), x)
    return x


def cases(function):
    random = np.random.default_rng(3)
    for kind, n in enumerate((1, 2, 3, 8, 17, 18, 19, 23, 40, 257, 258, 260, 263, 530)):
        x, u, k = (numbers(random, s, kind % 3) for s in (n, (4, n), (4, n)))
        yield {
            heat: (u, k, 3), spread: (u, k), corners: (u, k), far: (x,), read_too: (x,),
            blurred: (x.astype(np.float32), 0.75),
            handed_on: (x, 0.3),
        }[function]  # fmt: skip


def check_bits(found, wanted, text=""):
    for one, same in zip(parts(found), parts(wanted), strict=True):
        one, same = np.asarray(one), np.asarray(same)
        assert one.dtype == same.dtype
        np.testing.assert_array_equal(one, same, text)
        signs = [np.signbit(each[~np.isnan(each)]) for each in (one, same)]
        np.testing.assert_array_equal(*signs, text)


DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


def interpreted(kernel, dtype=DOUBLE, change=lambda procedure: procedure):
    kernel.procedure()
    procedure = change(kernel.procedure(dtype))
    kernel._use(_core.procedure.interpreted(procedure), dtype)
    return kernel


def check(function, calls, text=""):
    """The function, then its derivative: as they are loaded; interpreted; and interpreted with
    sums for each element."""
    random = np.random.default_rng(4)
    change = _core.procedure.with_neighbours_summed
    sides = [anew(function) for _ in range(3)]
    slopes = [anew(function).vjp for _ in range(3)]
    dtype = SINGLE if function is blurred else DOUBLE
    for three in (sides, slopes):
        interpreted(three[1], dtype)
        interpreted(three[2], dtype, change)
    with np.errstate(all="ignore"):
        for given in calls:
            values = [each(*given) for each in sides]
            for each in (values[0], values[2]):
                check_bits(each, values[1], text)
            dy = [random.normal(size=np.shape(each)) for each in parts(values[0])]
            dy = [np.asarray(each, dtype) for each in dy]
            found = [each(*given, *dy) for each in slopes]
            for each in (found[0], found[2]):
                check_bits(each, found[1], text)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_bits_are_those_of_one_addition_after_the_other(function):
    check(function, cases(function))


@pytest.mark.parametrize("function", SUMMED, ids=lambda each: each.__name__)
def test_values_are_those_of_python(function):
    kernel = anew(function)
    with np.errstate(all="ignore"):
        for given in cases(function):
            check_bits(kernel(*given), function(*given))


def test_which_loops_sum():
    for function in FUNCTIONS:
        kernel = anew(function)
        assert "block + 256" not in kernel.source  # of text that is read
        assert ("block + 256" in loaded(kernel)) == (function in SUMMED), function
    slope = anew(heat).vjp
    assert "block + 256" in loaded(slope)
    assert "fetch_ahead(" in loaded(slope) and "fetch_ahead" not in slope.procedure().source
    assert "block + 256" in loaded(anew(blurred).vjp)


class Grammar:
    """Loops over one or two axes that add to neighbours, and do other things beside."""

    def __init__(self, seed):
        self.pick = randomness.Random(seed)

    def value(self, names, depth=2):
        if depth == 0 or self.pick.random() < 0.2:
            return self.pick.choice(names)
        a, b = (self.value(names, depth - 1) for _ in range(2))
        form = self.pick.choice(
            ["{a} + {b}", "{a} - {b}", "({a}) * ({b})", "max({a}, {b})", "0.5 * ({a})",
             "({a} if {b} > 0.2 else {b})", "({a}) / (2.0 + ({b}) * ({b}))"]
        )  # fmt: skip
        return form.format(a=a, b=b)

    def index(self, counter, most):
        shift = self.pick.randint(-most, most)
        return counter if shift == 0 else f"{counter} {'+' if shift > 0 else '-'} {abs(shift)}"

    def body(self, widest):
        names, lines = ["x[i, j]", "z[i, j]", "x[i - 1, j + 2]", "z[i, j - 1]", "c"], []
        for number in range(self.pick.randint(3, 8)):
            value = self.value(names)
            kind = self.pick.randrange(10)
            array = self.pick.choice("yyyv")
            if kind < 3:
                lines.append(f"t{number} = {value}")
                names.append(f"t{number}")
            elif kind < 8:
                row = self.index("i", 1)
                column = self.index("j", widest)
                lines.append(f"{array}[{row}, {column}] {self.pick.choice('+-')}= {value}")
            elif kind == 8:
                lines.append(f"w[i, j] = {value}")
                names += ["w[i, j]"] * (self.pick.random() < 0.5)
            else:
                other = self.pick.choice(["s += {}", "w[i, j + 1] += {}", "w[i, j] += {} + w[i, j]",
                                          "s = max(s, {})"])  # fmt: skip
                lines.append(other.format(value))
        return lines

    def text(self, name):
        rows = self.pick.choice(["range(2, n - 2)", "range(n - 3, 1, -1)"])
        columns = self.pick.choice(["range(4, m - 4)", "range(m - 5, 3, -1)", "range(4, i + 20)"])
        lines = [
            f"def {name}(x: 'Tensor[float, n, m]', z: 'Tensor[float, n, m]', c: float):",
            "    n, m = x.shape", "    y, v, w = 0.5 * z, np.zeros((n, m)), x.copy()",
            "    s = c", f"    for i in {rows}:", f"        for j in {columns}:",
            *("            " + line for line in self.body(self.pick.choice([1, 2, 4]))),
            "    return y, v + s, w",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"


def random_case(seed):
    name = f"stencil_{seed}"
    text = Grammar(seed).text(name)
    random = np.random.default_rng(seed)
    calls = [
        (numbers(random, (6, m), seed % 3), numbers(random, (6, m), seed % 2), 0.7)
        for m in (27, 40, 290)
    ]
    return text, defined(text, name), calls


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(k, marks=pytest.mark.long_tail) for k in range(3, 50))]
)
def test_random_loops(seed):
    text, function, calls = random_case(seed)
    check(function, calls, text)


@pytest.mark.long_tail
def test_random_loops_interpreted():
    """STENCIL_KERNELS is how many; STENCIL_SEED gives others."""
    first, count = (int(os.environ.get(f"STENCIL_{key}", d)) for key, d in
                    (("SEED", "1000"), ("KERNELS", "60")))  # fmt: skip
    changed = 0
    for seed in range(first, first + count):
        text, function, calls = random_case(seed)
        for is_slope in (False, True):
            one, same = (anew(function).vjp if is_slope else anew(function) for _ in range(2))
            plain = one.procedure()
            interpreted(one)
            interpreted(same, change=_core.procedure.with_neighbours_summed)
            texts = {
                _core.procedure.print_mlir([[each]])
                for each in (plain, _core.procedure.with_neighbours_summed(plain))
            }
            changed += len(texts) == 2
            for given in calls:
                if is_slope:
                    given = (*given, *(0.5 * np.ones(given[0].shape) for _ in range(3)))
                with np.errstate(all="ignore"):
                    check_bits(one(*given), same(*given), text)
    assert changed > count / 4
