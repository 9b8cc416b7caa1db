"""Batch normalisation by the batch's statistics: values, gradients, and gradients of gradients are
PyTorch's."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

SHAPES = [(6, 3), (4, 3, 5), (2, 3, 4, 5)]


def found(t, shape, is_affine, dtype):
    drawn = np.random.default_rng(3)
    arrays = [drawn.normal(size=shape) for _ in range(3)] + [drawn.normal(size=3) for _ in range(3)]
    x, upstream, along, weight, bias, other = [t.tensor(a.astype(dtype)) for a in arrays]
    leaves = [x, weight, bias] if is_affine else [x]
    for leaf in leaves:
        leaf.requires_grad_()
    mean, variance = t.zeros(3, dtype=x.dtype), t.ones(3, dtype=x.dtype)
    parameters = (weight, bias) if is_affine else (None, None)
    y = t.nn.functional.batch_norm(x, mean, variance, *parameters, True, 0.1, 1e-5)
    first = t.autograd.grad((y * upstream).sum(), leaves, create_graph=True)
    total = (first[0] * along).sum()
    if is_affine:
        total = total + (first[1] * other).sum()
    second = t.autograd.grad(total, leaves[:2])
    return [a.detach().numpy() for a in (y, mean, variance, *first, *second)]


@pytest.mark.parametrize("is_affine", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_are_pytorchs(shape, is_affine, dtype):
    close = {"rtol": 1e-9, "atol": 1e-10} if dtype == "float64" else {"rtol": 2e-4, "atol": 2e-4}
    ours = found(torch, shape, is_affine, dtype)
    for mine, yours in zip(ours, found(peer, shape, is_affine, dtype), strict=True):
        assert mine.dtype == yours.dtype
        np.testing.assert_allclose(mine, yours, **close)


def test_it_goes_through_jvp_and_vmap():
    drawn = np.random.default_rng(4)
    x, tangent = drawn.normal(size=(2, 5, 6, 3))
    upstream = drawn.normal(size=(6, 3))

    def normal(t):
        return lambda x: t.nn.functional.batch_norm(x, None, None, None, None, True)

    def slopes(t):
        def loss(x):
            return (normal(t)(x) * t.tensor(upstream)).sum()

        _, moved = t.func.jvp(normal(t), (t.tensor(x[0]),), (t.tensor(tangent[0]),))
        each = t.func.vmap(t.func.grad(loss))(t.tensor(x))
        return moved.numpy(), each.numpy()

    for mine, yours in zip(slopes(torch), slopes(peer), strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-9, atol=1e-10)
