"""Calls of functions of the library, and repeated ones of helpers, are calls in the C++."""

# ruff: noqa: F821

import math
import re
import shutil
import subprocess

import audited_numerics
import numpy as np
import pytest
import written
from as_python import check

from composit import knossos
from composit.knossos import Tensor

random = np.random.default_rng(3)
SQUARE = random.normal(size=(3, 3)) + 3 * np.eye(3)
WARNINGS = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null"]


def two_determinants(a: "Tensor[float, n, n]", b: "Tensor[float, m, m]") -> float:
    return np.linalg.det(a) * np.linalg.det(b) - np.linalg.det(a)


def of_each(a: "Tensor[float, k, n, n]", b: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(len(a)):
        if a[i, 0, 0] > 0.0:
            total += np.sum(np.linalg.solve(a[i], b))
        else:
            total += np.linalg.norm(b)
    return total


def area(a: "Tensor[float, 3]", b: "Tensor[float, 3]") -> float:
    return np.linalg.norm(np.cross(a, b))


def with_names_of_functions(a: "Tensor[float, 3]", b: "Tensor[float, 3]") -> float:
    cross = np.cross(a, b)
    norm = np.linalg.norm(cross)
    return norm * cross[0]


def middle(x: "Tensor[float, n]") -> float:
    return np.median(x) + np.max(x) * np.min(x)


def scaled(x):
    product = 1.0
    for k in range(len(x)):
        if x[k] == 0.0:
            return x * 0.0
        product *= x[k]
        x[k] = np.sin(x[k]) + x[k]
    return product * x


def of_scaled(x):
    return scaled(x * 1.0) + scaled(x * 2.0)


def calls_within_calls(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return of_scaled(x) * of_scaled(2.0 * x)


def turned(angle, p):
    c, s = math.cos(angle), math.sin(angle)
    q = np.zeros(2)
    q[0] = c * p[0] - s * p[1]
    q[1] = s * p[0] + c * p[1]
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + 1.0)
    q[0] = q[0] / length
    q[1] = q[1] / length
    return q


def chain(a: float, b: float, c: float, p: "Tensor[float, 2]") -> float:
    return np.sum(turned(c, turned(b, turned(a, p))))


CALLS = [
    (two_determinants, (SQUARE, SQUARE[:2, :2])),
    (of_each, (np.stack([SQUARE, -SQUARE]), random.normal(size=3))),
    (area, (random.normal(size=3), random.normal(size=3))),
    (with_names_of_functions, (random.normal(size=3), random.normal(size=3))),
    (middle, (np.array([3.0, 1.0, 2.0, 5.0]),)),
    (chain, (0.3, -0.7, 1.1, np.array([0.2, 0.9]))),
    (calls_within_calls, (random.normal(size=3),)),
]


@pytest.mark.parametrize("function, arguments", CALLS)
def test_values_and_derivatives_are_pythons(function, arguments):
    check(function, arguments)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("function", [function for function, _ in CALLS])
def test_exports_are_silent(function, compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    knossos.register(function).export(tmp_path)
    for more in ([], ["-DNDEBUG"]):
        made = subprocess.run([compiler, *WARNINGS, *more, f"{function.__name__}.cpp"],
                              cwd=tmp_path, capture_output=True, text=True)  # fmt: skip
        assert made.returncode == 0, made.stderr


def test_the_text_of_a_kernel_has_calls_alone():
    kernel = knossos.register(two_determinants)
    assert "for (" not in kernel.source and kernel.source.count("= det(") >= 2, kernel.source
    source = kernel.vjp.procedure().source
    assert source.count("det_vjp(") >= 2 and "for (" not in source, source
    gaussian = knossos.register(written.gaussian).vjp.procedure().source
    assert re.search(r"\bsolve\(", gaussian) and re.search(r"\bsolve_vjp\(", gaussian), gaussian
    assert "pivot != " not in gaussian


def test_equal_calls_call_one_function(tmp_path):
    knossos.register(two_determinants).export(tmp_path)
    text = (tmp_path / "two_determinants.cpp").read_text()
    # One for each dtype, which the kernel calls.
    assert len(re.findall(r"^double det\(", text, re.MULTILINE)) <= 2
    knossos.register(area).export(tmp_path)
    text = (tmp_path / "area.cpp").read_text()
    assert len(re.findall(r"^void cross\(", text, re.MULTILINE)) == 2  # double and float
    assert text.count(" cross(") - 2 >= 4  # those, from the functions and their derivatives


def test_no_variable_hides_a_function():
    source = knossos.register(with_names_of_functions).source
    assert "cross_2(" in source and "norm_2(" in source, source


def test_a_helper_that_is_called_again_is_a_function():
    source = knossos.register(chain).vjp.procedure().source
    assert len(re.findall(r"^\w+ turned\(", source, re.MULTILINE)) == 1, source
    assert source.count("turned(") >= 3, source
    assert re.search(r"turned_vjp\(", source), source


def test_each_call_adds_its_own_to_a_gradient():
    """What a helper reads beside its arguments gets a part of each call, in that call: else all
    that this takes would be handed out of it."""
    source = knossos.register(audited_numerics.pendulum).vjp.procedure().source
    calls = re.findall(r"^ +dlength = f_vjp\((.*?)\);", source, re.MULTILINE | re.DOTALL)
    assert len(calls) == 4 and all("dlength" in each for each in calls), source
    assert all(each.count(",") < 8 for each in calls), calls


def test_neighbouring_elements_are_set_at_once():
    source = knossos.register(written.camera).vjp.procedure().source
    assert "set_elements(&k[0], {0.0, -argument[2], argument[1], " in source, source
    assert "add_elements(&dw[0], {" in source, source


def powers(x: "Tensor[float, n]") -> "Tensor[float, n, 20]":
    y = np.empty((len(x), 20))
    for i in range(len(x)):
        v = x[i] / (1.0 + x[i] * x[i])
        w = v * v
        y[i] = (
            0.0, v, 2.0 * v, 3.0 * v, 4.0 * v, 5.0 * v, 6.0 * v, 7.0 * v, 8.0 * v, 9.0 * v,
            0.5, w, 2.0 * w, 3.0 * w, 4.0 * w, 5.0 * w, 6.0 * w, 7.0 * w, 8.0 * w, 9.0 * w,
        )  # fmt: skip
    return y


def test_many_neighbouring_elements_leave_the_loop_to_vectors():
    """A list of them in memory would be copied, and the loop around it computed one by one."""
    kernel = knossos.register(powers)
    x = random.normal(size=50)
    assert "set_elements(&y[i * 20]," in kernel.source, kernel.source
    assert "initializer_list" not in kernel.source
    v = x / (1.0 + x * x)
    wanted = np.stack([np.outer(v, np.arange(10.0)), np.outer(v * v, np.arange(10.0))], 1)
    wanted[:, 1, 0] = 0.5
    assert np.array_equal(kernel(x), wanted.reshape(50, 20))
