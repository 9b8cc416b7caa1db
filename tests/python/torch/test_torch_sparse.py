"""Sparse tensors in coordinates, beside PyTorch's: what graph networks do with them."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, peer, torch

INDICES, VALUES = [[0, 1, 1, 2], [2, 0, 0, 1]], [3.0, 4.0, 5.0, -1.0]


def made(t, **options):
    return t.sparse_coo_tensor(t.tensor(INDICES), t.tensor(VALUES), (3, 4), **options)


def test_parts_and_dense_values():
    check_same(lambda t: made(t).to_dense())
    check_same(lambda t: [made(t)._indices(), made(t)._values(), made(t)._nnz()])
    check_same(lambda t: [made(t).coalesce().indices(), made(t).coalesce().values()])
    check_same(lambda t: [made(t).is_coalesced(), made(t).coalesce().is_coalesced()])
    check_same(lambda t: [list(made(t).shape), made(t).size(1), made(t).dim(), made(t).is_sparse])
    check_same(lambda t: t.sparse_coo_tensor([[0, 2]], [1, 2]).to_dense())
    check_same(lambda t: made(t).t().to_dense())
    check_same(lambda t: (made(t) * 2).to_dense() + (made(t) + made(t)).to_dense())
    check_same(lambda t: t.sparse.FloatTensor(t.tensor(INDICES), t.tensor(VALUES)).to_dense())
    check_same(lambda t: t.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().indices())
    check_same(lambda t: t.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().to_dense())
    check_same(lambda t: t.eye(2).to_sparse(layout=t.sparse_coo).to_dense())


@pytest.mark.parametrize("product", [
    lambda t, s, d: s @ d, lambda t, s, d: t.spmm(s, d), lambda t, s, d: t.sparse.mm(s, d),
    lambda t, s, d: t.mm(s, d), lambda t, s, d: t.matmul(s, d), lambda t, s, d: s.matmul(d[:, 0]),
])  # fmt: skip
def test_products_and_their_gradients(product):
    results = []
    for t in (torch, peer):
        values = t.tensor(VALUES, requires_grad=True)
        dense = t.arange(8.0).reshape(4, 2).requires_grad_()
        found = product(t, t.sparse_coo_tensor(t.tensor(INDICES), values, (3, 4)), dense)
        (found**2).sum().backward()
        results.append([found.tolist(), values.grad.tolist(), dense.grad.tolist()])
    assert results[0] == results[1]


def test_what_is_wrong_is_said():
    for call in (
        lambda t: made(t).indices(),
        lambda t: t.sparse_coo_tensor(
            t.tensor([[5], [0]]), t.tensor([1.0]), (3, 4), check_invariants=True
        ),
        lambda t: t.sparse_coo_tensor(
            t.tensor([[-1], [0]]), t.tensor([1.0]), (3, 4), check_invariants=True
        ),
    ):
        for t in (torch, peer):
            with pytest.raises(RuntimeError):
                call(t)
    with pytest.raises(NotImplementedError, match="exp: a sparse tensor is given"):
        torch.exp(made(torch))


def test_a_graph_network_learns():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 12, (2, 40))
    drawn = rng.standard_normal((12, 5)).tolist()
    losses = []
    for t in (torch, peer):
        adjacency = t.sparse_coo_tensor(t.tensor(edges), t.full((40,), 0.25), (12, 12))
        features = t.tensor(drawn, dtype=t.float64)
        weights = t.full((5, 3), 0.1, dtype=t.float64, requires_grad=True)
        for _ in range(3):
            out = t.spmm(adjacency.double(), features @ weights).relu()
            loss = ((out - 1) ** 2).mean()
            loss.backward()
            with t.no_grad():
                weights -= 0.1 * weights.grad
                weights.grad = None
            losses.append(loss.item())
    np.testing.assert_allclose(losses[:3], losses[3:], 1e-12)
