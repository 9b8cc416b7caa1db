"""Tensors on devices that composit has: the CPU's bits, and arrays that lie there."""

import numpy as np
import pytest

import composit
import composit.tensorgrad as tg
from composit import devices


def trained(device, optimizer):
    np.random.seed(3)
    model = tg.nn.Sequential(
        tg.nn.Conv2d(1, 3, 3, padding="same"), tg.nn.BatchNorm2d(3), tg.nn.ReLU(),
        tg.nn.MaxPool2d(2), tg.nn.Flatten(), tg.nn.Linear(12, 4),
    )  # fmt: skip
    model.to(device)
    model.train()
    optimizer = optimizer(model.parameters())
    loss_of = tg.nn.CrossEntropyLoss()
    losses = []
    for _ in range(4):
        x = tg.tensor(np.random.normal(size=(6, 1, 4, 4)), device=device, requires_grad=False)
        y = tg.Tensor.randint(0, 4, (6,), device=device, requires_grad=False)
        loss = loss_of(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: p.numpy() for name, p in model.named_parameters().items()}, model


@pytest.mark.parametrize(
    "optimizer",
    [lambda p: tg.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: tg.optim.Adam(p, lr=0.01)],
)
def test_a_training_has_the_bits_of_the_cpu(apart, optimizer):
    losses, weights, _ = trained("cpu", optimizer)
    found, there, model = trained("apart", optimizer)
    assert found == losses
    assert all(p.device == "apart" for p in model.parameters())
    for name, value in weights.items():
        np.testing.assert_array_equal(there[name], value, err_msg=name)


def test_data_and_gradients_lie_there(apart):
    x = tg.tensor([1.0, 2.0], device="apart:0")
    assert x.device == "apart" and x.grad.tolist() == [0, 0]
    assert repr(x) == "Tensor(shape=(2,), dtype=DTYPE.FLOAT32, device='apart')"
    (x * x).sum().backward()
    assert x.data.device == x.grad.device == apart
    assert x.grad.tolist() == [2, 4] and x.tolist() == [1, 2]
    x.data = np.array([3.0, 4.0])
    assert x.data.device == apart and x.tolist() == [3, 4] and x.grad.tolist() == [2, 4]
    x.cpu()
    assert isinstance(x.data, np.ndarray) and x.grad.tolist() == [2, 4]
    x.to("apart")
    assert x.data.device == apart and x.grad.tolist() == [2, 4]


def test_operands_lie_on_one_device(apart):
    with pytest.raises(RuntimeError, match=r"add: operands lie on DEVICE\.CPU, apart\. One dev"):
        tg.tensor([1.0], device="cpu") + tg.tensor([1.0], device="apart")
    assert (2 * tg.tensor([1.0], device="apart")).tolist() == [2]


def test_masks_and_indices_of_both(apart):
    x = tg.tensor([[1.0, 2.0], [3.0, 4.0]], device="apart")
    assert x[tg.tensor([1, 0], "int64", "apart")].tolist() == [[3, 4], [1, 2]]
    assert x[[1]].tolist() == [[3, 4]]
    mask = tg.tensor([[True, False], [False, True]], "bool", "apart", requires_grad=False)
    assert x.masked_fill_(mask, 0.0).tolist() == [[0, 2], [3, 0]] and x.device == "apart"


def test_a_device_that_is_not_here_is_refused(apart):
    if "cuda" in devices.missing():
        assert not tg.is_cuda_available()
        with pytest.raises(NotImplementedError, match=r"'cuda' is not built or registered \(.+\)"):
            tg.tensor([1.0]).cuda()


def test_a_context_says_where_tensors_are_made(apart):
    with composit.device(apart):
        x, layer = tg.Tensor.zeros((2, 3)), tg.nn.Linear(3, 2)
        assert x.device == layer.weight.device == "apart"
        assert tg.tensor([1.0], device="cpu").device == "cpu"
    with composit.device("cpu"):
        assert tg.tensor([1.0]).device == tg.DEVICE.CPU
