"""Gradients of functions of complex tensors against PyTorch's convention."""

import numpy as np
import pytest
import torch

import composit
import composit.numpy as cnp


def drawn(*shape, seed=0):
    pairs = np.random.default_rng(seed).normal(size=(2, *shape))
    return pairs[0] + 1j * pairs[1]


def check(ours, theirs, *arguments):
    """The gradients of sum(real) + 2 sum(imag), which no conjugate leaves as it is."""

    def scalar(*x):
        y = ours(*x)
        return cnp.sum(cnp.real(y)) + 2 * cnp.sum(cnp.imag(y))

    gradients = composit.grad(scalar, argnums=tuple(range(len(arguments))))(*arguments)
    tensors = [torch.tensor(x, requires_grad=True) for x in arguments]
    y = theirs(*tensors)
    (y.real.sum() + 2 * y.imag.sum() if y.is_complex() else y.sum()).backward()
    for gradient, tensor in zip(gradients, tensors):
        expected = tensor.grad.resolve_conj().numpy()
        assert gradient.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(gradient), expected, rtol=1e-9, atol=1e-11)


OF_ONE = {
    "absolute": torch.abs, "sign": torch.sgn, "conjugate": lambda z: z.conj() * 1,
    "real": lambda z: z.real * 1, "imag": lambda z: z.imag * 1, "angle": torch.angle,
    "reciprocal": torch.reciprocal, "square": torch.square, "exp": torch.exp, "sin": torch.sin,
    "cos": torch.cos, "tan": torch.tan, "sinh": torch.sinh, "cosh": torch.cosh,
    "tanh": torch.tanh, "log": torch.log, "sqrt": torch.sqrt, "arcsin": torch.asin,
    "arccos": torch.acos, "arctan": torch.atan, "arcsinh": torch.asinh, "arctanh": torch.atanh,
    "arccosh": torch.acosh, "exp2": torch.exp2, "expm1": torch.expm1, "log2": torch.log2,
    "log10": torch.log10, "log1p": torch.log1p, "negative": torch.neg,
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE)
def test_of_one(name):
    check(getattr(cnp, name), OF_ONE[name], drawn(3, 4))


x, y, z = drawn(3, 4), drawn(3, 4, seed=1), drawn(4, 5, seed=2)
CASES = {
    "multiply": (lambda a, b: a * b, x, y),
    "divide": (lambda a, b: a / b, x, y),
    "subtract": (lambda a, b: a - b, x, y),
    "with a real one": (lambda a, b: a * b, x, y.real.copy()),
    "broadcast": (lambda a, b: a * b, x, y[0]),
    "with a number": (lambda a: (a * (2 - 1j) + 1j) * a, x),
    "matmul": (lambda a, b: a @ b, x, z),
    "sum": (lambda a: a.sum(0) ** 2, x),
    "prod": (lambda a: a.prod(1), x),
    "cumprod": (lambda a: a.cumprod(1), x),
    "cumsum": (lambda a: a.cumsum(1) ** 2, x),
    "mean": (lambda a: a.mean() ** 2, x),
    "gather": (lambda a: a[[0, 0, 2]] ** 2, x),
    "slice": (lambda a: a[1:, ::2] * a[:2, :2], x),
    "reshape": (lambda a: a.reshape(4, 3) * a.reshape(4, 3)[0], x),
}


@pytest.mark.parametrize("name", CASES)
def test_of_several(name):
    function, *arguments = CASES[name]
    check(function, function, *arguments)


def test_where_they_are_called_otherwise():
    check(lambda a: cnp.var(a), lambda a: a.var(correction=0), x)
    check(lambda a: a.astype("float64") * 2, lambda a: a.real * 2, x)
    check(cnp.power, torch.pow, x, y)
    check(cnp.vdot, lambda a, b: torch.vdot(a.ravel(), b.ravel()), x, y)
    check(lambda a, b: cnp.where(cnp.real(a) > 0, a, b),
          lambda a, b: torch.where(a.real > 0, a, b), x, y)  # fmt: skip
    check(lambda a, b: cnp.einsum("ij,jk->ki", a, b),
          lambda a, b: torch.einsum("ij,jk->ki", a, b), x, z)  # fmt: skip


def test_forward_and_reverse_agree():
    def function(a):
        return cnp.exp(a) * cnp.conj(a) / (1 + cnp.abs(a))

    tangent = drawn(3, 4, seed=3)
    _, forward = composit.jvp(function, (x,), (tangent,))
    step = 1e-6
    difference = (np.asarray(function(cnp.asarray(x + step * tangent)))
                  - np.asarray(function(cnp.asarray(x - step * tangent)))) / (2 * step)  # fmt: skip
    np.testing.assert_allclose(np.asarray(forward), difference, rtol=1e-6, atol=1e-8)


def test_second_derivatives():
    def slope(a):
        return composit.grad(lambda a: cnp.sum(cnp.abs(a) ** 2 * cnp.real(a)))(a)

    check(lambda a: slope(a), _torch_slope, x)


def _torch_slope(a):
    y = (a.abs() ** 2 * a.real).sum()
    return torch.autograd.grad(y, a, create_graph=True)[0]
