"""The kernels of examples/kernels, against torch's automatic derivatives."""

import math

import numpy as np
import torch
from kernel_examples import example


def mixture_in_torch(alphas, means, factors, x, gamma, m):
    k, d = means.shape
    rows, columns = zip(*[(b, a) for a in range(d) for b in range(a + 1, d)])
    matrices = torch.zeros(k, d, d, dtype=x.dtype)
    matrices[:, rows, columns] = factors[:, d:]
    matrices = matrices + torch.diag_embed(torch.exp(factors[:, :d]))
    sums = factors[:, :d].sum(1)
    moved = torch.einsum("kab,nkb->nka", matrices, x[:, None] - means)
    terms = alphas + sums - 0.5 * (moved**2).sum(2)
    prior = 0.5 * gamma**2 * (torch.exp(factors[:, :d]) ** 2).sum()
    prior = prior + 0.5 * gamma**2 * (factors[:, d:] ** 2).sum() - m * sums.sum()
    return torch.logsumexp(terms, 1).sum() - len(x) * torch.logsumexp(alphas, 0) + prior


def test_gaussian_mixture():
    kernel = example("gaussian_mixture").gaussian_mixture
    random = np.random.default_rng(0)
    n, k, d = 13, 4, 5
    given = [
        random.normal(size=k), random.normal(size=(k, d)),
        random.normal(size=(k, d * (d + 1) // 2)) / 3, random.normal(size=(n, d)),
    ]  # fmt: skip
    wanted = kernel.__wrapped__(*given, 0.7, 2)
    assert math.isclose(kernel(*given, 0.7, 2), wanted, rel_tol=1e-13)
    tensors = [torch.tensor(each, requires_grad=True) for each in given]
    gamma = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    value = mixture_in_torch(*tensors, gamma, 2)
    value.backward()
    assert math.isclose(kernel(*given, 0.7, 2), value.item(), rel_tol=1e-12)
    found = kernel.grad(*given, 0.7, 2)
    for gradient, tensor in zip(found, [*tensors, gamma]):
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-10, atol=1e-10)
