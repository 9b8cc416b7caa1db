"""Modules, optimisers and training of composit.tensorgrad, beside PyTorch's."""

import numpy as np
import pytest
import torch

import composit
import composit.tensorgrad as tg
import composit.torch
from composit.examples import xor


def compare(ours, theirs, *arrays, tolerance=1e-5, integers=False):
    """Values, gradients of the inputs and of all parameters."""
    mine = [tg.tensor(a, dtype=str(a.dtype)) for a in arrays]
    other = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    got, want = ours(*mine), theirs(*other)
    want = want[0] if isinstance(want, tuple) else want
    np.testing.assert_allclose(got.numpy(), want.detach().numpy(), rtol=tolerance, atol=tolerance)
    upstream = np.random.RandomState(0).standard_normal(got.shape).astype("float32")
    got.backward(upstream)
    want.backward(torch.from_numpy(upstream))
    for a, b in zip(mine, other):
        if b.requires_grad:
            np.testing.assert_allclose(a.grad, b.grad.numpy(), rtol=1e-4, atol=1e-4)
    if hasattr(ours, "weight"):
        np.testing.assert_allclose(ours.weight.grad, theirs.weight.grad, rtol=1e-4, atol=1e-4)
        if getattr(ours, "bias", None) is not None:
            np.testing.assert_allclose(ours.bias.grad, theirs.bias.grad, rtol=1e-4, atol=1e-4)


def drawn(*shape):
    return np.random.RandomState(sum(shape)).standard_normal(shape).astype("float32")


LAYERS = {
    "linear": (lambda n: n.Linear(4, 3), (5, 4)),
    "linear of tokens": (lambda n: n.Linear(4, 3, bias=False), (2, 5, 4)),
    "conv": (lambda n: n.Conv2d(3, 4, 3, padding=1), (2, 3, 6, 6)),
    "conv same": (lambda n: n.Conv2d(3, 4, (3, 5), padding="same"), (2, 3, 6, 6)),
    "conv with strides": (lambda n: n.Conv2d(3, 4, 2, stride=(2, 1), bias=False), (2, 3, 6, 6)),
    "batch norm": (lambda n: n.BatchNorm1d(4), (6, 4)),
    "batch norm of images": (lambda n: n.BatchNorm2d(3), (4, 3, 5, 5)),
    "layer norm": (lambda n: n.LayerNorm(5), (3, 4, 5)),
    "layer norm of two": (lambda n: n.LayerNorm((4, 5)), (3, 4, 5)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_with_weights(name):
    make, shape = LAYERS[name]
    torch.manual_seed(1)
    theirs = make(torch.nn)
    ours = make(tg.nn)
    assert ours.init_from_torch(theirs) is ours
    ours.train()
    compare(ours, theirs, drawn(*shape), tolerance=1e-4)
    if hasattr(theirs, "running_var"):
        buffers = ours.named_buffers()
        for buffer in ("running_mean", "running_var"):
            want = getattr(theirs, buffer).numpy()
            np.testing.assert_allclose(buffers[buffer].numpy(), want, rtol=1e-5, atol=1e-6)
        ours.eval(), theirs.eval()
        x = drawn(*shape)
        want = theirs(torch.from_numpy(x)).detach().numpy()
        np.testing.assert_allclose(ours(tg.tensor(x)).numpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "make, shape",
    [
        (lambda n: n.ReLU(), (3, 4)), (lambda n: n.Sigmoid(), (3, 4)),
        (lambda n: n.Identity(), (3, 4)), (lambda n: n.Softmax(dim=1), (3, 4)),
        (lambda n: n.Flatten(), (3, 4, 2)), (lambda n: n.MaxPool2d(2), (2, 3, 6, 6)),
        (lambda n: n.AvgPool2d((2, 3), stride=1, padding=1), (2, 3, 6, 6)),
        (lambda n: n.Sequential(n.ReLU(), n.Softmax(-1)), (3, 4)),
    ],
)  # fmt: skip
def test_layers_without_weights(make, shape):
    ours = make(tg.nn)
    compare(lambda x: ours(x * 1), lambda x: make(torch.nn)(x * 1), drawn(*shape))


@pytest.mark.parametrize("mask", [None, "tokens", "batch"])
def test_attention(mask):
    theirs = torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True)
    ours = tg.nn.MultiheadAttention(8, 2).init_from_torch(theirs)
    x = drawn(3, 5, 8)
    array = theirs_mask = None
    if mask:
        array = np.triu(np.ones((5, 5), bool), 1)
        array = np.stack([array] * 3) if mask == "batch" else array
        theirs_mask = torch.from_numpy(np.repeat(array, 2, 0) if mask == "batch" else array)
    want, _ = theirs(*[torch.from_numpy(x)] * 3, attn_mask=theirs_mask)
    given = None if array is None else tg.tensor(array, dtype="bool", requires_grad=False)
    got = ours(*[tg.tensor(x)] * 3, attn_mask=given)
    np.testing.assert_allclose(got.numpy(), want.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_embedding_and_dropout():
    theirs = torch.nn.Embedding(5, 3)
    ours = tg.nn.Embedding(5, 3).init_from_torch(theirs)
    compare(ours, theirs, np.array([[1, 4], [1, 0]]))
    layer = tg.nn.Dropout(0.5)
    x = tg.tensor(np.ones((50, 50)))
    assert layer(x) is x
    layer.train()
    numbers = set(layer(x).numpy().ravel().tolist())
    assert numbers == {0.0, 2.0}
    layer._generate_mask = lambda x: x.ones_like()
    assert set(layer(x).numpy().ravel().tolist()) == {2.0}


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_losses(reduction):
    ours, theirs = (n.CrossEntropyLoss(reduction=reduction) for n in (tg.nn, torch.nn))
    labels = np.array([0, 2, 1, 2])
    x = tg.tensor(drawn(4, 3) * 500)
    y = torch.tensor(drawn(4, 3) * 500, requires_grad=True)
    got = ours(x, tg.tensor(labels, dtype="int64", requires_grad=False))
    want = theirs(y, torch.from_numpy(labels))
    np.testing.assert_allclose(got.item(), want.item(), rtol=1e-5)
    got.backward(), want.backward()
    np.testing.assert_allclose(x.grad, y.grad.numpy(), rtol=1e-4, atol=1e-6)
    compare(
        tg.nn.MSELoss(reduction), torch.nn.MSELoss(reduction=reduction), drawn(4, 3), drawn(3, 4).T
    )


@pytest.mark.parametrize(
    "name, options",
    [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {}),
     ("Adam", {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-4})],
)  # fmt: skip
def test_optimisers_step_as_pytorchs(name, options):
    start = drawn(3, 4)
    mine, other = tg.nn.Parameter(start), torch.nn.Parameter(torch.tensor(start))
    ours = getattr(tg.optim, name)([mine], **options)
    theirs = getattr(torch.optim, name)([other], **options)
    for _ in range(10):
        ours.zero_grad(), theirs.zero_grad()
        mine.exp().mean().backward()
        other.exp().mean().backward()
        ours.step(), theirs.step()
        np.testing.assert_allclose(mine.numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)


def network(n):
    return n.Sequential(n.Conv2d(1, 4, 3, padding="same"), n.BatchNorm2d(4), n.ReLU(),
                        n.AvgPool2d(2), n.Flatten(), n.Linear(64, 10))  # fmt: skip


def test_a_convolutional_network_is_trained_with_pytorchs_losses():
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = (bunch.images[:64] / 16).astype("float32")[:, None]
    labels = bunch.target[:64].astype("int64")
    torch.manual_seed(0)
    ours, theirs = network(tg.nn), network(torch.nn)
    for i in (0, 1, 5):
        ours[i].init_from_torch(theirs[i])
    ours.train()
    one, other = tg.optim.Adam(ours.parameters()), torch.optim.Adam(theirs.parameters())
    for step in range(25):
        chosen = np.arange(16) + step % 4 * 16
        losses = []
        for front, model, optimizer in ((tg, ours, one), (torch, theirs, other)):
            optimizer.zero_grad()
            x = front.tensor(images[chosen])
            y = front.tensor(labels[chosen], requires_grad=False)
            y = y.long() if front is tg else y
            loss = front.nn.CrossEntropyLoss()(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[0] == pytest.approx(losses[1], rel=1e-4), step
    np.testing.assert_allclose(
        ours.named_buffers()["1.running_var"].numpy(), theirs[1].running_var.numpy(), rtol=1e-4
    )


@pytest.mark.parametrize("front", [tg, composit.torch, torch])
def test_the_readmes_example(front):
    front is tg or front.manual_seed(0)
    np.random.seed(0)
    targets, prediction, softmax = xor.train(front, 1500)
    assert targets.tolist() == [1, 0, 0, 1] and prediction.tolist() == [1, 0, 0, 1]
    assert softmax.max(axis=1).min() > 0.99


def test_modules_name_what_they_hold():
    class Net(tg.nn.Module):
        def __init__(self):
            self.first = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.BatchNorm1d(3))
            self.scale = tg.nn.Parameter([1.0])

    with composit.device("cpu"):
        net = Net()
    assert list(net.named_parameters()) == [
        "first.0.weight", "first.0.bias", "first.1.weight", "first.1.bias", "scale",
    ]  # fmt: skip
    assert list(net.named_buffers()) == ["first.1.running_mean", "first.1.running_var"]
    assert list(net.named_modules()) == ["first", "first.0", "first.1"]
    assert net.train() is None and net.first[1].training
    assert repr(net.scale) == "Parameter(shape=(1,), dtype=DTYPE.FLOAT32, device=DEVICE.CPU)"
    assert repr(net.buffers()[0]).startswith("Buffer(shape=(3,)")
    with pytest.raises(NotImplementedError, match="Net: there is no forward"):
        net(1)
    with pytest.raises(
        ValueError, match=r"Linear: the input has shape \(2, 3\). A last dimension of 2"
    ):
        net.first(tg.tensor(np.ones((2, 3))))
