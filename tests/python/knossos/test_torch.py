"""Kernels over torch's tensors: autograd, modules, functions."""

import kernels
import numpy as np
import pytest
import torch

import composit.torch
from composit import knossos

relu3 = knossos.register(kernels.relu3)
ordered = knossos.register(kernels.ordered)


def reference(x):
    cubic = 1 / 3 * x**3
    return torch.where(x < 0, torch.zeros_like(x), torch.where(x < 1, cubic, x - 2 / 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_value_and_gradient(dtype):
    x = torch.linspace(-3, 3, 61, dtype=dtype).reshape(61, 1).requires_grad_()
    y = relu3(x)
    assert y.dtype == dtype and y.shape == x.shape
    torch.testing.assert_close(y, reference(x))
    g = torch.randn_like(x)
    (got,) = torch.autograd.grad(y, x, g)
    (want,) = torch.autograd.grad(reference(x), x, g)
    torch.testing.assert_close(got, want)
    assert not relu3(x.detach()).requires_grad
    torch.testing.assert_close(relu3.vjp(x.detach(), g), want)


def test_gradcheck_and_second_derivatives():
    x = torch.tensor([-1.3, 0.2, 0.7, 1.4], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(relu3, (x,))
    assert torch.autograd.gradgradcheck(relu3, (x,))


def test_broadcast_operands_get_sums():
    a = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    b = torch.randn(3, dtype=torch.float64, requires_grad=True)
    ordered(a, b).sum().backward()
    got = a.grad.clone(), b.grad.clone()
    a.grad = b.grad = None
    (torch.minimum(a, b) - 2 * torch.maximum(a, b)).sum().backward()
    torch.testing.assert_close(got, (a.grad, b.grad))


@knossos.register
def leaky(x: float, slope: float) -> float:
    return x if x > 0 else x * slope


@pytest.mark.parametrize("framework", [torch, composit.torch])
def test_modules_take_arguments_by_name(framework):
    x = framework.tensor([-1.0, 2.0])
    assert leaky.nnModule(x, slope=0.5).tolist() == [-0.5, 2.0]
    assert leaky.nnModule(slope=0.5, x=x).tolist() == [-0.5, 2.0]
    with pytest.raises(TypeError, match=r"leaky: got 1 arguments\. 2 are required\."):
        leaky.nnModule(x)


def test_module_and_function():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), relu3.nnModule, torch.nn.Linear(8, 2))
    assert "relu3" in str(model)
    x = torch.randn(5, 4)
    loss = model(x).square().sum()
    loss.backward()
    hidden = model[0](x)
    torch.testing.assert_close(model(x), model[2](reference(hidden)))
    assert all(p.grad is not None for p in model.parameters())
    torch.testing.assert_close(relu3.autogradFunction.apply(hidden), reference(hidden))
    module = relu3.nnModule(example_input=torch.zeros(1))
    torch.testing.assert_close(module(x), reference(x))


def test_bad_tensors_are_named():
    with pytest.raises(NotImplementedError, match=r"relu3: a tensor lies on meta, which is not"):
        relu3(torch.zeros(2, device="meta"))
    assert np.isclose(relu3(torch.tensor(0.5, dtype=torch.float64)).item(), 1 / 24)


def test_composits_torch_takes_kernels_and_their_modules():
    import composit.torch as front

    given = np.linspace(-3, 3, 13)
    x = front.tensor(given.tolist(), dtype=front.float64, requires_grad=True)
    y = relu3(x)
    assert isinstance(y, front.Tensor)
    y.sum().backward()
    assert np.array_equal(y.detach().numpy(), relu3(given))
    np.testing.assert_allclose(x.grad.numpy(), relu3.grad(given), rtol=1e-15)
    low, high = ordered(x.detach(), front.zeros(13, dtype=front.float64)), ordered(given, 0.0)
    assert np.array_equal(low.numpy(), high)
    model = front.nn.Sequential(front.nn.Linear(4, 8), relu3.nnModule)
    assert str(model).splitlines()[2] == "  (1): KernelModule(relu3)"
    holder = front.nn.Module()
    holder.activation = relu3.nnModule
    assert isinstance(holder.activation, front.nn.Module)
    x = front.randn(5, 4)
    assert np.array_equal(model(x).detach().numpy(), relu3(model[0](x).detach().numpy()))
