"""Sums to which an iteration adds several terms: g++ 11 to 13 make one reduction of them, and add
some twice where they do not lie in memory in that order (GCC's bug 110381). Values and derivatives
are those of the interpreter, to the bit.

FUZZ_SHORT_ROWS is how many random kernels are compiled, FUZZ_ARRAY_SEED gives others."""

# ruff: noqa: F821

import os
import subprocess

import numpy as np
import pytest
from short_rows_grammar import HEADER, ShortRowsWriter
from test_array_fuzz import module_of

from composit import _core, knossos
from composit.knossos import Tensor

COUNT = int(os.environ.get("FUZZ_SHORT_ROWS", "48"))
SEED = int(os.environ.get("FUZZ_ARRAY_SEED", "0"))
TOGETHER = 16


def backwards(x: Tensor[float, "n", 2]) -> float:
    s = 0.0
    for row in x:
        for v in reversed(row):
            s += v
    return s


def luminance(x: Tensor[float, "n", 3]) -> float:
    s = 0.0
    for i in range(len(x)):
        s += 0.0722 * x[i, 2]
        s += 0.7152 * x[i, 1]
        s += 0.2126 * x[i, 0]
    return s


def by_turns(x: Tensor[float, "n", 2]) -> float:
    s = 0.0
    for i in range(len(x)):
        t = s + x[i, 1]
        s = t - x[i, 0]
    return s


def in_an_element(x: Tensor[float, "n", 2]) -> Tensor[float, 2]:
    y = np.zeros(2)
    for i in range(len(x)):
        for j in range(2):
            y[1] += x[i, 1 - j]
        y[0] = y[0] + x[i, 1]
        y[0] = y[0] + x[i, 0]
    return y


def added(s: float, v: float) -> float:
    return s + v


def by_a_function(x: Tensor[float, "n", 2]) -> float:
    s = 0.0
    for i in range(len(x)):
        s = added(added(s, x[i, 1]), x[i, 0])
    return s


ONE = 1.0


def with_a_bound_that_has_a_name(x: Tensor[float, "n", 2]) -> float:
    n, k = x.shape
    s = 0.0
    for i in range(n):
        for j in range(k):
            s += x[i, k - 1 - j]
    return s


def bounded_by_a_condition(x: Tensor[float, "n", "m"]) -> float:
    s, m = 0.0, x.shape[1]
    if m == 2:
        for i in range(len(x)):
            for j in range(m):
                s += x[i, 1 - j]
    return s


def three(s: float, a: float, b: float) -> float:
    return s + b + a


def by_a_function_of_three(x: Tensor[float, "n", 2]) -> float:
    s = 0.0
    for i in range(len(x)):
        s = three(s, x[i, 0], x[i, 1])
    return s


def in_the_same_element(x: Tensor[float, "n", 2]) -> Tensor[float, 2]:
    y = np.zeros(2)
    for i in range(len(x)):
        for j in range(2):
            y[j // 2] += x[i, 1 - j]
            k = 0 if j < 2 else 1
            y[k] += x[i, j]
    return y


def counted_down(x: Tensor[float, "n", 2]) -> float:
    s = 0.0
    for i in range(len(x)):
        j = 1
        while j >= 0:
            s += x[i, j]
            j -= 1
    return s


def at_a_place(x: Tensor[float, "n", 2]) -> Tensor[float, 2]:
    y = np.zeros(2)
    at = np.array([1, 0])
    for i in range(len(x)):
        c = at[0]
        y[c] += x[i, 1]
        y[c] += x[i, 0]
    return y


def times_one(x: Tensor[float, "n", 2]) -> float:
    s = 0.0
    for i in range(len(x)):
        s = ONE * s + x[i, 1]
        s = (s + x[i, 0]) / 1.0
    return s


def around_a_loop_that_does_nothing(x: Tensor[float, "n", 2]) -> float:
    s = 0.0
    for i in range(len(x)):
        s += x[i, 1]
        for j in range(i, i):
            s += x[j, 0]
        s += x[i, 0]
    return s


def moved(x: Tensor[float, "n", 2], v: Tensor[float, "n", 2], dt: float) -> Tensor[float, "n", 2]:
    y = x.copy()
    for _ in range(3):
        y += dt * v
    return y


def one_at_a_time(x: Tensor[float, "n", "m"]) -> float:
    s = 0.0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            s += x[i, j]
    return s


def dot_products(x: Tensor[float, "n", 3]) -> Tensor[float, "n"]:
    y = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for j in range(3):
            s += x[i, 2 - j] * x[i, j]
        y[i] = s
    return y


def moved_by_names(
    x: Tensor[float, "n", 2], v: Tensor[float, "n", 2], dt: float
) -> Tensor[float, "n", 2]:
    n, k = x.shape
    y = x.copy()
    for _ in range(3):
        for i in range(n):
            for j in range(k):
                y[i, j] = y[i, j] + dt * v[i, j]
    return y


SUMS = [
    backwards, luminance, by_turns, in_an_element, by_a_function, with_a_bound_that_has_a_name,
    bounded_by_a_condition, by_a_function_of_three, in_the_same_element, counted_down, at_a_place,
    times_one, around_a_loop_that_does_nothing,
]  # fmt: skip
MOVED = [moved, moved_by_names]


def arguments_of(function, n, random):
    width = 3 if function in (luminance, dot_products) else 2
    x = random.normal(size=(n, width))
    return (x, random.normal(size=(n, width)), 0.25) if function in MOVED else (x,)


def same_bits(a, b):
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


def compare(members, calls, codes):
    """Compiled and interpreted results of kernels."""
    results = []
    for member, call, code in zip(members, calls, codes, strict=True):
        member._use(code)
        compiled = member(*call)
        member._use(_core.procedure.interpreted(member.procedure()))
        interpreted = member(*call)
        pairs = [(compiled, interpreted)]
        if isinstance(compiled, tuple):
            pairs = list(zip(compiled, interpreted, strict=True))
        for a, b in pairs:
            assert same_bits(a, b), (member.procedure().source, call)
        results.append(interpreted)
    return results


@pytest.mark.parametrize("function", [*SUMS, *MOVED, one_at_a_time, dot_products])
def test_bits_are_the_interpreters(function):
    kernel = knossos.register(function)
    members = [kernel, kernel.jvp, kernel.vjp]
    codes = _core.procedure.load_arrays(
        function.__name__, [[each.procedure() for each in members]], ""
    )
    random = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 8, 9, 16, 33):
        given = arguments_of(function, n, random)
        moves = [random.normal(size=np.shape(each)) for each in given]
        moves = [each if each.ndim else float(each) for each in moves]
        back = random.normal(size=np.shape(function(*given)))
        calls = [given, (*given, *moves), (*given, back if back.ndim else float(back))]
        value, *_ = compare(members, calls, codes)
        assert np.allclose(value, function(*given), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("function", SUMS)
def test_sums_of_several_terms_are_kept_in_order(function):
    assert "in_order(" in knossos.register(function).source


@pytest.mark.parametrize("function", [*MOVED, dot_products])
def test_others_are_plain(function):
    text = knossos.register(function).source
    assert "in_order(" not in text.partition("_vjp(")[0]


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_exported_files_do_the_same(compiler, tmp_path):
    knossos.register(moved).export(tmp_path)
    (tmp_path / "main.cpp").write_text(
        '#include "moved.hpp"\n#include <cstdio>\n'
        "int main() {\n"
        "    const double v[] = {1, 10, 100, 1000, 10000, 100000}, dy[] = {1, 2, 3, 4, 5, 6};\n"
        "    double x[6] = {}, dx[6], dv[6];\n"
        '    std::printf("%.17g", moved::moved_vjp(x, 3, v, 0.1, dy, dx, dv));\n}\n'
    )
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "moved.cpp", "main.cpp", "-o", "run"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    made = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True)
    assert float(made.stdout) == 3 * 654321


@pytest.mark.long_tail
@pytest.mark.parametrize("part", range(max(1, COUNT // TOGETHER)))
def test_random_kernels(part, tmp_path):
    random = np.random.default_rng([SEED, 2000 + part])
    writers = [ShortRowsWriter(random, f"kernel_{i}") for i in range(TOGETHER)]
    text = HEADER + "".join(each.text() for each in writers)
    module = module_of(tmp_path / f"short_rows_{part}.py", text)
    kernels = [knossos.register(getattr(module, each.name)) for each in writers]
    members = [[each, each.jvp, each.vjp] for each in kernels]
    family = [member.procedure() for each in members for member in each]
    codes = _core.procedure.load_arrays(f"short_rows_{part}", [family], "")
    for number, (writer, own) in enumerate(zip(writers, members, strict=True)):
        for n in (1, 2, 5, 11, 20):
            x, y, dx, dy, rz = 0.7 * random.normal(size=(5, n, writer.width))
            u, du = random.normal(size=(2, writer.width))
            w, dw, rs, rt = random.normal(size=4).tolist()
            calls = [(x, y, u, w), (x, y, u, w, dx, dy, du, dw), (x, y, u, w, rs, rt, rz)]
            value, forward, back = compare(own, calls, codes[3 * number : 3 * number + 3])
            wanted = own[0].__wrapped__(x, y, u, w)
            for a, b in zip(value, wanted, strict=True):
                assert np.allclose(a, b, rtol=1e-10, atol=1e-10)
            ahead = rs * forward[0] + rt * forward[1] + np.sum(rz * forward[2])
            behind = np.sum(back[0] * dx) + np.sum(back[1] * dy) + back[2] @ du + back[3] * dw
            size = sum(np.sum(np.abs(each)) for each in back)
            assert abs(ahead - behind) < 1e-9 * (1 + size), own[0].procedure().source
