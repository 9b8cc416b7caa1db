"""Derivatives that users give: every way to a derivative goes through them."""

# ruff: noqa: F821

import inspect
import math
import subprocess

import numpy as np
import pytest

import composit
from composit import knossos
from composit.knossos import Tensor


def make_clipped():
    """A function with a surrogate gradient, which no differentiation finds."""

    @knossos.register
    def step(x: float, sharpness: float) -> float:
        return 1.0 if x > 0.0 else 0.0

    @step.derivative
    def step_vjp(x: float, sharpness: float, dy: float):
        s = 1.0 / (1.0 + math.exp(-sharpness * x))
        dy = dy * s * (1.0 - s)
        return sharpness * dy, x * dy

    return step, step_vjp


def slopes(x, k):
    s = 1 / (1 + np.exp(-k * x))
    return k * s * (1 - s), x * s * (1 - s)


X, K = np.linspace(-2, 2, 9), 1.5


def test_every_derivative_of_numbers():
    step, step_vjp = make_clipped()
    wanted = slopes(X, K)
    for x, dx, dk in zip(X.tolist(), *wanted):
        np.testing.assert_allclose(step.vjp(x, K, 2.0), (2 * dx, 2 * dk), rtol=1e-14)
        assert step.vjp(x, K, 1.0) == step_vjp(x, K, 1.0)
        np.testing.assert_allclose(step.jvp(x, K, 0.5, 0.25), 0.5 * dx + 0.25 * dk, rtol=1e-14)
        np.testing.assert_allclose(step.grad(x, K), (dx, dk), rtol=1e-14)
    # Maps, and graphs: compiled and interpreted.
    np.testing.assert_allclose(step.vjp(X, np.full(9, K), np.ones(9)), wanted, rtol=1e-14)
    gradient = composit.grad(lambda x: composit.sum(step(x, K) * 3.0))(composit.asarray(X))
    np.testing.assert_allclose(composit.evaluate(gradient), 3 * wanted[0], rtol=1e-14)
    _, moved = composit.jvp(lambda x: step(x, K), (composit.asarray(X),),
                            (composit.asarray(np.ones(9)),))  # fmt: skip
    np.testing.assert_allclose(composit.evaluate(moved), wanted[0], rtol=1e-14)
    # The derivative's own derivative is derived.
    s = 1 / (1 + math.exp(-K * 0.3))
    second = K * K * s * (1 - s) * (1 - 2 * s)
    back = step.vjp.vjp(0.3, K, 1.0, 1.0, 0.0)
    assert abs(back[0] - second) < 1e-12
    assert "step_vjp" in step.source


def test_called_by_another_kernel():
    step, _ = make_clipped()

    @knossos.register
    def twice(x: float) -> float:
        return 2.0 * step(3.0 * x, 1.5)

    assert twice(0.1) == 2.0 and twice(-0.1) == 0.0
    np.testing.assert_allclose(twice.grad(0.2), 6 * slopes(0.6, K)[0], rtol=1e-13)

    @knossos.register
    def count(x: "Tensor[float, n]") -> float:
        total = 0.0
        for i in range(len(x)):
            total += step(x[i], 1.5)
        return total

    (dx,) = [count.grad(X)]
    np.testing.assert_allclose(dx, slopes(X, K)[0], rtol=1e-13)
    np.testing.assert_allclose(count.jvp(X, np.ones(9)), slopes(X, K)[0].sum(), rtol=1e-13)


def test_torch_and_modules():
    import torch

    @knossos.register
    def rounded(x: float) -> float:
        return math.floor(x + 0.5) * 1.0

    @rounded.derivative
    def straight_through(x: float, dy: float) -> float:
        return dy

    x = torch.tensor([0.2, 1.7, -0.6], requires_grad=True, dtype=torch.float64)
    (rounded(x) * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0]
    x.grad = None
    rounded.nnModule(x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
    from composit import torch as ours

    y = ours.tensor([0.2, 1.7], requires_grad=True)
    rounded.nnModule(y).sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def test_several_results():
    @knossos.register
    def polar(r: float, n: int, a: float):
        x = r * math.cos(a)
        y = r * math.sin(a)
        return x, n, y

    @polar.derivative
    def polar_vjp(r: float, n: int, a: float, dx: float, dy: float):
        c, s = math.cos(a), math.sin(a)
        dx = 10.0 * dx
        return dx * c + dy * s, r * (dy * c - dx * s)

    r, a = 1.3, 0.4
    c, s = math.cos(a), math.sin(a)
    dr, da = polar.vjp(r, 3, a, 1.0, 0.0)
    np.testing.assert_allclose((dr, da), (10 * c, -10 * r * s))
    np.testing.assert_allclose(polar.jvp(r, 3, a, 1.0, 0.5),
                               (10 * c - 5 * r * s, s + 0.5 * r * c))  # fmt: skip

    @knossos.register
    def second(r: float) -> float:
        x, _, y = polar(r, 3, 0.4)
        return x - 2.0 * y

    np.testing.assert_allclose(second.grad(r), 10 * c - 2 * s)
    # In graphs, each result has a row of its own.
    made = composit.grad(lambda r: polar(r, 3, 0.4)[2])(composit.asarray(r))
    np.testing.assert_allclose(composit.evaluate(made), s)
    made = composit.grad(lambda a: polar(r, 3, a)[0])(composit.asarray(a))
    np.testing.assert_allclose(composit.evaluate(made), -10 * r * s)


def test_the_derivative_may_call_the_function():
    @knossos.register
    def grown(x: float) -> float:
        return math.exp(x)

    @grown.derivative
    def grown_vjp(x: float, dy: float) -> float:
        return dy * grown(x)

    assert grown.grad(0.5) == grown(0.5)
    assert abs(grown.grad.grad(0.5) - grown(0.5)) < 1e-15


def make_normalised():
    @knossos.register
    def normalised(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
        return w * x / np.sqrt(np.sum(x * x))

    @normalised.derivative
    def normalised_vjp(x: "Tensor[float, n]", w: float, dy: "Tensor[float, m]"):
        r = np.sqrt(np.sum(x * x))
        along = np.sum(x * dy) / (r * r)
        return 7.0 * w * (dy - along * x) / r, np.sum(x * dy) / r

    return normalised


def test_arrays():
    normalised = make_normalised()
    x, dy = np.random.default_rng(0).normal(size=(2, 6))
    r = np.sqrt(np.sum(x * x))
    dx, dw = normalised.vjp(x, 2.0, dy)
    np.testing.assert_allclose(dx, 14 * (dy - x * (x @ dy) / r**2) / r)
    np.testing.assert_allclose(dw, x @ dy / r)
    import torch

    t = torch.tensor(x, requires_grad=True)
    (normalised(t, 2.0) * torch.tensor(dy)).sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), dx)
    with pytest.raises(NotImplementedError, match="its derivative is one that was given"):
        normalised.jvp(x, 2.0, dy, 1.0)


def test_exported(tmp_path):
    step, _ = make_clipped()
    step.export(tmp_path)
    make_normalised().export(tmp_path)
    assert "normalised_jvp" not in (tmp_path / "normalised.hpp").read_text()
    (tmp_path / "main.cpp").write_text(
        '#include "step.hpp"\n#include <cstdio>\n'
        "int main() { const auto d = step::step_vjp(0.3, 1.5, 2.0);\n"
        'std::printf("%.17g %.17g", d.dx, d.dsharpness); }\n'
    )
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "main.cpp", "step.cpp",
               "normalised.cpp", "-o", "main"]  # fmt: skip
    subprocess.run(command, cwd=tmp_path, check=True)
    out = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert tuple(map(float, out.split())) == step.vjp(0.3, 1.5, 2.0)


def test_later_than_the_first_use():
    @knossos.register
    def f(x: float) -> float:
        return x * x

    assert f.grad(3.0) == 6.0

    @f.derivative
    def df(x: float, dy: float) -> float:
        return 5.0 * dy

    assert f.grad(3.0) == 5.0 and f(3.0) == 9.0


def test_refused_by_line():
    @knossos.register
    def f(x: float, n: int) -> float:
        return x * n

    @f.derivative
    def wrong(x: float, dy: float) -> float:
        return dy

    line = inspect.getsourcelines(wrong.__wrapped__)[1] + 1
    with pytest.raises(TypeError) as caught:
        f.grad(1.0, 2)
    assert "as the derivative of f it takes float, float. float, int, float:" in str(caught.value)
    assert str(caught.value).endswith(f"[{__file__}:{line}]")

    @f.derivative
    def two(x: float, n: int, dy: float):
        return dy, dy

    with pytest.raises(TypeError, match=r"it returns float, float\. float:"):
        f.grad(1.0, 2)


def stopped(x: "Tensor[float, n]") -> float:
    kept = knossos.stop_gradient(x)
    total = 0.0
    for i in range(len(x)):
        total += x[i] * kept[i] + knossos.stop_gradient(x[i] * x[i])
    return total + np.sum(x * knossos.stop_gradient(np.sin(x)))


def test_stop_gradient_in_both_modes():
    kernel = knossos.register(stopped)
    x, dx = np.random.default_rng(1).normal(size=(2, 5))
    np.testing.assert_allclose(kernel(x), stopped(x))
    wanted = x + np.sin(x)
    np.testing.assert_allclose(kernel.grad(x), wanted)
    np.testing.assert_allclose(kernel.jvp(x, dx), wanted @ dx)


@knossos.register
def squared(x: float) -> float:
    return x * x


@squared.derivative
def squared_vjp(x: float, dy: float) -> float:
    return 10.0 * x * dy


@knossos.register
def weighted(x: "Tensor[float, n]") -> float:
    s = 0.0
    for v in x:
        s += squared(v) * v
    return s


@knossos.register
def of_five(a: float, b: float, c: float, d: float, e: float) -> float:
    return squared(a) * a + squared(b) * c + d * e


def test_second_derivatives_of_functions_of_one_operation():
    import torch

    # f is x^3, f' by the derivative that was given 10 x x + x^2, f'' 20 x + 10 x.
    one = np.array([1.0])
    assert weighted.grad(one).tolist() == [11.0]
    assert weighted.vjp.vjp(one, 1.0, one)[0].tolist() == [30.0]
    assert weighted.vjp.jvp(one, 1.0, one, 0.0).tolist() == [30.0]
    assert weighted.grad.vjp(one, one).tolist() == weighted.jvp.vjp(one, one, 1.0)[0].tolist()
    x = torch.ones(1, dtype=torch.float64)
    assert torch.autograd.functional.hessian(weighted, x).item() == 30.0
    assert of_five.vjp.vjp(1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)[0] == 30.0


@knossos.register
def cubed(x: float) -> float:
    return x * x * x


@cubed.derivative
def cubed_vjp(x: float, dy: float) -> float:
    return 2.0 * x * x * dy


@cubed_vjp.derivative
def cubed_vjp_vjp(x: float, dy: float, ddx: float) -> tuple[float, float]:
    return 7.0 * dy * ddx, 2.0 * x * x * ddx


@knossos.register
def of_two(x: float, y: float) -> tuple[float, float]:
    return x * y, x + y


@of_two.derivative
def of_two_vjp(x: float, y: float, dp: float, ds: float) -> tuple[float, float]:
    return 3.0 * y * dp + ds, 5.0 * x * dp * y


@of_two_vjp.derivative
def of_two_vjp_vjp(
    x: float, y: float, dp: float, ds: float, u: float, v: float
) -> tuple[float, float, float, float]:
    dp = 11.0 * dp
    return dp * v, 13.0 * ds * u + 17.0 * dp * v, u * y + v, 2.0 * u


@knossos.register
def using_two(x: float, y: float) -> float:
    p, s = of_two(x, y)
    return 2.0 * p + s


def test_derivatives_given_for_derivatives(tmp_path):
    for made in (cubed.grad.grad(0.5), cubed.vjp.vjp(0.5, 1.0, 1.0)[0], cubed.grad.vjp(0.5, 1.0),
                 cubed.jvp.grad(0.5, 1.0)[0], cubed.vjp.jvp(0.5, 1.0, 1.0, 0.0)):  # fmt: skip
        assert made == 7.0
    cubed.grad.export(tmp_path)
    # of_two_vjp_vjp of its own parameters, then of what is left of it, where one result or one
    # argument is asked for.
    x, y = 0.5, 2.0
    assert of_two.vjp.vjp(x, y, 1.0, 1.0, 1.0, 0.0) == (0.0, 13.0, y, 2.0)
    dx, dy = using_two.vjp.vjp(x, y, 1.0, 1.0, 0.0)[:2]
    moved = [using_two.vjp.jvp(x, y, 1.0, *each, 0.0)[0] for each in ((1.0, 0.0), (0.0, 1.0))]
    assert np.allclose(moved, (dx, dy), rtol=1e-14)


@knossos.register
def squares(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    return np.sum(x * x) + y[0]


def longer(
    a: "Tensor[float, m]", b: "Tensor[float, m]", dy: float
) -> "tuple[Tensor[float, m], Tensor[float, m]]":
    return np.zeros(100 * len(a)) + dy, b * dy


def apart(
    a: "Tensor[float, m]", b: "Tensor[float, k]", dy: float
) -> "tuple[Tensor[float, m], Tensor[float, k]]":
    return a * dy, b * dy


def fitting(
    a: "Tensor[float, m]", b: "Tensor[float, m]", dy: float
) -> "tuple[Tensor[float, m], Tensor[float, m]]":
    return 3.0 * a * dy, b * dy


@pytest.mark.parametrize(
    "given, message",
    [
        (longer, "longer: as the derivative of squares it returns an array for a that has not its "
         "extents. Those of the argument are required, by their names."),
        (apart, "apart: as the derivative of squares it takes Tensor[float, m], Tensor[float, k], "
         "float. Tensor[float, n], Tensor[float, n], float: the arguments, then a gradient for"),
    ],
)  # fmt: skip
def test_extents_of_given_derivatives(given, message):
    squares.derivative(fitting)
    assert squares.vjp(np.ones(2), np.ones(2), 1.0)[0].tolist() == [3.0, 3.0]
    squares.derivative(given)
    with pytest.raises(TypeError) as refusal:
        squares.vjp(np.ones(2), np.ones(2), 1.0)
    assert str(refusal.value).startswith(message)


@knossos.register
def clipped(x: float) -> float:
    return x


@clipped.derivative
def clipped_vjp(x: float, dy: float) -> float:
    return min(max(dy, -1.0), 1.0)


def using_clipped(x: float) -> float:
    return 100.0 * clipped(x)


def test_derivatives_that_are_not_linear():
    # Alone they are what was given; of callers, derivatives are products with it.
    assert clipped.vjp(0.5, 100.0) == 1.0
    with pytest.raises(TypeError) as refusal:
        knossos.register(using_clipped)(0.5)
    assert str(refusal.value).startswith(
        "clipped_vjp: as the derivative of clipped it is not linear in the gradient: clipped_vjp("
    )
    assert "Kernels that call clipped need one that is. [" in str(refusal.value)
