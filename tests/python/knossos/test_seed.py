"""The examples of the prototype's page, line by line, and what its own tests called."""

from collections import OrderedDict

import matplotlib
import numpy as np
import pytest
import torch

from composit import knossos
from composit.knossos import Tensor

matplotlib.use("Agg")


@knossos.register
def relu3(x: float) -> float:
    """
    Like ReLu, but smoother
    Like GeLu, but cheaper
    """
    if x < 0.0:
        return 0.0
    elif x < 1.0:
        return 1 / 3 * x**3
    else:
        return x - 2 / 3


vrelu3 = knossos.vmap(relu3)


def vrelu3_pytorch(x: torch.Tensor) -> torch.Tensor:
    """The page's "thinking in tensors": masks instead of branches."""
    mask1_inf = x > 1.0
    mask0_1 = (x > 0.0) & ~mask1_inf
    val_0_1 = 1 / 3 * x**3
    val_1_inf = x - 2 / 3
    return mask0_1 * val_0_1 + mask1_inf * val_1_inf


def test_plots_of_the_page():
    """A list of numbers, a tensor and the derivative go into matplotlib as the page has them."""
    import matplotlib.pyplot as plt

    t = np.arange(-3, 3, step=0.1)
    (numbers,) = plt.plot(t, [relu3(t) for t in t], "b")
    t = torch.arange(-3, 3, step=0.1)
    (tensor,) = plt.plot(t, vrelu3(t), "b")
    dfdt = vrelu3.vjp(t, torch.ones_like(t))
    (derivative,) = plt.plot(t, dfdt, "b")
    plt.close("all")
    assert all(len(line.get_ydata()) == 60 for line in (numbers, tensor, derivative))
    np.testing.assert_allclose(tensor.get_ydata(), numbers.get_ydata(), rtol=1e-6, atol=1e-7)
    leaf = t.clone().requires_grad_()
    vrelu3_pytorch(leaf).sum().backward()
    torch.testing.assert_close(dfdt, leaf.grad)


def test_the_jacobian_is_diagonal():
    """Which is why the product with ones is the derivative at each element."""
    t = torch.arange(-3, 3, step=0.5, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(vrelu3, t)
    assert torch.equal(jacobian, torch.diag(vrelu3.vjp(t, torch.ones_like(t))))
    assert torch.equal(vrelu3.jvp(t, torch.ones_like(t)), torch.diagonal(jacobian))


def test_the_derivative_is_continuous():
    for at in (0.0, 1.0):
        below, above = relu3.grad(np.nextafter(at, -1.0)), relu3.grad(np.nextafter(at, 2.0))
        assert abs(below - above) < 1e-15


def test_both_ways_of_writing_it():
    """vmap as a decorator beside the version that thinks in tensors."""

    @knossos.vmap
    def vrelu3_knossos(x: float) -> float:
        if x < 0.0:
            return 0.0
        elif x < 1.0:
            return 1 / 3 * x**3
        else:
            return x - 2 / 3

    x = torch.randn(4, 5, dtype=torch.float64)
    torch.testing.assert_close(vrelu3_knossos(x), vrelu3_pytorch(x))


@pytest.mark.parametrize("decorate", [
    knossos.register, knossos.elementwise, knossos.vmap, knossos.register(), knossos.elementwise(),
    knossos.vmap(), knossos.elementwise(example_element=1.23),
])  # fmt: skip
def test_decorators_are_bare_or_have_arguments(decorate):
    for kernel in (decorate(relu3), decorate(relu3.__wrapped__)):
        assert kernel(0.5) == 1 / 24 and kernel.grad(0.5) == 0.25


def test_the_source_has_real_floats():
    """Plain numbers and `if`s, no tensors of one element, in the derivative as in the function."""
    for line in ("double relu3(double x) {", "double relu3_vjp(double x, double dy) {"):
        assert line in relu3.source
    assert relu3.source.count("if (x < 0.0) {") >= 2


@pytest.mark.parametrize("front", ["torch", "composit"])
def test_the_model_of_the_page_trains(front):
    """The page's nn.Sequential, its names and its sizes."""
    if front == "torch":
        import torch
    else:
        import composit.torch as torch
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(OrderedDict([
        ("fc1", nn.Linear(784, 256)),
        ("activation1", vrelu3.nnModule),
        ("fc2", nn.Linear(256, 128)),
        ("bn2", nn.BatchNorm1d(num_features=128)),
        ("activation2", vrelu3.nnModule),
        ("dropout", nn.Dropout(0.3)),
        ("fc3", nn.Linear(128, 64)),
        ("bn3", nn.BatchNorm1d(num_features=64)),
        ("activation3", vrelu3.nnModule),
        ("logits", nn.Linear(64, 10)),
        ("logsoftmax", nn.LogSoftmax(dim=1))]))  # fmt: skip
    random = np.random.RandomState(0)
    images = torch.from_numpy(random.rand(64, 784).astype("float32"))
    labels = torch.from_numpy(random.randint(0, 10, 64))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


@knossos.register
def scaled_or_squared(x: Tensor[float, "n", "m"]) -> Tensor[float, "n", "m"]:  # noqa: F821
    """Tensor to tensor, by the sum of its elements; sqrl itself is in array_kernels.py."""
    if np.sum(x) < 0.0:
        return -0.125 * x
    return 1 / 2 * x**2


@pytest.mark.parametrize("shift", [-2.0, 2.0])
def test_small_kernels_of_tensors(shift):
    x = (torch.randn(3, 4, dtype=torch.float64) + shift).requires_grad_()
    want = -0.125 * x if x.sum() < 0 else 0.5 * x**2
    made = scaled_or_squared(x)
    torch.testing.assert_close(made, want)
    g = torch.randn(3, 4, dtype=torch.float64)
    got, wanted = (torch.autograd.grad(y, x, g)[0] for y in (made, want))
    torch.testing.assert_close(got, wanted)
