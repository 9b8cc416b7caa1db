"""Derivatives of numpy.linalg against PyTorch's, and differences; forward mode and second order."""

import numpy as np
import pytest
import torch
from differences import check_derivatives

import composit
import composit.numpy as cnp
from composit.errors import NotSupported


def drawn(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def square(*shape, seed=0):
    """Well conditioned, with singular values that are far from one another."""
    a = drawn(*shape, seed=seed)
    return a + np.diag(np.arange(3.0, 3.0 + 2 * shape[-1], 2))


def symmetric(x):
    """Of any matrix, so that differences and PyTorch agree on which elements count."""
    return x + x.swapaxes(-1, -2)


def definite(a):
    n = a.shape[-1]
    eye = torch.eye(n, dtype=a.dtype) if isinstance(a, torch.Tensor) else cnp.eye(n)
    return a @ a.swapaxes(-1, -2) + eye


TALL, WIDE = drawn(2, 5, 3), drawn(3, 5)
RIGHT = drawn(5, 2, seed=1)
L, T = cnp.linalg, torch.linalg

# What both compute of the same arrays. Vectors are only known up to their signs: their squares.
CASES = {
    "cholesky": (lambda a: L.cholesky(definite(a)), lambda a: T.cholesky(definite(a)),
                 [drawn(2, 3, 3)]),
    "cholesky upper": (lambda a: L.cholesky(definite(a), upper=True),
                       lambda a: T.cholesky(definite(a), upper=True), [drawn(3, 3)]),
    "solve": (L.solve, T.solve, [square(2, 3, 3), drawn(2, 3, 2)]),
    "solve vector": (L.solve, T.solve, [square(3, 3), drawn(3)]),
    "solve broadcast": (L.solve, T.solve, [square(3, 3), drawn(4, 3, 2)]),
    "inv": (L.inv, T.inv, [square(2, 3, 3)]),
    "det": (L.det, T.det, [square(2, 4, 4) / 5]),
    "det 1": (L.det, T.det, [square(1, 1)]),
    "slogdet": (lambda a: L.slogdet(a)[1], lambda a: T.slogdet(a)[1], [square(2, 3, 3)]),
    "matrix_power": (lambda a: L.matrix_power(a, -2), lambda a: T.matrix_power(a, -2),
                     [square(3, 3)]),
    "pinv tall": (L.pinv, T.pinv, [TALL]),
    "pinv wide": (L.pinv, T.pinv, [WIDE]),
    "pinv of deficient rank": (lambda a, b: L.pinv(a @ b, rcond=1e-9),
                               lambda a, b: T.pinv(a @ b, rcond=1e-9),
                               [drawn(5, 2), drawn(2, 4)]),
    "pinv hermitian": (lambda a: L.pinv(symmetric(a), hermitian=True),
                       lambda a: T.pinv(symmetric(a), hermitian=True), [square(3, 3)]),
    "lstsq tall": (lambda a, b: L.lstsq(a, b)[0], lambda a, b: T.lstsq(a, b).solution,
                   [TALL[0], RIGHT]),
    "lstsq wide": (lambda a, b: L.lstsq(a, b)[0],
                   lambda a, b: T.lstsq(a, b, driver="gelsd").solution, [WIDE, RIGHT[:3]]),
    "lstsq residuals": (lambda a, b: L.lstsq(a, b)[1],
                        lambda a, b: ((a @ (T.pinv(a) @ b) - b) ** 2).sum(0), [TALL[0], RIGHT]),
    "lstsq values": (lambda a, b: L.lstsq(a, b)[3], lambda a, b: T.svdvals(a), [TALL[0], RIGHT]),
    "qr square": (lambda a: L.qr(a), lambda a: T.qr(a), [square(3, 3)]),
    "qr tall": (lambda a: L.qr(a), lambda a: T.qr(a), [TALL]),
    "qr wide": (lambda a: L.qr(a), lambda a: T.qr(a), [WIDE]),
    "qr complete": (lambda a: L.qr(a, mode="complete"), lambda a: T.qr(a, mode="complete"),
                    [square(3, 3)]),
    "qr complete wide": (lambda a: L.qr(a, mode="complete"), lambda a: T.qr(a, mode="complete"),
                         [WIDE]),
    "qr r of both": (lambda a: L.qr(a)[1], lambda a: T.qr(a)[1], [WIDE]),
    "qr r alone": (lambda a: L.qr(a, mode="r"), lambda a: T.qr(a)[1], [TALL]),
    "qr r alone wide": (lambda a: L.qr(a, mode="r"), lambda a: T.qr(a)[1], [WIDE]),
    "qr q of both": (lambda a: L.qr(a)[0], lambda a: T.qr(a)[0], [WIDE]),
    "svdvals": (L.svdvals, T.svdvals, [TALL]),
    "svd values": (lambda a: L.svd(a)[1], lambda a: T.svd(a)[1], [WIDE]),
    "svd": (lambda a: (L.svd(a, full_matrices=False)[0] ** 2, L.svd(a, full_matrices=False)[2] ** 2,
                       L.svd(a, full_matrices=False)[1]),
            lambda a: (T.svd(a, full_matrices=False)[0] ** 2, T.svd(a, full_matrices=False)[2] ** 2,
                       T.svd(a, full_matrices=False)[1]), [square(3, 3)]),
    "svd tall": (lambda a: (L.svd(a, full_matrices=False)[0] ** 2,
                            L.svd(a, full_matrices=False)[2] ** 2),
                 lambda a: (T.svd(a, full_matrices=False)[0] ** 2,
                            T.svd(a, full_matrices=False)[2] ** 2), [TALL]),
    "svd wide": (lambda a: (L.svd(a, full_matrices=False)[0] ** 2,
                            L.svd(a, full_matrices=False)[2] ** 2),
                 lambda a: (T.svd(a, full_matrices=False)[0] ** 2,
                            T.svd(a, full_matrices=False)[2] ** 2), [WIDE]),
    "svd all, few used": (lambda a: L.svd(a)[0][..., :3] ** 2, lambda a: T.svd(a)[0][..., :3] ** 2,
                          [TALL]),
    "eigh": (lambda a: (L.eigh(symmetric(a))[0], L.eigh(symmetric(a))[1] ** 2),
             lambda a: (T.eigh(symmetric(a))[0], T.eigh(symmetric(a))[1] ** 2),
             [square(2, 3, 3)]),
    "eigh upper": (lambda a: L.eigh(symmetric(a), "U")[1] ** 2,
                   lambda a: T.eigh(symmetric(a), "U")[1] ** 2, [square(3, 3)]),
    "eigvalsh": (lambda a: L.eigvalsh(symmetric(a)), lambda a: T.eigvalsh(symmetric(a)),
                 [square(3, 3)]),
    "norm": (L.norm, T.norm, [drawn(3, 4)]),
    "norm 3": (lambda a: L.norm(a, 3, axis=1), lambda a: T.norm(a, 3, dim=1), [drawn(3, 4)]),
    "norm 2": (lambda a: L.norm(a, 2), lambda a: T.norm(a, 2), [drawn(3, 4)]),
    "norm nuc": (lambda a: L.norm(a, "nuc"), lambda a: T.norm(a, "nuc"), [drawn(3, 4)]),
    "norm inf": (lambda a: L.norm(a, np.inf), lambda a: T.norm(a, np.inf), [drawn(3, 4)]),
    "norm at 0": (lambda a: L.norm(a, axis=1), lambda a: T.norm(a, dim=1), [np.zeros((2, 3))]),
    "cond": (L.cond, T.cond, [square(3, 3)]),
    "cond 1": (lambda a: L.cond(a, 1), lambda a: T.norm(a, 1) * T.norm(T.inv(a), 1),
               [square(3, 3)]),
    "multi_dot": (lambda a, b, c: L.multi_dot([a, b, c]), lambda a, b, c: T.multi_dot([a, b, c]),
                  [drawn(2, 3), drawn(3, 4), drawn(4, 2)]),
}  # fmt: skip
SECOND_ORDER = [name for name in CASES if name != "norm at 0"]


def as_list(made):
    return list(made) if isinstance(made, (tuple, list)) else [made]


@pytest.mark.long_tail
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_pytorchs(name):
    ours, theirs, arrays = CASES[name]
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    expected = as_list(theirs(*leaves))
    weights = [drawn(*y.shape, seed=9) for y in expected]
    sum((torch.tensor(w) * y).sum() for w, y in zip(weights, expected)).backward()

    def loss(*x):
        return sum(cnp.sum(w * y) for w, y in zip(weights, as_list(ours(*x))))

    numbers = tuple(range(len(arrays)))
    gradients = cnp.evaluate(*composit.grad(loss, numbers)(*arrays), 0.0)[:-1]
    for gradient, leaf in zip(gradients, leaves):
        wanted = np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy()
        np.testing.assert_allclose(gradient, wanted, rtol=1e-8, atol=1e-9 * (1 + abs(wanted).max()))
    compiled = composit.compile(composit.grad(loss, numbers), *arrays)
    for a, b in zip(as_list(compiled(*arrays)), gradients):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", SECOND_ORDER)
def test_differences_forward_mode_and_second_order(name):
    ours, _, arrays = CASES[name]

    def total(*x):
        return sum(cnp.sum(cnp.sin(y)) for y in as_list(ours(*x)))

    check_derivatives(total, *arrays)


def test_gradients_of_float32_are_computed_in_double():
    a = square(4, 4).astype("float32")
    gradient = cnp.evaluate(composit.grad(lambda a: cnp.sum(L.inv(a) ** 2))(a))
    assert gradient.dtype == np.float32
    exact = cnp.evaluate(composit.grad(lambda a: cnp.sum(L.inv(a) ** 2))(a.astype("float64")))
    np.testing.assert_allclose(gradient, exact, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("mode", ["raw", "complete"])
def test_modes_of_qr_without_derivatives_say_so(mode):
    with pytest.raises(TypeError, match=r"qr.*'reduced' is required"):
        composit.grad(lambda a: cnp.sum(as_list(L.qr(a, mode))[0]))(TALL)


def test_a_singular_matrix_in_a_gradient_is_an_error_of_the_line():
    with pytest.raises(np.linalg.LinAlgError, match=r"Singular matrix.*test_linalg.py:\d+\]"):
        cnp.evaluate(composit.grad(lambda a: L.det(a))(np.zeros((2, 2))))


def test_eig_has_no_placeholders():
    with pytest.raises(NotSupported, match=r"eigvals: .*placeholder"):
        composit.compile(composit.grad(lambda a: cnp.sum(L.eigvals(a))))(square(3, 3))


@pytest.mark.parametrize("batch", [(), (2, 0)])
def test_gradients_of_empty_matrices(batch):
    a = np.zeros((*batch, 0, 0)) if not batch else np.zeros((*batch, 3, 3))
    for function in (L.inv, L.det, lambda a: L.svdvals(a), lambda a: L.eigvalsh(a), L.cholesky):
        gradient = cnp.evaluate(composit.grad(lambda a, f=function: cnp.sum(f(a)))(a))
        assert gradient.shape == a.shape
