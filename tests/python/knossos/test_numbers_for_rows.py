"""Numbers that stand for themselves in each row of what vmap makes: Python's, arrays and tensors
without axes, and of nested maps one for each outer row; their gradients are sums over the rows."""

# ruff: noqa: F821

import numpy as np
import pytest
import torch

import composit
import composit.torch as ct
from composit import cg, knossos
from composit import numpy as cnp
from composit.cg import op
from composit.knossos import Tensor


@knossos.register
def scaled(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
    return w * w * x


@knossos.register
def counted(w: float, k: int, x: "Tensor[float, n]") -> float:
    return w * w * np.sum(x) * k


over_rows = knossos.vmap(scaled)
over_both = knossos.vmap(over_rows)
sums = knossos.vmap(counted)
ROWS = np.arange(6.0).reshape(2, 3)
BOTH = np.arange(24.0).reshape(4, 2, 3)


@pytest.mark.parametrize("make", [float, np.array, np.float64, composit.asarray, cnp.array])
def test_values(make):
    np.testing.assert_array_equal(np.asarray(over_rows(ROWS, make(0.5))), ROWS / 4)
    np.testing.assert_array_equal(np.asarray(over_rows(cnp.asarray(ROWS), make(0.5))), ROWS / 4)
    np.testing.assert_array_equal(np.asarray(sums(make(0.5), np.array(2), ROWS)), [1.5, 6.0])
    received = over_rows.vjp(ROWS, make(0.5), np.ones((2, 3)))
    np.testing.assert_array_equal(np.asarray(received[1]), ROWS.sum(1))  # of each row
    moved = over_rows.jvp(ROWS, make(0.5), ROWS, make(1.0))
    np.testing.assert_array_equal(np.asarray(moved), ROWS / 4 + ROWS)


def test_one_number_for_each_outer_row():
    w = np.array([0.5, 1.0, 2.0, 3.0])
    want = BOTH * (w * w)[:, None, None]
    np.testing.assert_array_equal(over_both(BOTH, w), want)
    np.testing.assert_array_equal(np.asarray(over_both(cnp.asarray(BOTH), w)), want)
    np.testing.assert_array_equal(over_both(torch.from_numpy(BOTH), torch.from_numpy(w)), want)
    with pytest.raises(ValueError, match=r"an array of shape \(2,\) stands for one of 2 axes"):
        over_both(BOTH, np.ones(2))
    with pytest.raises(ValueError, match="At least one array is required"):
        over_rows(np.array(0.5), 0.5)


def test_torch_sums_gradients_over_rows():
    rows = torch.from_numpy(ROWS).requires_grad_()
    both = torch.from_numpy(BOTH).requires_grad_()
    w = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    each = torch.rand(4, dtype=torch.float64, requires_grad=True)
    for function, given in (
        (over_rows, (rows, w)),
        (over_both, (both, w)),
        (over_both, (both, each)),
    ):
        assert torch.autograd.gradcheck(function, given, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(function, given)
    single = torch.tensor(0.5, requires_grad=True)
    (found,) = torch.autograd.grad(over_rows(torch.ones(2, 3), single).sum(), single)
    assert found.dtype == torch.float32 and found.item() == 6.0
    torch.testing.assert_close(torch.func.vmap(over_rows)(both, each), over_both(both, each))
    shared = torch.func.vmap(over_rows, in_dims=(0, None))(both, w)
    torch.testing.assert_close(shared, over_both(both, w))


def test_composit_sums_gradients_over_rows():
    gradient = composit.grad(lambda w: composit.sum(over_rows(cnp.asarray(ROWS), w)))
    assert composit.evaluate(gradient(composit.asarray(0.5))) == ROWS.sum()
    gradient = composit.grad(lambda w: composit.sum(over_both(cnp.asarray(BOTH), w)))
    found = composit.evaluate(gradient(composit.asarray(np.ones(4))))
    np.testing.assert_array_equal(found, 2 * BOTH.sum((1, 2)))
    w = ct.tensor(0.5, requires_grad=True)
    over_rows(ct.ones((2, 3)), w).sum().backward()
    assert w.grad.item() == 6.0


class Model(cg.Module):
    def __init__(self):
        super().__init__([cg.Variable("x")], [cg.Parameter("w", np.array(0.5))])

    def call(self, x):
        return op.sum(over_rows(x, self.param("w"))) + op.sum(over_rows(x, 2.0))


def test_nodes():
    model = Model()
    result = model(ROWS)
    assert result.value == ROWS.sum() * 4.25
    result.back()
    assert result.grad(model.param("w")) == ROWS.sum()
