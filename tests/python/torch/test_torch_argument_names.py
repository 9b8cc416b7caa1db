"""Arguments have PyTorch's names and places: all names of its signatures and schemas, and every
example call with all arguments named, and with all at their places."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch as peer
from torch_conformance import compare, keywords, named_calls, names

from composit import torch

_by_path: dict[str, list] = {}
for _example in compare.examples():
    if names.has(_example.space, _example.name) and _example.space != "optim":
        _by_path.setdefault(_example.path, []).append(_example)


def test_no_name_is_missing():
    assert keywords.missing() == {}


@pytest.mark.parametrize("path", keywords.REFUSED_BY_PYTORCH)
def test_names_that_are_left_out_are_refused_by_pytorch(path):
    name, call = keywords.REFUSED_BY_PYTORCH[path]
    for library in (peer, torch):
        with pytest.raises(TypeError):
            call(library, name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", _by_path)
def test_calls_with_named_arguments_and_with_all_at_their_places(path):
    for example in _by_path[path]:
        for spelled in (*named_calls.named(example), *named_calls.placed(example)):
            weights: dict = {}
            try:
                theirs, _ = compare._run(spelled, peer, weights, is_recorded=False)
            except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
                continue  # no spelling of PyTorch's
            mine, _ = compare._run(spelled, torch, weights, is_recorded=False)
            assert len(mine) == len(theirs), spelled.text
            for x, y in zip(mine, theirs):
                compare._check(x, y, 3e-5, 3e-6)


@pytest.mark.parametrize("lib", [peer, torch], ids=["pytorch", "composit"])
def test_numpys_names_stand_for_pytorchs(lib):
    x = lib.tensor([0.5, 2.0])
    assert lib.exp(x=x).tolist() == lib.exp(a=x).tolist() == lib.exp(x1=x).tolist()
    assert lib.add(x1=x, x2=x).tolist() == [1.0, 4.0]
    assert lib.sum(a=lib.ones(2, 3), axis=1, keepdims=True).tolist() == [[3.0], [3.0]]
    for _ in range(3):
        assert lib.where(input=x, condition=x > 1, other=-x).tolist() == [-0.5, 2.0]


@pytest.mark.parametrize("lib", [peer, torch], ids=["pytorch", "composit"])
@pytest.mark.filterwarnings("ignore")
def test_older_and_rare_names(lib):
    with pytest.warns(FutureWarning, match="min_val"):
        module = lib.nn.Hardtanh(min_value=-2, max_value=0.5)
    assert repr(module) == "Hardtanh(min_val=-2, max_val=0.5)"
    assert module(lib.tensor([-3.0, -1.0, 1.0])).tolist() == [-2.0, -1.0, 0.5]
    with pytest.raises(AssertionError):
        lib.nn.Hardtanh(2.0, 1.0)
    with lib.set_grad_enabled(mode=False):
        assert not lib.is_grad_enabled()
        assert lib.enable_grad(orig_func=lib.is_grad_enabled)()
    x = lib.ones(2, requires_grad=True)
    with pytest.warns(FutureWarning, match="grad_variables"):
        lib.autograd.backward(x * 3, grad_variables=lib.ones(2))
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="both passed"):
        lib.autograd.backward(x * 3, lib.ones(2), grad_variables=lib.ones(2))
    ints = lib.ones(2, dtype=lib.int32)
    assert str(lib.result_type(tensor=ints, other=1.5)) == "torch.float32"
    assert str(lib.result_type(scalar=1, tensor=ints)) == "torch.int32"
    assert str(lib.result_type(scalar1=1, scalar2=2.0)) == "torch.float32"
    assert lib.ones(2).copy_(other=lib.zeros(2)).tolist() == [0.0, 0.0]
    assert lib.ones(1).expand(size=(2,), implicit=True).tolist() == [1.0, 1.0]
    assert lib.asarray(obj=[1.0], requires_grad=True).requires_grad


@pytest.mark.parametrize("lib", [peer, torch], ids=["pytorch", "composit"])
def test_the_order_of_dimensions_is_asked_for(lib):
    assert lib.ones(2, 3).dim_order(ambiguity_check=True) == (0, 1)
    assert lib.ones(1, 3).dim_order(ambiguity_check=[lib.contiguous_format]) == (0, 1)
    for check in (True, [lib.channels_last]):
        with pytest.raises(RuntimeError, match="unique dim order"):
            lib.ones(1, 3).dim_order(ambiguity_check=check)


@pytest.mark.parametrize("lib", [peer, torch], ids=["pytorch", "composit"])
def test_sparse_tensors_of_parts(lib):
    x = lib.zeros(2, 3, 2)
    x[0, 0, 0], x[0, 2, 0], x[0, 2, 1], x[1, 1, 0] = 1.0, 2.0, 3.0, 4.0
    for made in (x.to_sparse(2), x.to_sparse(sparse_dim=2), x.to_sparse(dense_dim=1)):
        assert made.indices().tolist() == [[0, 0, 1], [0, 2, 1]]
        assert made.values().tolist() == [[1.0, 0.0], [2.0, 3.0], [4.0, 0.0]]
        assert (made.sparse_dim(), made.dense_dim()) == (2, 1)
        assert made.to_dense().tolist() == x.tolist()
    for options in ({"sparse_dim": 0}, {"sparse_dim": 4}, {"blocksize": (1, 1)}):
        with pytest.raises((RuntimeError, TypeError)):
            x.to_sparse(**options)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_weights_of_losses(name, reduction):
    found = []
    for lib in (peer, torch):
        x = lib.tensor([[0.5, -2.0], [3.0, 0.1]], requires_grad=True)
        target, weight = lib.ones(2, 2), lib.tensor([[1.0, 2.0], [0.5, 0.0]])
        loss = getattr(lib.nn.functional, name)(x, target, reduction=reduction, weight=weight)
        loss.sum().backward()
        found.append((loss.detach().numpy(), x.grad.numpy()))
    for mine, theirs in zip(*found):
        assert mine == pytest.approx(theirs, rel=1e-6)


def test_products_of_halves_in_float32():
    """PyTorch has out_dtype on GPUs alone."""
    numbers = [[1.0009765625, 3.0], [0.5, 2048.0]]
    for kind in (torch.float16, torch.bfloat16):
        half = torch.tensor(numbers, dtype=kind)
        exact = half.double() @ half.double()
        zeros = torch.zeros(2, 2)
        products = [
            torch.mm(half, half, out_dtype=torch.float32),
            torch.bmm(half[None], half[None], torch.float32)[0],
            torch.addmm(zeros, half, half, out_dtype=torch.float32),
        ]
        for made in products:
            assert made.dtype == torch.float32 and made.tolist() == exact.tolist()
    with pytest.raises(RuntimeError, match="out_dtype float64 for matrices of float32"):
        torch.mm(torch.ones(2, 2), torch.ones(2, 2), out_dtype=torch.float64)
