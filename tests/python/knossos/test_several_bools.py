"""Bools among several results: exports are silent under both compilers, and hold what Python
finds."""

# ruff: noqa: F821

import itertools
import subprocess

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor


def both(a: bool, b: bool) -> tuple[bool, bool]:
    return a & b, a | b


def mixed(a: bool, b: bool, n: int) -> tuple[bool, bool, float]:
    return (a and not b) or n == 2, not (a or b), 1.0 * n


def compared(a: bool, b: bool, n: int) -> tuple[bool, bool, bool]:
    return (n < 2) & (n > -1), (n < 1) ^ (b | a), (a & b) != (n == 1)


def found(x: "Tensor[float, n]", a: bool) -> tuple[bool, bool]:
    c = False
    for v in x:
        c = c | (v > 1.0)
    return c & a, c | a


BOOLS = [False, True]
CASES = [
    (both, list(itertools.product(BOOLS, BOOLS))),
    (mixed, list(itertools.product(BOOLS, BOOLS, range(-1, 4)))),
    (compared, list(itertools.product(BOOLS, BOOLS, range(-1, 4)))),
    (found, [(np.array(x), a) for x in ([0.5, 2.0], [0.5]) for a in BOOLS]),
]


@pytest.mark.parametrize("function, given", CASES)
def test_bools_among_several_results(function, given, tmp_path):
    kernel = knossos.register(function)
    for arguments in given:
        assert kernel(*arguments) == function(*arguments)
    kernel.export(tmp_path)
    for compiler in ("g++", "clang++"):
        command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-c", "-o", "made.o"]
        subprocess.run([*command, f"{function.__name__}.cpp"], cwd=tmp_path, check=True)
