"""Kernels as text in the printed scalar language."""

import numpy as np
import pytest

import composit
from composit import knossos

RELU3 = """
(x: float) ->
    let cube: float = multiply(0.3333333333333333, multiply(x, multiply(x, x)))
    select(less(x, 0), 0, select(less(x, 1), cube, subtract(x, 0.6666666666666666)))
"""


def relu3(x):
    if x < 0:
        return 0.0
    return 0.3333333333333333 * (x * (x * x)) if x < 1 else x - 0.6666666666666666


def test_values_and_derivatives():
    kernel = knossos.from_text("relu3", RELU3)
    for x in (-1.0, 0.5, 2.0):
        assert kernel(x) == relu3(x)
    assert kernel.grad(0.5) == pytest.approx(0.25, rel=1e-15) and kernel.grad(2.0) == 1.0
    x = np.linspace(-1, 2, 50)
    np.testing.assert_array_equal(kernel(x), [relu3(each) for each in x])
    assert kernel(x.astype("float32")).dtype == np.float32
    slope = composit.evaluate(composit.grad(lambda v: composit.sum(kernel(v)))(x))
    np.testing.assert_array_equal(slope, kernel.vjp(x, np.ones(50)))


def test_they_are_exported(tmp_path):
    kernel = knossos.from_text("relu3", RELU3)
    assert "const double cube = 0.3333333333333333 * (x * (x * x));" in kernel.source
    kernel.export(tmp_path)
    assert (tmp_path / "relu3.cpp").exists()


def test_several_results_and_integers():
    kernel = knossos.from_text("parts", "(x: float, n: int) -> (multiply(x, float(n)), floor(x))")
    assert kernel(2.5, 3) == (7.5, 2.0)


def test_other_texts_are_refused():
    with pytest.raises(ValueError, match=r"parse: line 1, column 15: there is no function sinus"):
        knossos.from_text("f", "(x: float) -> sinus(x)")
    with pytest.raises(TypeError, match=r"from_text: x is float16\. float, int or bool is req"):
        knossos.from_text("f", "(x: float16) -> x")
    in_loop = "loop(n = a, m = b; while not_equal(m, 0); (m, remainder(n, m)); at most 93)[0]"
    for text, divisor in (("divide(a, b)", "b"), (in_loop, "m")):
        with pytest.raises(ValueError, match=rf"of integers by {divisor}, which may be 0\. A numb"):
            knossos.from_text("f", f"(a: int, b: int) -> {text}")
    safe = in_loop.replace("remainder", "numpy.remainder")
    assert knossos.from_text("f", f"(a: int, b: int) -> {safe}")(12, 18) == 6
