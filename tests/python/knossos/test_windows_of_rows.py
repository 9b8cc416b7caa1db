"""Tables of which loops keep the rows that are alive: the bits of the whole table, whichever rows
are read, however they were filled, in functions and in their derivatives."""

# ruff: noqa: F821

import linecache
import math
import os

import numpy as np
import pytest
import windows_grammar
from as_python import anew
from test_loops_in_blocks import interpreted, loaded, parts

from composit import _core
from composit.knossos import Tensor


def warping(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """A fill, an element of the first row, an element of the last."""
    n, m = len(x), len(y)
    cost = np.full((n + 1, m + 1), math.inf)
    cost[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            d = x[i] - y[j]
            cost[i + 1, j + 1] = d * d + min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
    return cost[n, m]


def alignment(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """A column and a row that loops of their own fill."""
    n, m = len(x), len(y)
    score = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        score[i, 0] = -0.4 * i
    for j in range(1, m + 1):
        score[0, j] = -0.4 * j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            both = score[i - 1, j - 1] + x[i - 1] * y[j - 1]
            score[i, j] = max(both, score[i - 1, j] - 0.4, score[i, j - 1] - 0.4)
    return score[n, m]


def affine_gaps(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """Of one table an element, of two a row before."""
    n, m = len(x), len(y)
    best = 0.0
    h = np.zeros((n + 1, m + 1))
    e = np.full((n + 1, m + 1), -1e9)
    f = np.full((n + 1, m + 1), -1e9)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            e[i, j] = max(h[i, j - 1] - 0.7, e[i, j - 1] - 0.2)
            f[i, j] = max(h[i - 1, j] - 0.7, f[i - 1, j] - 0.2)
            h[i, j] = max(0.0, h[i - 1, j - 1] + x[i - 1] * y[j - 1], e[i, j], f[i, j])
            best = max(best, h[i, j])
    return best


def viterbi(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """The last row, by a loop over it."""
    score = np.zeros((len(x), len(y)))
    score[0] = y * x[0]
    for t in range(1, len(x)):
        for j in range(len(y)):
            best = -math.inf
            for i in range(len(y)):
                best = max(best, score[t - 1, i] - 0.1 * (i - j) ** 2)
            score[t, j] = best + x[t] * y[j]
    return np.max(score[-1])


def waves(x: "Tensor[float, n]", y: "Tensor[float, m]", steps: int) -> "Tensor[float, m]":
    """Three rows, of which the last is given; how many there are is an argument."""
    u = np.zeros((steps + 2, len(y)))
    u[0] = y
    u[1] = y
    for t in range(1, steps + 1):
        for i in range(1, len(y) - 1):
            curved = u[t, i - 1] - 2 * u[t, i] + u[t, i + 1]
            u[t + 1, i] = 2 * u[t, i] - u[t - 1, i] + 0.3 * curved * x[t % len(x)]
    return u[steps + 1].copy()


def edits(x: "Tensor[int, n]", y: "Tensor[int, m]") -> int:
    """Rows of lists, of integers."""
    d = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i in range(len(x) + 1):
        d[i][0] = i
    for j in range(len(y) + 1):
        d[0][j] = j
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            same = 0 if x[i - 1] == y[j - 1] else 1
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + same)
    return d[len(x)][len(y)]


def from_the_end(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """Rows from the last to the first."""
    n, m = len(x), len(y)
    value = np.zeros((n + 1, m + 1))
    for j in range(m + 1):
        value[n, j] = 0.1 * j
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            value[i, j] = x[i] * y[j] + max(value[i + 1, j + 1], value[i, j + 1] * 0.5)
    return value[0, 0]


def rabbits(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """Elements of a line: three numbers."""
    n = len(x)
    f = np.zeros(n + 2)
    f[0], f[1] = 0.5, y[0]
    for i in range(n):
        f[i + 2] = 0.6 * f[i + 1] + 0.3 * f[i] + x[i]
    return f[n + 1]


FUNCTIONS = (
    warping, alignment, affine_gaps, viterbi, waves, edits, from_the_end, rabbits,
)  # fmt: skip


def arguments(function, n, m):
    random = np.random.default_rng(n + 10 * m)
    if function is edits:
        return random.integers(3, size=n), random.integers(3, size=m)
    more = (n,) if function is waves else ()
    return random.normal(size=n), random.normal(size=m), *more


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bits_are_those_of_whole_tables(function):
    kernel, other = anew(function), interpreted(anew(function))
    for n, m in ((1, 1), (1, 4), (2, 3), (5, 2), (7, 9), (3, 40), (40, 33)):
        given = arguments(function, n, m)
        value = kernel(*given)
        np.testing.assert_array_equal(value, other(*given))
        np.testing.assert_array_equal(value, function(*given))
        if function is edits:
            continue
        dy = np.random.default_rng(1).normal(size=np.shape(value)) if np.shape(value) else 1.5
        slow = interpreted(anew(function).vjp)
        for one, same in zip(parts(kernel.vjp(*given, dy)), parts(slow(*given, dy))):
            np.testing.assert_array_equal(one, same)


def test_which_tables_are_rows():
    """All of these, in text that is read as well; in derivatives the tables' gradients."""
    for function in FUNCTIONS:
        kernel = anew(function)
        for text in (loaded(kernel), kernel.source):
            own = text.split(f"{function.__name__}_vjp(")[0]
            assert ("std::swap" in own) == (function is not rabbits), function.__name__
            assert "std::vector<double> f" not in own if function is rabbits else True
    assert "std::swap(dcost" in loaded(anew(warping).vjp)
    # What the way back reads is there as a whole.
    assert "std::swap(cost" not in loaded(anew(warping).vjp)


def behind_a_while(x: "Tensor[float, n]", limit: float) -> float:
    """A row of each iteration's own, behind a loop that counts nothing."""
    s = 1.0
    while s < limit:
        s = s * 2.0
    t = np.zeros((len(x), len(x)))
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            t[i, j] = x[i] * x[j] + s
        for j in range(1, len(x)):
            total += t[i, j] * t[i, j - 1]
    return total


def test_rows_behind_a_loop_that_counts_nothing():
    kernel, x = anew(behind_a_while), np.arange(5.0)
    assert kernel(x, 3.0) == behind_a_while(x, 3.0) == 1560.0
    assert "std::vector<double> t" not in kernel.source.split("behind_a_while_vjp(")[0]


def test_gradients_that_are_0_are_passed_sixteen_at_once():
    kernel = anew(warping)
    text = loaded(kernel.vjp)
    assert "< 16" in text and "continue;" in text and "< 16" not in kernel.vjp.source


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_gradients_that_are_no_numbers_are_not_passed(dtype):
    x, y = np.arange(5, dtype=dtype), np.linspace(0, 3, 50, dtype=dtype)
    kernel = anew(warping)
    slow = kernel.vjp.procedure(np.dtype(dtype))
    for dy in (math.nan, -0.0, 1.0):
        found = kernel.vjp(x, y, dtype(dy))
        other = anew(warping).vjp
        other._use(_core.procedure.interpreted(slow), np.dtype(dtype))
        for one, same in zip(found, other(x, y, dtype(dy)), strict=True):
            np.testing.assert_array_equal(one, same)
            assert (dy == dy) or np.isnan(one).any()


def skipped(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """Rows that are read behind the loop, which no window has."""
    a = np.zeros((len(x) + 1, len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            a[i + 1, j] = 0.5 * a[i, j] + x[i] * y[j]
    return a[1, 0] + a[-1, 0]


def stopped(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """A loop that ends early, and a row behind it."""
    a = np.full((len(x) + 1, len(y)), 0.25)
    for i in range(len(x)):
        if x[i] > 1:
            break
        for j in range(len(y)):
            a[i + 1, j] = 0.5 * a[i, j] + x[i] * y[j]
    return a[len(x), 0]


def around(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    """The row before the first is the last one."""
    a = np.ones((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            a[i, j] = 0.5 * a[i - 1, j] + x[i] * y[j]
    return a[len(x) - 1, 0]


@pytest.mark.parametrize("function", (skipped, stopped, around))
def test_tables_that_are_needed_whole(function):
    kernel = anew(function)
    assert "std::swap" not in loaded(kernel)
    for n in (1, 3, 6):
        x, y = np.random.default_rng(n).normal(size=n), np.random.default_rng(1).normal(size=2)
        assert kernel(x, y) == function(x, y)


def test_negative_extents_are_told():
    with pytest.raises(ValueError, match="negative"):
        anew(waves)(np.ones(2), np.ones(3), -4)


def outcome(call, *given):
    try:
        return [np.asarray(each) for each in parts(call(*given))]
    except (IndexError, ValueError, ZeroDivisionError) as error:
        return type(error)


def compare(one, other, text):
    if isinstance(one, type) or isinstance(other, type):
        assert one == other, text
        return
    for mine, same in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, same, err_msg=text)


def random_kernel(seed):
    random = np.random.default_rng(seed)
    text = windows_grammar.HEADER + windows_grammar.WindowsWriter(random, "kernel").text()
    file = f"<windows {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    found: dict = {"__name__": __name__}
    exec(compile(text, file, "exec"), found)
    return text, found["kernel"]


def calls_of(seed):
    random = np.random.default_rng(seed)
    for n, m in ((1, 1), (1, 3), (4, 1), (3, 4), (2, 0), (5, 2), (3, 36)):
        yield random.normal(size=n), random.normal(size=m), 0.7, int(random.integers(4))


def whole_text(procedure):
    """Of the tables as they are: text in C++ has their rows."""
    return _core.procedure.print_mlir([[procedure]])


def check_interpreted(seed):
    """The function and its derivative, with whole tables and with rows, interpreted."""
    text, function = random_kernel(seed)
    kernel, is_short = anew(function), False
    for made in (kernel, kernel.vjp):
        procedure = made.procedure()
        rows = _core.procedure.with_windows_of_rows(procedure)
        is_short |= whole_text(rows) != whole_text(procedure)
        whole = interpreted(made)
        with_rows = anew(function) if made is kernel else anew(function).vjp
        with_rows.procedure()
        with_rows._use(_core.procedure.interpreted(rows))
        for given in calls_of(seed):
            if made is not kernel:
                value = outcome(function, *given)
                if isinstance(value, type):
                    continue
                given = (*given, *[0.5 * np.ones(np.shape(each)) for each in value])
            found = outcome(whole, *given)
            compare(found, outcome(with_rows, *given), text)
            if made is kernel:
                expected = outcome(function, *given)
                if not isinstance(expected, type):
                    for one, same in zip(found, expected, strict=True):
                        np.testing.assert_allclose(one, same, rtol=1e-12, atol=1e-13)
    return is_short


@pytest.mark.long_tail
@pytest.mark.parametrize("part", range(4))
def test_random_kernels(part):
    """WINDOW_KERNELS is how many, interpreted; WINDOW_SEED gives others."""
    count = int(os.environ.get("WINDOW_KERNELS", "200")) // 4
    seed = int(os.environ.get("WINDOW_SEED", "0")) + part * count
    short = [check_interpreted(each) for each in range(seed, seed + count)]
    assert sum(short) > 0.4 * len(short)


@pytest.mark.long_tail
@pytest.mark.parametrize("part", range(int(os.environ.get("WINDOWS_COMPILED", "2"))))
def test_random_kernels_compiled(part):
    """Functions and both derivatives, compiled many at once, beside whole tables, interpreted."""
    seeds = range(50_000 + 20 * part, 50_000 + 20 * (part + 1))
    made = [random_kernel(seed) for seed in seeds]
    for number, (_, function) in enumerate(made):
        function.__name__ = f"kernel_{number}"
    kernels = [anew(function) for _, function in made]
    members = [[kernel, kernel.jvp, kernel.vjp] for kernel in kernels]
    family = [each.procedure() for three in members for each in three]
    codes = iter(_core.procedure.load_arrays(f"windows_{part}", [family], ""))
    for seed, (text, function), three in zip(seeds, made, members, strict=True):
        whole = anew(function)
        whole = [interpreted(each) for each in (whole, whole.jvp, whole.vjp)]
        for each in three:
            each._use(next(codes))
        for x, y, w, k in calls_of(seed):
            value = outcome(whole[0], x, y, w, k)
            compare(value, outcome(three[0], x, y, w, k), text)
            if isinstance(value, type):
                continue
            along = (x, y, w, k, np.cos(x), np.sin(y), 0.3)
            compare(outcome(whole[1], *along), outcome(three[1], *along), text)
            back = (x, y, w, k, *[0.5 * np.ones(each.shape) for each in value])
            compare(outcome(whole[2], *back), outcome(three[2], *back), text)
