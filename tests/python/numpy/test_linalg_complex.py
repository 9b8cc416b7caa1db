"""numpy.linalg of complex matrices against NumPy, bit for bit, and eigenvalues that are complex."""

import numpy as np
import pytest
import torch
from numpy_agreement import assert_agree, assert_compiled_equals_interpreted, leaves

import composit
import composit.numpy as cnp

SHAPES = [(0, 0), (1, 1), (3, 3), (20, 20), (2, 3, 3), (0, 2, 2)]


def drawn(shape, dtype="complex128", seed=0):
    rng = np.random.default_rng([seed, *shape])
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


def agree(name, *arguments, ulps=0, **keywords):
    def ours(*given, **options):
        made = getattr(cnp.linalg, name)(*given, **options)
        for tensor in leaves(made):
            cnp.evaluate(tensor)
        return made

    return assert_agree(ours, getattr(np.linalg, name), list(arguments), keywords, ulps=ulps)


def assert_bits(name, *arguments, **keywords):
    made = agree(name, *arguments, **keywords)
    expected = getattr(np.linalg, name)(*arguments, **keywords)
    expected = expected if isinstance(expected, tuple) else [expected]
    for ours, theirs in zip(made, expected):
        assert cnp.evaluate(ours).tobytes() == np.ascontiguousarray(theirs).tobytes()
    assert_compiled_equals_interpreted(made)


@pytest.mark.long_tail
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_square_matrices_have_numpys_bits(shape, dtype):
    a = drawn(shape, dtype)
    b = drawn((*shape[:-1], 2), dtype, 1)
    definite = (a @ adjoint(a) + np.eye(shape[-1])).astype(dtype)
    for name in ("inv", "det", "slogdet", "eigh", "eigvalsh", "eig", "eigvals"):
        assert_bits(name, a)
    assert_bits("solve", a, b)
    assert_bits("solve", a, b.real)
    for upper in (False, True):
        assert_bits("cholesky", definite, upper=upper)
    for uplo in "LU":
        assert_bits("eigh", definite, UPLO=uplo)


@pytest.mark.long_tail
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [*SHAPES, (5, 3), (3, 5), (2, 4, 2), (0, 3), (3, 0)], ids=str)
def test_any_matrices_have_numpys_bits(shape, dtype):
    a = drawn(shape, dtype)
    for mode in ("reduced", "complete", "r", "raw"):
        assert_bits("qr", a, mode=mode)
    for full in (True, False):
        assert_bits("svd", a, full_matrices=full)
    assert_bits("svdvals", a)
    if len(shape) == 2:
        assert_bits("lstsq", a, drawn((shape[0], 2), dtype, 1))
    for ord in (None, 1, 2, -2, np.inf, "nuc"):
        if 0 not in shape[-2:]:
            agree("norm", a, ord=ord, axis=(-2, -1), ulps=64)
    inverse = cnp.evaluate(cnp.linalg.pinv(a))
    precision = 1e-4 if dtype == "complex64" else 1e-12
    np.testing.assert_allclose(inverse, np.linalg.pinv(a), rtol=precision, atol=precision)
    agree("matrix_rank", a)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (6, 6), (2, 4, 4)], ids=str)
def test_real_matrices_may_have_complex_eigenvalues(shape, dtype):
    for seed in range(4):
        a = (drawn(shape, seed=seed).real * 4).astype(dtype)
        assert_bits("eig", a)
        assert_bits("eigvals", a)
    turning = np.array([[0, -1], [1, 0]], dtype)
    assert cnp.linalg.eigvals(turning).dtype == np.linalg.eigvals(turning).dtype
    assert_bits("eig", np.stack([turning, np.eye(2, dtype=dtype)]))


def real_parts(y):
    return y.real * 0.7 + y.imag * 1.3


def first_term(u, s, vh):
    return u[..., :1] @ vh[..., :1, :]


GRADIENTS = {
    "inv": (lambda L, a: L.inv(a), (3, 3)),
    "det": (lambda L, a: L.det(a), (3, 3)),
    "sign": (lambda L, a: L.slogdet(a)[0], (3, 3)),
    "logabsdet": (lambda L, a: L.slogdet(a)[1], (3, 3)),
    "solve": (lambda L, a: L.solve(a, a @ a), (2, 3, 3)),
    "cholesky": (lambda L, a: L.cholesky(a @ a.conj().swapaxes(-1, -2)), (3, 3)),
    "eigvalsh": (lambda L, a: L.eigvalsh(a + a.conj().swapaxes(-1, -2)), (3, 3)),
    "eigh": (lambda L, a: abs(L.eigh(a + a.conj().swapaxes(-1, -2))[1]), (3, 3)),
    "svd": (lambda L, a: L.svd(a, full_matrices=False)[1], (4, 3)),
    "svd vectors": (lambda L, a: abs(L.svd(a, full_matrices=False)[0]), (3, 3)),
    "svd both": (lambda L, a: first_term(*L.svd(a, full_matrices=False)), (4, 3)),
    "qr": (lambda L, a: L.qr(a)[1], (4, 3)),
    "qr wide": (lambda L, a: L.qr(a)[0], (3, 4)),
    "pinv": (lambda L, a: L.pinv(a), (4, 3)),
    "eig": (lambda L, a: abs(L.eig(a)[1]), (3, 3)),
    "eigvals": (lambda L, a: L.eigvals(a), (3, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_pytorchs(name):
    function, shape = GRADIENTS[name]
    a = drawn(shape, seed=5)
    leaf = torch.tensor(a, requires_grad=True)
    expected = function(torch.linalg, leaf)
    weights = np.random.default_rng(2).standard_normal(tuple(expected.shape))
    of_torch = expected if not expected.is_complex() else real_parts(expected)
    (torch.tensor(weights) * of_torch).sum().backward()

    def loss(re, im):
        y = function(cnp.linalg, re + 1j * im)
        return cnp.sum(weights * (real_parts(y) if y.dtype.kind == "c" else y))

    re, im = composit.grad(loss, (0, 1))(a.real.copy(), a.imag.copy())
    scale = abs(leaf.grad.numpy()).max()
    np.testing.assert_allclose(cnp.evaluate(re), leaf.grad.real, rtol=1e-8, atol=1e-9 * scale)
    np.testing.assert_allclose(cnp.evaluate(im), leaf.grad.imag, rtol=1e-8, atol=1e-9 * scale)


def test_gradients_through_eigenvalues_of_a_real_matrix():
    a = np.random.default_rng(4).standard_normal((4, 4))
    leaf = torch.tensor(a, requires_grad=True)
    (torch.linalg.eigvals(leaf).abs() ** 2).sum().backward()
    x = cnp.asarray(a)
    w = cnp.linalg.eigvals(x)
    loss = cnp.sum(w.real**2 + w.imag**2)
    (gradient,) = composit.nn.chain_rule({loss: loss}, [x])
    np.testing.assert_allclose(cnp.evaluate(gradient), leaf.grad, rtol=1e-9, atol=1e-10)
