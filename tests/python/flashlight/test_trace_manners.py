"""What models do beside computing: ask for values, assign data, cast their parts, change shapes."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import composit
from composit import flashlight
from composit.flashlight.tracer import trace


def _chosen(x):
    if x.sum() > 0:
        x = x * 2
    count = int((x > 1).sum().item())
    positions = (x > 1).nonzero().float().sum()
    return x[x > 1].sum() * count + positions + x.masked_select(x > 1).sum() * 3


def test_run_torch_knows_the_values_of_inputs_and_differentiates():
    x = torch.tensor([[1.0, 2.0, -3.0], [4.0, 0.1, 0.7]])
    with trace(run_torch=True) as tracer:
        y = _chosen(x)
        assert isinstance(y, flashlight.Tensor)
        assert y.item() == _chosen(x.clone()).item()
    (slope,) = composit.nn.chain_rule({y: y}, tracer.parameters.values())
    x.requires_grad_()
    _chosen(x).backward()
    np.testing.assert_array_equal(composit.evaluate(slope), x.grad)
    with trace(run_torch=True):
        short = torch.ones(2, 2, dtype=torch.bfloat16) @ torch.ones(2, 2, dtype=torch.bfloat16)
        assert short.tolist() == [[2, 2], [2, 2]]
        with pytest.raises(NotImplementedError, match="values of a traced tensor"):
            torch.cond(x.sum() > 0, lambda a: a * a.sum().item(), torch.neg, (x,))


def test_without_it_values_are_refused():
    x = torch.ones(2, 2)
    with pytest.raises(NotImplementedError, match="values of a traced tensor"), trace():
        _chosen(x)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.unsqueeze_(0),
        lambda x: x.unsqueeze_(-1).squeeze_(-1),
        lambda x: x.t_(),
        lambda x: x.transpose_(0, 1),
        lambda x: x.as_strided_((2, 2), (1, 4)),
    ],
)
def test_shapes_change_in_place(change):
    def model(x):
        y = x * 1
        z = change(y)
        assert z is y
        z[0, 0] = 7
        constant = torch.arange(12.0).reshape(3, 4)
        change(constant)
        return y * 2 + constant

    x = torch.rand(3, 4)
    with trace():
        y = model(x)
    np.testing.assert_array_equal(composit.evaluate(y), model(x))


def test_small_operators():
    numbers, x = torch.tensor([0, 2, 1]), torch.tensor([1.0, -1.0])
    with trace():
        hot = F.one_hot(numbers, 4)
        every, some = torch._is_all_true(x > 0), torch._is_any_true(x > 0)
        strided = torch.as_strided(x, (2, 2), (0, 1))
    assert np.array_equal(composit.evaluate(hot), F.one_hot(numbers, 4))
    assert composit.evaluate(every, some) == [False, True]
    assert np.array_equal(composit.evaluate(strided), [[1, -1], [1, -1]])
    with pytest.raises(NotImplementedError, match="values of a traced tensor"), trace():
        F.one_hot(numbers)


def test_models_are_told_what_export_tells_them():
    asked = (torch.compiler.is_compiling, torch.compiler.is_exporting)
    with trace():
        assert all(ask() for ask in asked)
        assert not torch.compiler.is_dynamo_compiling()
    assert not any(ask() for ask in asked)


class _Changing(torch.nn.Module):
    def __init__(self, change):
        super().__init__()
        self.inner, self.change = torch.nn.Linear(2, 2), change

    def forward(self, x):
        self.change(self.inner, x)
        return self.inner(x)


def _doubled(inner, x):
    inner.weight.data = inner.weight.data * 2
    inner.bias.data = torch.zeros(2)
    assert inner.weight.data.shape == (2, 2)


def _replaced(inner, x):
    inner.weight = torch.nn.Parameter(inner.weight * 2)


@pytest.mark.parametrize(
    "change",
    [
        _doubled,
        _replaced,
        lambda inner, x: inner.to(torch.float32),
        lambda inner, x: inner.to(x),
        lambda inner, x: inner.cpu().float(),
        lambda inner, x: setattr(inner.weight, "data", inner.weight.data),
    ],
)
def test_what_forward_does_to_parameters_is_undone(change):
    model, x = _Changing(change), torch.ones(1, 2)
    weight, before = model.inner.weight, model.inner.weight.detach().clone()
    with torch.no_grad(), trace():
        y = model(x)
    assert model.inner.weight is weight and torch.equal(weight, before)
    assert "data" not in vars(torch.Tensor)
    with torch.no_grad():
        np.testing.assert_allclose(composit.evaluate(y), model(x), rtol=1e-6)


def test_casts_and_data_with_gradients_are_refused():
    x = torch.ones(1, 2)
    for change in (lambda inner, x: inner.double(), lambda inner, x: inner.half()):
        model = _Changing(change)
        with pytest.raises(NotImplementedError, match="is given data of"), trace():
            model(x)
        assert model.inner.weight.dtype is torch.float32
    with pytest.raises(NotImplementedError, match="requires a gradient"), trace():
        _Changing(_doubled)(x)
