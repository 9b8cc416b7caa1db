"""Factors of symmetric matrices, and Airy's function, beside PyTorch's."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch as peer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, torch

BOUNDS = {"float32": 3e-4, "float64": 1e-11, "complex64": 3e-4, "complex128": 1e-11}


def symmetric(n, batch=(), dtype="float64", hermitian=False, seed=0):
    draws = np.random.default_rng(seed)
    a = draws.standard_normal((*batch, n, n))
    if "complex" in dtype:
        a = a + 1j * draws.standard_normal(a.shape)
    turned = a.swapaxes(-1, -2)
    return (a + (turned.conj() if hermitian else turned)).astype(dtype)


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 9, 20])
def test_factors_and_solutions_are_pytorchs(n, hermitian, dtype):
    if hermitian and n == 0:
        return
    for batch in ((), (4,), (2, 3)):
        for seed in range(3):
            a = symmetric(n, batch, dtype, hermitian, seed)
            mine = torch.linalg.ldl_factor_ex(torch.tensor(a), hermitian=hermitian)
            theirs = peer.linalg.ldl_factor_ex(peer.tensor(a), hermitian=hermitian)
            assert mine.pivots.tolist() == theirs.pivots.tolist()
            assert mine.info.tolist() == theirs.info.tolist()
            assert str(mine.pivots.dtype) == "torch.int32" and mine.LD.numpy().dtype == a.dtype
            scale = np.abs(theirs.LD.numpy()).max(initial=1)
            np.testing.assert_allclose(mine.LD.numpy(), theirs.LD.numpy(), rtol=0,
                                       atol=BOUNDS[dtype] * scale)  # fmt: skip
            b = symmetric(n, batch, dtype, False, seed + 9)[..., :2]
            # PyTorch's own factors, so that the solution alone is compared.
            solved = torch.linalg.ldl_solve(
                torch.tensor(theirs.LD.numpy()), torch.tensor(theirs.pivots.numpy()),
                torch.tensor(b), hermitian=hermitian,
            )  # fmt: skip
            wanted = peer.linalg.ldl_solve(theirs.LD, theirs.pivots, peer.tensor(b),
                                           hermitian=hermitian).numpy()  # fmt: skip
            bound = BOUNDS[dtype] * np.abs(wanted).max(initial=1)
            np.testing.assert_allclose(solved.numpy(), wanted, rtol=0, atol=bound)


def test_zeros_on_the_diagonal_make_blocks():
    def program(t):
        a = t.tensor([[0.0, 1, 0, 0], [1, 0, 0, 2], [0, 0, 0, 3], [0, 2, 3, 0]])
        LD, pivots = t.linalg.ldl_factor(a)
        x = t.linalg.ldl_solve(LD, pivots, t.ones(2, 4, 1))
        return LD, pivots, (a @ x).round(decimals=4)

    check_same(program)


def test_singular_matrices():
    def program(t):
        found = t.linalg.ldl_factor_ex(t.tensor([[1.0, 1], [1, 1]]))
        zeros = t.linalg.ldl_factor_ex(t.zeros(2, 3, 3))
        return list(found), list(zeros)

    check_same(program)
    with pytest.raises(torch.linalg.LinAlgError, match="The diagonal element 1 of D is zero"):
        torch.linalg.ldl_factor(torch.zeros(2, 2))
    with pytest.raises(torch.linalg.LinAlgError, match=r"\(Batch element 1\)"):
        torch.linalg.ldl_factor_ex(torch.stack([torch.eye(2), torch.zeros(2, 2)]),
                                   check_errors=True)  # fmt: skip


def test_results_are_written_and_named():
    def program(t):
        a = t.tensor([[2.0, 1], [1, 3]])
        out = (t.empty(2, 2), t.empty(2, dtype=t.int32))
        made = t.linalg.ldl_factor(a, out=out)
        return repr(made.LD), out[0].tolist() == made.LD.tolist()

    check_same(program)


REFUSED = {
    "no matrix": lambda t: t.linalg.ldl_factor(t.ones(2)),
    "oblong": lambda t: t.linalg.ldl_factor(t.ones(2, 3)),
    "rows": lambda t: t.linalg.ldl_solve(t.eye(3), t.tensor([1, 2, 3]), t.ones(2, 1)),
    "floating pivots": lambda t: t.linalg.ldl_solve(t.eye(3), t.ones(3), t.ones(3, 1)),
    "dtypes": lambda t: t.linalg.ldl_solve(
        t.eye(3), t.tensor([1, 2, 3]), t.ones(3, 1, dtype=t.complex64)),
    "gradient": lambda t: t.linalg.ldl_factor(t.eye(2, requires_grad=True)).LD.sum().backward(),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    check_same(REFUSED[name])


@pytest.mark.parametrize("pivots", [[0, 2], [1, 3], [1, -2], [-1, 2]])
def test_pivots_of_no_factorisation(pivots):
    with pytest.raises(RuntimeError, match=r"a pivot is|stands alone"):
        torch.linalg.ldl_solve(torch.eye(2), torch.tensor(pivots), torch.ones(2, 1))


def test_airys_function():
    x = np.concatenate([np.linspace(-25, 25, 1001), [0.0, 100.0, np.inf, -np.inf, np.nan]])
    mine = torch.special.airy_ai(torch.tensor(x)).numpy()
    theirs = peer.special.airy_ai(peer.tensor(x)).numpy()
    # PyTorch's has 4 digits at -2.2, and 12 at -4.6, of 16 elsewhere.
    near = (x > -4.7) & (x < -2.05)
    np.testing.assert_allclose(mine[~near], theirs[~near], rtol=2e-12, atol=2e-14)
    np.testing.assert_allclose(mine[near], theirs[near], atol=1e-5)
    # The equation Ai'' = x Ai.
    t = torch.linspace(-9, 5, 57, dtype=torch.float64, requires_grad=True)
    value = torch.special.airy_ai(t)
    (slope,) = torch.autograd.grad(value.sum(), t, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), t)
    np.testing.assert_allclose(second.numpy(), (t * value).detach().numpy(), atol=1e-9)
    assert torch.special.airy_ai(torch.tensor([1, 2])).dtype == torch.float32
