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


HYBRID = [
    lambda t, h, s: t.sparse.mm(h, t.ones(3, 2)), lambda t, h, s: h @ t.ones(3, 2),
    lambda t, h, s: t.sparse.addmm(t.ones(2, 2), h, t.ones(3, 2)),
    lambda t, h, s: t.sparse.mm(t.ones(3, 2), h), lambda t, h, s: t.sparse.mm(s, t.ones(3, 2)),
    lambda t, h, s: t.sparse.mm(t.ones(3, 2), s), lambda t, h, s: h.transpose(0, 1),
    lambda t, h, s: s.transpose(-1, 0).to_dense(), lambda t, h, s: s.transpose(0, 2),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", HYBRID)
def test_products_are_of_matrices(program):
    check_same(lambda t: program(
        t, t.sparse_coo_tensor([[0, 1]], t.ones(2, 3), (2, 3)),
        t.sparse_coo_tensor([[0, 1], [1, 0]], t.tensor([2.0, 3.0]), (2, 2))))  # fmt: skip


ELEMENTS = [
    ([[0, 1], [1, 0]], [1.0, 2.0], (2,)), ([[0, 1], [1, 0]], [1.0, 2.0], (2, 2, 2)),
    ([[0, 1], [1, 0]], [1.0, 2.0], ()), ([[0, 1], [1, 0]], [1.0, 2.0, 3.0], (2, 2)),
    ([[0, 1], [1, 0]], [1.0, 2.0, 3.0], None), ([0, 1], [1.0, 2.0], None),
    ([0, 1], [1.0, 2.0], (2, 2)), ([[[0, 1]]], [1.0, 2.0], None), ([[0, 1]], 3.0, None),
    ([[1]], 3.0, (2,)), ([], [], None), ([], [], (2, 2)), ([[0, 1]], [[1.0], [2.0]], (2,)),
    ([[0, 1]], [[1.0], [2.0]], (2, 2)), ([[0, 1]], [[1.0], [2.0]], (2, 1)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("elements", ELEMENTS)
def test_elements_fit_the_size(elements):
    indices, values, size = elements
    sizes = () if size is None else (size,)
    check_same(lambda t: t.sparse_coo_tensor(indices, t.tensor(values), *sizes).to_dense())


def test_the_callers_values_are_not_marked():
    def program(t):
        indices, values = t.tensor(INDICES), t.tensor(VALUES)
        x = t.sparse_coo_tensor(indices, values, (3, 4), requires_grad=True)
        y = t.sparse_coo_tensor(indices, values, (3, 4)).requires_grad_()
        (x.to_dense() * 3 + y.to_dense()).sum().backward()
        grads = [z.grad.to_dense() for z in (x, y)]
        return [values.requires_grad, x.requires_grad, y.requires_grad, grads, values.grad]

    check_same(program)


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


PRODUCTS_WITH_VECTORS = [
    lambda t, s, v, w: w @ s, lambda t, s, v, w: t.matmul(w, s), lambda t, s, v, w: t.mv(s, v),
    lambda t, s, v, w: s.mv(v), lambda t, s, v, w: t.mv(vec=v, input=s), lambda t, s, v, w: s @ v,
    lambda t, s, v, w: v @ s.T, lambda t, s, v, w: s.T @ w,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PRODUCTS_WITH_VECTORS)
def test_products_with_vectors_and_their_gradients(program):
    def run(t):
        values, v, w = (
            t.tensor(x, requires_grad=True) for x in ([1.0, 2.0, 3.0], [1.0, 5.0, 2.0], [4.0, 6.0])
        )
        made = program(t, t.sparse_coo_tensor([[0, 1, 1], [0, 0, 2]], values, size=(2, 3)), v, w)
        made.sum().backward()
        return [made.detach(), values.grad, v.grad if w.grad is None else w.grad]

    check_same(run)


@pytest.mark.filterwarnings("ignore")
def test_vectors_that_do_not_fit_are_refused_and_t_reverses_the_dimensions():
    def made(t, at=((0, 1), (0, 2)), size=(2, 3)):
        return t.sparse_coo_tensor(t.tensor(at), t.tensor([1.0, 2.0]), size=size)

    for call in (
        lambda t: t.mv(made(t), t.ones(2)), lambda t: made(t) @ t.ones(2),
        lambda t: t.ones(3) @ made(t), lambda t: t.mv(made(t), t.ones(3, 1)),
    ):  # fmt: skip
        with pytest.raises(RuntimeError) as expected:
            call(peer)
        with pytest.raises(RuntimeError) as found:
            call(torch)
        assert str(found.value).startswith(str(expected.value).split("\n")[0])
    check_same(lambda t: made(t).T.to_dense())
    check_same(lambda t: made(t, ((0, 1), (0, 2), (1, 0)), (2, 3, 4)).T.to_dense())
    check_same(lambda t: made(t, ((0, 1),), (2,)).T.to_dense())
