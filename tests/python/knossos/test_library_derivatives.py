"""Derivatives of functions of the library that are not those of how they are computed: solutions
of systems, determinants, and elements in order."""

# ruff: noqa: F821

import composit._core as _core
import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

random = np.random.default_rng(11)
A, B = random.normal(size=(4, 4)), random.normal(size=(4, 3))
DA, DB = random.normal(size=(4, 4)), random.normal(size=(4, 3))


@knossos.register
def solution(a: "Tensor[float, n, n]", b: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    return np.linalg.solve(a, b)


@knossos.register
def inverse(a: "Tensor[float, n, n]") -> "Tensor[float, n, n]":
    return np.linalg.inv(a)


@knossos.register
def smallest_weighted(x: "Tensor[float, n]", w: "Tensor[float, n]") -> float:
    return np.sum(np.sort(x * x) * w)


@knossos.register
def middle(x: "Tensor[float, n]") -> float:
    return np.median(x) ** 2


@knossos.register
def determinant(a: "Tensor[float, n, n]") -> float:
    return np.linalg.det(a)


def is_close(a, b):
    return np.allclose(a, b, rtol=1e-12, atol=1e-12)


def test_solutions_have_the_rule():
    x, inverted = np.linalg.solve(A, B), np.linalg.inv(A)
    assert is_close(solution.jvp(A, B, DA, DB), inverted @ (DB - DA @ x))
    da, db = solution.vjp(A, B, DB)
    assert is_close(db, inverted.T @ DB) and is_close(da, -inverted.T @ DB @ x.T)
    assert is_close(inverse.vjp(A, DA), -inverted.T @ DA @ inverted.T)


def test_no_elimination_is_derived():
    for kernel in (solution, inverse):
        for derivative in (kernel.vjp, kernel.jvp):
            procedure = derivative.procedure()
            assert procedure.source.count("for (") <= 1, procedure.source  # a copy
            source = _core.procedure.print_loadable("kernels", [[procedure]])
            assert "dlu" not in source and "lu_log" not in source, source
            assert source.count("> absolute(") == 1, source  # one decomposition


def test_second_derivatives_pass_through_the_elimination():
    def gradient(a):
        inverted = np.linalg.inv(a)
        return -inverted.T @ DA @ inverted.T

    step, along = 1e-6, random.normal(size=(4, 4))
    difference = (gradient(A + step * along) - gradient(A - step * along)) / (2 * step)
    forward = inverse.vjp.jvp(A, DA, along, np.zeros((4, 4)))
    assert np.allclose(forward, difference, rtol=1e-6, atol=1e-6)
    back, _ = inverse.vjp.vjp(A, DA, along)
    assert np.isclose(np.sum(back * DB[:, :1]), np.sum(
        inverse.vjp.jvp(A, DA, DB[:, :1] * np.ones((4, 4)), np.zeros((4, 4))) * along
    ))  # fmt: skip


def cofactors(a):
    size = range(len(a))
    rest = [[np.delete(np.delete(a, i, 0), j, 1) for j in size] for i in size]
    return np.array([[(-1) ** (i + j) * np.linalg.det(rest[i][j]) for j in size] for i in size])


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_determinants_have_cofactors_as_gradients_of_singular_matrices_too(size):
    for rank in range(max(size - 2, 0), size + 1):
        left, right = random.normal(size=(size, rank)), random.normal(size=(rank, size))
        a = left @ right if rank < size else random.normal(size=(size, size))
        along, wanted = random.normal(size=(size, size)), cofactors(a)
        assert np.allclose(determinant.grad(a), wanted, rtol=1e-10, atol=1e-12)
        assert np.isclose(determinant.jvp(a, along), np.sum(wanted * along), atol=1e-12)
    with_zeros = np.array([[0.0, 1.0], [0.0, 2.0]])  # the first pivot is 0
    assert np.array_equal(determinant.grad(with_zeros), [[2.0, 0.0], [-1.0, 0.0]])
    assert "_log" not in determinant.vjp.procedure().source


def test_second_derivatives_of_determinants():
    a, along = A + 2 * np.eye(4), DA
    step = 1e-6
    difference = (cofactors(a + step * along) - cofactors(a - step * along)) / (2 * step)
    for made in (determinant.vjp.jvp(a, 1.0, along, 0.0), determinant.vjp.vjp(a, 1.0, along)[0]):
        assert np.allclose(made, difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("values", [[3.0, -1.0, 2.0, 0.5], [1.0, 1.0, -2.0, 4.0], [2.0]])
def test_elements_in_order_get_their_gradients(values):
    x = np.array(values)
    w = np.arange(1.0, len(x) + 1)
    dx, dw = smallest_weighted.vjp(x, w, 1.0)
    order = np.argsort(x * x, kind="stable")
    wanted = np.empty(len(x))
    wanted[order] = w
    assert np.array_equal(dx, wanted * 2 * x) and np.array_equal(dw, (x * x)[order])
    tangent = smallest_weighted.jvp(x, w, np.ones(len(x)), np.zeros(len(x)))
    assert np.isclose(tangent, np.sum(dx))
    assert "_log" not in smallest_weighted.vjp.procedure().source


@pytest.mark.parametrize("count", [5, 6])
def test_the_median_has_the_gradient_of_the_middle(count):
    x = random.normal(size=count)
    order = np.argsort(x)
    wanted = np.zeros(count)
    for place in {(count - 1) // 2, count // 2}:
        wanted[order[place]] = 2 * np.median(x) / (1 if count % 2 else 2)
    assert np.allclose(middle.grad(x), wanted, rtol=1e-14)


def test_rows_of_arrays_have_the_rule():
    stack = random.normal(size=(3, 4, 4)) + 3 * np.eye(4)
    received = random.normal(size=(3, 4, 4))
    made = knossos.vmap(inverse).vjp(stack, received)
    assert np.array_equal(made, [inverse.vjp(a, g) for a, g in zip(stack, received)])
