"""autograd.detect_anomaly beside PyTorch's."""

import pytest
import torch as peer

from composit import torch

LIBRARIES = pytest.mark.parametrize("t", [torch, peer], ids=["composit", "PyTorch"])
IGNORED = pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected")


def bad(t):
    """NaN from the gradient of sqrt below 0."""
    x = t.tensor([-1.0, 1.0], requires_grad=True)
    return x, (t.sqrt(x) * 2).sum()


class Halved:
    """Made a Function of either library by `function`."""

    @staticmethod
    def forward(ctx, x):
        return x / 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * float("nan")


def function(t):
    return type("Halved", (t.autograd.Function,), dict(Halved.__dict__))


@IGNORED
@LIBRARIES
def test_names_the_operation(t):
    x, loss = bad(t)
    with t.autograd.detect_anomaly():
        assert t.is_anomaly_enabled()
        with pytest.raises(
            RuntimeError, match="'SqrtBackward0' returned nan values in its 0th output"
        ):
            loss.backward()
        with pytest.raises(RuntimeError, match="'MulBackward0' returned nan values in its 1th"):
            a, b = (t.ones(2, requires_grad=True) for _ in range(2))
            t.autograd.grad(((a * float("nan")) * b).sum() * 1.0, b)
    assert not t.is_anomaly_enabled()
    x, loss = bad(t)
    loss.backward()
    assert x.grad.isnan().tolist() == [True, False]


@IGNORED
def test_names_the_line():
    x, loss = bad(torch)
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=r"test_torch_anomaly"):
        loss.backward()
    assert x.grad is None


@IGNORED
@LIBRARIES
def test_nothing_is_wrong(t):
    x = t.tensor([0.5, 1.0], requires_grad=True)
    with t.autograd.detect_anomaly():
        (x.sqrt() * 3).log().sum().backward()
    assert x.grad.isnan().sum() == 0


@IGNORED
@LIBRARIES
def test_without_the_check(t):
    x, loss = bad(t)
    with t.autograd.detect_anomaly(check_nan=False):
        assert not t.is_anomaly_check_nan_enabled()
        loss.backward()
    assert x.grad.isnan().any()
    assert t.is_anomaly_check_nan_enabled()


@IGNORED
@LIBRARIES
def test_function(t):
    x = t.ones(2, requires_grad=True)
    loss = function(t).apply(x * 2).sum()
    with (
        t.autograd.detect_anomaly(),
        pytest.raises(RuntimeError, match="'HalvedBackward' returned nan values in its 0th"),
    ):
        loss.backward()


@LIBRARIES
def test_set(t):
    t.autograd.set_detect_anomaly(True)
    try:
        assert t.is_anomaly_enabled()
        with t.autograd.set_detect_anomaly(False):
            assert not t.is_anomaly_enabled()
        assert t.is_anomaly_enabled()
    finally:
        t.autograd.set_detect_anomaly(False)
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        t.autograd.detect_anomaly()
    assert not t.is_anomaly_enabled()


@IGNORED
def test_within_a_step_that_is_known():
    """A loop whose steps are one program is looked at too, once it is asked for."""
    x = torch.tensor([4.0, 1.0], requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=1.0)

    def step():
        optimizer.zero_grad()
        (x - x.detach().round()).abs().sqrt().sum().backward()
        optimizer.step()

    with torch.no_grad():
        x += 0.25
    for _ in range(4):
        step()
        with torch.no_grad():
            x.copy_(torch.tensor([4.25, 1.25]))
    with torch.no_grad():
        x.copy_(torch.tensor([4.0, 1.0]))
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="returned nan values"):
        step()
