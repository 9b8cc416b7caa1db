"""NumPy's and math's functions whose text is one of kernels: linear algebra, order, sums of
products, integers; `raise`; defaults that derivatives are called without."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from as_python import check, interpreted

from composit import knossos
from composit.knossos import Tensor

random = np.random.default_rng(7)


def r(*shape):
    return random.normal(size=shape)


SQUARE = r(3, 3)
SWAPPED = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [2.0, 1.0, 0.0]])  # whose rows are exchanged
POSITIVE = SQUARE @ SQUARE.T + np.eye(3)


def inverse(a: "Tensor[float, 3, 3]") -> "Tensor[float, 3, 3]":
    return np.linalg.inv(a)


def solved(a: "Tensor[float, n, n]", b: "Tensor[float, n]") -> "Tensor[float, n]":
    return np.linalg.solve(a, b)


def solved_several(a: "Tensor[float, n, n]", b: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    return np.linalg.solve(a, b)


def determinant(a: "Tensor[float, n, n]") -> float:
    return np.linalg.det(a)


def root(a: "Tensor[float, n, n]") -> "Tensor[float, n, n]":
    return np.linalg.cholesky(a @ a.T + np.eye(len(a)))


def ridge(a: "Tensor[float, n, m]", b: "Tensor[float, n]", k: float) -> "Tensor[float, m]":
    return np.linalg.solve(a.T @ a + k * np.eye(a.shape[1]), a.T @ b)


def norms(a: "Tensor[float, n, m]") -> float:
    rows = np.linalg.norm(a, axis=1)
    return np.sum(rows) + np.linalg.norm(a[0], 1) * np.linalg.norm(a[1], np.inf)


def ordered(x: "Tensor[float, n]") -> float:
    order = np.argsort(x)
    return np.median(x) * np.sort(x)[0] + x[order[-1]]


def of_three(a: float, b: float, c: float) -> float:
    _, middle, last = sorted((a, b, c))
    return middle - 2.0 * last


def plane(a: "Tensor[float, 3]", b: "Tensor[float, 3]", p: "Tensor[float, 3]") -> float:
    return p @ np.cross(a, b) + np.trace(np.outer(a, b))


def curve(t: float, x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    return np.interp(t, x, y) + np.polyval(y, t)


def products(a: "Tensor[float, n, m]", b: "Tensor[float, m, k]") -> "Tensor[float, k, n]":
    return np.einsum("ij,jk->ki", a, b)


def forms(a: "Tensor[float, b, n, n]", x: "Tensor[float, b, n]") -> "Tensor[float, b]":
    return np.einsum("bij,bi,bj->b", a, x, x)


def implicit(a: "Tensor[float, n, n]", x: "Tensor[float, n]") -> float:
    return np.einsum("ii,i", a, x) + np.sum(np.einsum("ba", a)[0] * x)


def integers(n: int, k: int, p: float) -> float:
    chances = math.comb(n, k) * p**k * (1 - p) ** (n - k)
    return chances * math.factorial(k) / math.perm(n, 2) + math.gcd(n, 4 * k, 6) + math.comb(5, 2)


def distances(p: "Tensor[float, 3]", q: "Tensor[float, 3]", x: float) -> float:
    return math.dist(p, q) + math.dist((x, 2.0), (1.0, x)) * math.prod(p) * math.prod((x, 2.0))


def least(x: "Tensor[float, n]") -> float:
    best = float("inf")
    for v in x:
        best = v if v < best else best
    return best


def lists(x: float, n: int) -> float:
    a = [0.0] * n
    for i in range(n):
        a[i] = x * i
    return sum(a)


CALLS = [
    (inverse, SQUARE), (inverse, SWAPPED), (solved, SWAPPED, r(3)), (solved, r(1, 1), r(1)),
    (solved_several, SQUARE, r(3, 2)), (determinant, SQUARE), (determinant, r(4, 4)),
    (determinant, SWAPPED), (root, SQUARE), (ridge, r(5, 2), r(5), 0.1), (norms, r(3, 4)),
    (ordered, r(5)), (ordered, r(6)), (of_three, 0.5, -0.25, 2.0), (of_three, 2.0, 0.5, -1.0),
    (plane, r(3), r(3), r(3)), (curve, 0.2, np.sort(r(5)), r(5)), (products, r(2, 3), r(3, 4)),
    (forms, r(2, 3, 3), r(2, 3)), (implicit, SQUARE, r(3)), (integers, 9, 4, 0.3),
    (integers, 3, 3, 0.3), (distances, r(3), r(3), 0.4), (least, r(5)), (lists, 0.5, 4),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_as_numpy(call):
    function, *arguments = call
    check(function, tuple(arguments), use=interpreted)


@pytest.mark.long_tail
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_compiled_to_the_bit(call):
    function, *arguments = call
    assert check(function, tuple(arguments)) == check(function, tuple(arguments), use=interpreted)


def test_singular_matrices():
    kernel = knossos.register(inverse)
    with pytest.raises(np.linalg.LinAlgError) as caught:
        kernel(np.zeros((3, 3)))
    assert "inverse: the matrix is singular, in `np.linalg.inv(a)`" in str(caught.value)
    assert knossos.register(determinant)(np.zeros((3, 3))) == 0.0

    @knossos.register
    def factor(a: "Tensor[float, n, n]") -> "Tensor[float, n, n]":
        return np.linalg.cholesky(a)

    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        factor(-np.eye(2))
    with pytest.raises(TypeError, match=r"extents 2 and 3 do not fit, in `np.linalg.det\(a\)`"):

        @knossos.register
        def wide(a: "Tensor[float, 2, 3]") -> float:
            return np.linalg.det(a)

        wide(np.ones((2, 3)))


# ----- raise


def power_of(v: "Tensor[float, n]", k: int) -> "Tensor[float, n]":
    if k < 0:
        raise ValueError(f"the power is {k}, and is to be 0 or more")
    made = np.ones(len(v))
    for _ in range(k):
        made = made * v
    return made


def choice(x: float, k: int) -> float:
    if k == 0:
        y = x
    elif k == 1:
        y = x * x
    else:
        raise IndexError("there is no such k")
    return y * 2


def chosen(v: "Tensor[float, n]", k: int) -> float:
    return sum(choice(a, k) for a in v)


def test_raise():
    check(power_of, (r(3), 3), use=interpreted)
    check(chosen, (r(3), 1), use=interpreted)
    kernel = knossos.register(power_of)
    with pytest.raises(ValueError) as caught:
        kernel(np.ones(3), -2)
    assert str(caught.value).startswith("power_of: the power is -2, and is to be 0 or more [")
    with pytest.raises(IndexError, match="chosen: there is no such k"):
        knossos.register(chosen)(np.ones(3), 7)


def test_kernels_of_numbers_do_not_raise():
    kernel = knossos.register(choice)
    assert kernel(0.5, 1) == 0.5 and math.isnan(kernel(0.5, 7))
    assert np.array_equal(kernel(0.5, np.array([0, 1, 2])), [1.0, 0.5, np.nan], equal_nan=True)
    assert kernel.grad(0.5, 1) == 2.0


# ----- defaults in derivatives

SCALE = 3.0


@knossos.register
def scaled(x: float, s: float = 2.0, n: int = 2) -> float:
    return SCALE * s * x**n


@knossos.register
def scaled_array(x: "Tensor[float, n]", s: float = 2.0) -> "Tensor[float, n]":
    return SCALE * s * x * x


def test_derivatives_are_called_without_defaults():
    assert scaled.grad(2.0) == scaled.grad(2.0, 2.0, 2) == (24.0, 12.0)
    assert scaled.vjp(2.0, 0.5) == scaled.vjp(2.0, 2.0, 2, 0.5) == (12.0, 6.0)
    assert scaled.vjp(2.0, 4.0, 0.5) == scaled.vjp(2.0, 4.0, 2, 0.5)
    assert scaled.jvp(2.0, 1.0) == scaled.jvp(2.0, 2.0, 2, 1.0, 0.0) == 24.0
    x, dy = np.arange(3.0), np.ones(3)
    for a, b in zip(scaled_array.vjp(x, dy), scaled_array.vjp(x, 2.0, dy)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(scaled_array.jvp(x, dy), scaled_array.jvp(x, 2.0, dy, 0.0))
    with pytest.raises(TypeError, match="got 1 arguments"):
        scaled.vjp(2.0)
