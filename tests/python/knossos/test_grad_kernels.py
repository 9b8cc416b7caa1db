"""grad of a kernel is a kernel, whatever its arguments: with the bits of vjp of 1, with its own
derivatives, C++, graphs and modules."""

# ruff: noqa: F821

import inspect
import math
import subprocess
from typing import NamedTuple

import array_kernels
import kernels
import numpy as np
import pytest
import torch
from test_array_export import WARNINGS

import composit
from composit import knossos
from composit.errors import NotSupported
from composit.knossos import Kernel, Tensor

RANDOM = np.random.default_rng(0)


class Point(NamedTuple):
    x: float
    y: float


@knossos.register
def wave(x: float, n: int, y: float) -> float:
    return math.sin(x) * y * y + n * x


@knossos.register
def weighted(x: "Tensor[float, n]", p: Point, k: int) -> tuple[float, int]:
    return np.sum(x * x * x) * p.x + p.y * p.y * k, k + len(x)


def flat(value):
    parts = value if isinstance(value, (tuple, list)) else [value]
    return [np.asarray(part) for part in parts]


def same(found, wanted):
    for one, two in zip(flat(found), flat(wanted), strict=True):
        assert one.dtype == two.dtype and one.shape == two.shape
        assert np.array_equal(one, two, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["ordered", "smooth", "loops", "guarded"])
def test_of_numbers_it_has_the_bits_of_vjp(name, dtype):
    kernel = knossos.register(getattr(kernels, name))
    last = RANDOM.integers(0, 9, 50) if name in ("loops", "guarded") else RANDOM.normal(size=50)
    x = RANDOM.normal(size=50)
    given = [x.astype(dtype), last if last.dtype == "int64" else last.astype(dtype)]
    same(kernel.grad(*given), kernel.vjp(*given, np.ones(50, dtype)))
    same(kernel.grad(*[each[0].item() for each in given]),
         kernel.vjp(*[each[0].item() for each in given], 1.0))  # fmt: skip


@pytest.mark.long_tail
@pytest.mark.parametrize("function, given", array_kernels.examples())
def test_of_arrays_it_has_the_bits_of_vjp(function, given):
    kernel = knossos.register(function)
    if function.__annotations__["return"] != "float":
        with pytest.raises(NotSupported, match=rf"{function.__name__}.grad: the result.* One"):
            kernel.grad
        return
    same(kernel.grad(*given), kernel.vjp(*given, 1.0))
    rows = [np.stack([each, each]) if isinstance(each, np.ndarray) else each for each in given]
    same(knossos.vmap(kernel).grad(*rows), knossos.vmap(kernel).vjp(*rows, 1.0))


def test_derivatives_of_numbers():
    gradient = wave.grad
    assert isinstance(gradient, Kernel) and gradient.__name__ == "wave_grad"
    x, n, y = 0.3, 2, 0.7
    hessian = [[-math.sin(x) * y * y, 2 * y * math.cos(x)], [2 * y * math.cos(x), 2 * math.sin(x)]]
    for i, row in enumerate(hessian):
        e = [float(i == k) for k in range(2)]
        np.testing.assert_allclose(gradient.vjp(x, n, y, *e), row, rtol=1e-14)
        np.testing.assert_allclose(gradient.jvp(x, n, y, *e), row, rtol=1e-14)
    with pytest.raises(NotSupported, match=r"wave_grad_jvp.grad: there are 2 results"):
        gradient.jvp.grad


def test_derivatives_of_arrays():
    kernel = weighted.grad
    x, p, k = RANDOM.normal(size=4), Point(0.5, -0.3), 2
    dx, da, db = kernel(x, p, k)
    np.testing.assert_allclose(dx, 3 * x * x * p.x, rtol=1e-14)
    np.testing.assert_allclose([da, db], [np.sum(x**3), 2 * p.y * k], rtol=1e-14)
    second = kernel.vjp(x, *p, k, np.ones(4), 0.0, 0.0)
    np.testing.assert_allclose(second[0], 6 * x * p.x, rtol=1e-14)
    np.testing.assert_allclose(second[1], np.sum(3 * x * x), rtol=1e-14)
    moved = kernel.jvp(x, *p, k, np.ones(4), 0.0, 0.0)
    np.testing.assert_allclose(moved[0], 6 * x * p.x, rtol=1e-14)
    rows = np.stack([x, 2 * x])
    points = Point(np.full(2, 0.5), np.full(2, -0.3))
    mapped = knossos.vmap(weighted).grad
    assert mapped is knossos.vmap(kernel)
    for row, found in zip(rows, mapped(rows, points, k)[0], strict=True):
        assert np.array_equal(found, kernel(row, p, k)[0])
    dxx = mapped.vjp(rows, *points, k, np.ones((2, 4)), 0.0, 0.0)[0]
    np.testing.assert_allclose(dxx, 6 * rows * p.x, rtol=1e-14)


def test_errors_have_the_line_of_the_kernel():
    for kernel, said in (
        (wave.grad, "wave_grad.grad: there are 2 results. One is required; vjp and jvp"),
        (weighted.grad, "weighted_grad.grad: the results are 3 numbers or arrays. One number is"),
        (knossos.vmap(weighted.grad), "weighted_grad.grad: the results are 3 numbers or arrays"),
    ):
        line = inspect.getsourcelines(kernel._root().__wrapped__)[1] + 1
        with pytest.raises(NotSupported) as caught:
            kernel.grad
        assert str(caught.value).startswith(said)
        assert str(caught.value).endswith(f"{__file__}:{line}]")
    integers = knossos.register(kernels.collatz)
    with pytest.raises(NotSupported, match=r"collatz: it has no derivative.* \[.*kernels.py:\d+\]"):
        integers.grad
    text = knossos.from_text("pair", "(x: float) -> (x, multiply(x, x))")
    with pytest.raises(NotSupported, match=r"pair.grad: .* \[test_grad_kernels.py:\d+\]"):
        text.grad
    with pytest.raises(TypeError, match=r"wave_grad: got 1 arguments. 3 are required"):
        wave.grad(1.0)
    with pytest.raises(ValueError, match=r"weighted_grad: an array of shape \(\) stands for one"):
        weighted.grad(1.0, Point(1.0, 2.0), 1)


def test_source_graphs_and_compiled_functions():
    assert "dy" not in wave.grad.procedure().source.split("return")[0]
    assert "wave_grad_vjp(" in wave.grad.source and "wave_grad_jvp(" in wave.grad.source
    assert "weighted_grad_vjp(" in weighted.grad.source
    assert str(wave.grad.graph).count('row("wave_grad.kernel_') == 2
    x = RANDOM.normal(size=4)
    lazy = weighted.grad(composit.asarray(x), Point(0.5, 1.0), 2)
    same(composit.evaluate(*lazy), weighted.grad(x, Point(0.5, 1.0), 2))
    loss = composit.grad(lambda x: composit.sum(weighted.grad(x, Point(0.5, 1.0), 2)[0]))
    np.testing.assert_allclose(composit.evaluate(loss(composit.asarray(x))), 3 * x, rtol=1e-14)
    compiled = wave.grad.compile(x, 2, x)
    same(compiled(x, 2, x), wave.grad(x, 2, x))


def test_modules_and_autograd():
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    y = torch.randn(4, dtype=torch.float64, requires_grad=True)
    dx, dy = wave.grad(x, 2, y)
    (got,) = torch.autograd.grad(dx.sum(), y)
    torch.testing.assert_close(got, 2 * y * torch.cos(x))
    assert torch.autograd.gradcheck(lambda x, y: wave.grad(x, 2, y), (x, y))
    assert torch.equal(wave.grad.nnModule(x, 2, y)[1], dy)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("kernel, call", [
    (wave, "wave_grad_selfcheck(0.5, 2, 1.5)"),
    (array_kernels.residuals, "residuals_grad_selfcheck(a, 2, 2, x, x)"),
], ids=["wave", "residuals"])  # fmt: skip
def test_exported(kernel, call, compiler, tmp_path):
    gradient = knossos.register(kernel).grad
    name = gradient.__name__
    gradient.export(tmp_path)
    (tmp_path / "main.cpp").write_text(
        f'#include <cstdio>\n#include "{name}.hpp"\nint main() {{\n'
        "    const double a[] = {1, 2, 3, 5}, x[] = {0.5, -1};\n    (void)a, (void)x;\n"
        f'    std::printf("%g", {name}::{call});\n}}\n'
    )
    command = [compiler, *WARNINGS, "main.cpp", f"{name}.cpp", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert float(said.stdout) < 1e-7


def test_of_derivatives_that_are_given():
    """The one of the function, which assigns the gradient that it takes, and the one of that."""

    @knossos.register
    def step(x: float, k: float) -> float:
        return 1.0 if x > k else 0.0

    @step.derivative
    def step_vjp(x: float, k: float, dy: float) -> tuple[float, float]:
        dy = dy * x
        return dy * k, dy * 7.0

    assert step.grad(2.0, 3.0) == (6.0, 14.0)
    assert step.grad.vjp(2.0, 3.0, 1.0, 0.0) == (3.0, 2.0)

    @step_vjp.derivative
    def second(x: float, k: float, dy: float, a: float, b: float) -> tuple[float, float, float]:
        return 100.0 * a + dy, 10.0 * b, 3.0

    assert step.grad(2.0, 3.0) == (6.0, 14.0)
    step._forget()
    assert step.grad.vjp(2.0, 3.0, 1.0, 2.0) == (101.0, 20.0)


def test_of_derivatives_that_are_given_of_arrays():
    @knossos.register
    def norm(x: "Tensor[float, n]", w: "Tensor[float, m]", k: float) -> float:
        return np.sum(x) * np.sum(w) * k

    @norm.derivative
    def norm_vjp(
        x: "Tensor[float, p]", w: "Tensor[float, q]", k: float, dy: float
    ) -> "tuple[Tensor[float, p], Tensor[float, q], float]":
        return x * dy * k, w * (dy + 1.0), 5.0 * dy

    x, w = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    dx, dw, dk = norm.grad(x, w, 2.0)
    assert np.array_equal(dx, 2 * x) and np.array_equal(dw, 2 * w) and dk == 5.0
    back = norm.grad.vjp(x, w, 2.0, np.ones(2), np.ones(3), 1.0)
    assert np.array_equal(back[0], [2, 2]) and np.array_equal(back[1], [2, 2, 2]) and back[2] == 3

    @norm_vjp.derivative
    def norm_vjp_vjp(
        x: "Tensor[float, p]", w: "Tensor[float, q]", k: float, dy: float,
        a: "Tensor[float, p]", b: "Tensor[float, q]", c: float,
    ) -> "tuple[Tensor[float, p], Tensor[float, q], float, float]":  # fmt: skip
        return a * 10.0 * dy, b * 20.0, c * 30.0, 4.0

    norm._forget()
    back = norm.grad.vjp(x, w, 2.0, np.ones(2), np.ones(3), 1.0)
    assert np.array_equal(back[0], [10, 10]) and np.array_equal(back[1], [20] * 3) and back[2] == 30
    assert np.array_equal(norm.grad(x, w, 2.0)[0], dx)


@knossos.register
def until_large(x: "Tensor[float, n]", limit: float) -> float:
    """Breaks, so that its derivative keeps tapes, of which the second one is made by way of the
    function's tangent."""
    total = 1.0
    for i in range(len(x)):
        total = total * x[i] + limit * x[i] * x[i]
        if total > 50.0:
            break
    return total


def paired(some, others):
    return sum(np.vdot(a, b) for a, b in zip(some, others, strict=True))


def test_of_kernels_that_keep_tapes():
    x, limit = RANDOM.normal(size=5) + 2.0, 0.75
    gradient = until_large.grad
    same(gradient(x, limit), until_large.vjp(x, limit, 1.0))
    received, moved = [RANDOM.normal(size=5), 0.3], [RANDOM.normal(size=5), -0.7]
    back, forward = gradient.vjp(x, limit, *received), gradient.jvp(x, limit, *moved)
    assert math.isclose(paired(back, moved), paired(forward, received), rel_tol=1e-11)
    wanted = until_large.vjp.vjp(x, limit, 1.0, *received)
    same(back, wanted[:2])
    in_graph = composit.grad(
        lambda x: (
            composit.sum(until_large.grad(x, limit)[0] * received[0])
            + until_large.grad(x, limit)[1] * received[1]
        )
    )
    np.testing.assert_allclose(
        composit.evaluate(in_graph(composit.asarray(x))), back[0], rtol=1e-12
    )
    ones = composit.asarray(np.ones(5))
    _, along = composit.jvp(
        lambda x: until_large.grad(x, limit)[1], (composit.asarray(x),), (ones,)
    )
    wanted = gradient.jvp(x, limit, np.ones(5), 0.0)[1]
    np.testing.assert_allclose(composit.evaluate(along), wanted, rtol=1e-12)
    rows = np.stack([x, x[::-1]])
    mapped = knossos.vmap(until_large).grad
    for row, found in zip(rows, mapped.vjp(rows, limit, np.ones((2, 5)), 0.5)[0], strict=True):
        assert np.array_equal(found, gradient.vjp(row, limit, np.ones(5), 0.5)[0])
    for row, found in zip(rows, mapped.jvp(rows, limit, rows, 0.0)[0], strict=True):
        assert np.array_equal(found, gradient.jvp(row, limit, row, 0.0)[0])
    given = torch.tensor(x, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: until_large.grad(x, limit)[0], (given,))
