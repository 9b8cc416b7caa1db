"""segment_reduce, geqrf and SparseAdam beside PyTorch, where the table of calls does not reach."""

import re

import pytest
import torch as peer

import composit.torch as torch


def both(function):
    """What the function returns in both libraries, or the error it raises."""
    texts = []
    for library in (torch, peer):
        try:
            texts.append(repr(function(library)))
        except RuntimeError as error:
            texts.append(re.sub(r" \[[^\[\]]+:\d+\]$", "", str(error)))
    return texts


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("options", [
    lambda t: {"lengths": t.tensor([2, 0, 3])}, lambda t: {"offsets": t.tensor([0, 2, 2, 5])},
    lambda t: {"lengths": t.tensor([2, 0, 3]), "initial": 1.5},
    lambda t: {"lengths": t.tensor([1, 1]), "unsafe": True},
])  # fmt: skip
@pytest.mark.parametrize("shape", [(5,), (5, 2)])
def test_segments(reduce, options, shape):
    def values(t):
        x = (t.arange(10.0)[: 5 * shape[-1] if len(shape) > 1 else 5] % 3 + 1).reshape(shape)
        x.requires_grad_()
        found = t.segment_reduce(x, reduce, **options(t))
        (gradient,) = t.autograd.grad(found.nan_to_num(0, 9, -9).sum(), x)
        return found.detach(), gradient

    mine, theirs = both(values)
    assert mine == theirs


def test_what_is_refused():
    x, ones = torch.ones(3), torch.tensor([1, 1])
    with pytest.raises(RuntimeError, match=r"segment_reduce: lengths \[1, 1\] for 3 rows"):
        torch.segment_reduce(x, "sum", lengths=ones)
    with pytest.raises(RuntimeError, match="unsupported reduction median"):
        torch.segment_reduce(x, "median", lengths=ones)
    with pytest.raises(RuntimeError, match="Either lengths or offsets"):
        torch.segment_reduce(x, "sum")
    with pytest.raises(NotImplementedError, match="axis 1 with segments"):
        torch.segment_reduce(torch.ones(2, 3), "sum", lengths=torch.tensor([[3], [3]]), axis=1)


def test_geqrf_has_no_gradient():
    x = torch.ones(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for 'Geqrf: input' is not implemented"):
        torch.geqrf(x).a.sum().backward()


def test_sparse_adam_refuses_dense_gradients():
    def step(t):
        w = t.nn.Parameter(t.ones(2))
        optimizer = t.optim.SparseAdam([w], lr=0.1)
        optimizer.step()  # nothing to do
        w.sum().backward()
        optimizer.step()

    mine, theirs = both(step)
    assert mine == theirs and "dense gradients" in mine
