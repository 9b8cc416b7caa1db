"""Operations of composit.tensorgrad and their gradients, beside PyTorch's."""

import numpy as np
import pytest
import torch

import composit.tensorgrad as tg

CASES = {
    "add": ([(3, 4), (4,)], lambda a, b: a + b),
    "add a number": ([(3, 4)], lambda a: 2 + a + 1.5),
    "sub": ([(3, 1), (1, 4)], lambda a, b: a - b),
    "rsub": ([(3,)], lambda a: 1 - a),
    "mul": ([(2, 3, 1), (3, 5)], lambda a, b: a * b * 3),
    "div": ([(3, 4), (3, 4)], lambda a, b: a / (b + 5) / 2),
    "rdiv": ([(4,)], lambda a: 1 / (a + 5)),
    "neg": ([(4,)], lambda a: -a),
    "pow": ([(3, 4)], lambda a: a**3 + (a + 5) ** -0.5),
    "sqrt": ([(5,)], lambda a: (a + 5).sqrt()),
    "exp": ([(5,)], lambda a: a.exp()),
    "log": ([(5,)], lambda a: (a + 5).log()),
    "relu": ([(5, 2)], lambda a: a.relu()),
    "sigmoid": ([(5, 2)], lambda a: a.sigmoid()),
    "softmax": ([(5, 3)], lambda a: (a * 1000).softmax(-1) + a.softmax(0)),
    "sum": ([(2, 3, 4)], lambda a: a.sum((0, 2)) * a.sum(1, keepdim=True).sum() + a.sum()),
    "mean": ([(2, 3, 4)], lambda a: a.mean((0, 2), keepdim=True) + a.mean() + a.mean(1).mean()),
    "matmul": ([(2, 3, 4), (4, 5)], lambda a, b: a.matmul(b)),
    "matmul of rows": ([(4,), (4, 5)], lambda a, b: a.matmul(b)),
    "matmul broadcast": ([(2, 1, 3, 4), (5, 4, 6)], lambda a, b: a.matmul(b)),
    "reshape": ([(2, 6)], lambda a: a.reshape(3, -1) + a.reshape((3, 4))),
    "permute": ([(2, 3, 4)], lambda a: a.permute(2, 0, 1) * a.permute((2, 0, 1))),
    "squeeze": ([(2, 1, 3)], lambda a: a.squeeze(1) + a.squeeze(-2)),
    "unsqueeze": ([(2, 3)], lambda a: a.unsqueeze(1) * a.unsqueeze(-2)),
    "select": ([(4, 5)], lambda a: a[1:3, ::2] + a[2, [0, 0, 4]]),
}
OTHER_WORDS = {
    "max": ([(3, 4)], lambda a: a.max() * a.max(dim=1).sum(), lambda a: a.max() * a.amax(1).sum()),
    "min": ([(3, 4)], lambda a: a.min(0) * a.min(), lambda a: a.amin(0) * a.min()),
    "concat": ([(2, 3), (4, 3)], lambda a, b: a.concat([b, a], 0),
               lambda a, b: torch.cat([a, b, a])),
    "cat": ([(2, 3), (2, 1)], lambda a, b: a.cat([b], -1), lambda a, b: torch.cat([a, b], -1)),
    "conv2d": ([(2, 3, 7, 8), (4, 3, 3, 2), (4,)],
               lambda x, k, b: x.conv2d(k, b, stride=(2, 1), padding=(1, 0)),
               lambda x, k, b: torch.conv2d(x, k, b, (2, 1), (1, 0))),
    "conv2d without more": ([(1, 2, 5, 5), (3, 2, 3, 3)], lambda x, k: x.conv2d(k), torch.conv2d),
    "max_pool2d": ([(2, 3, 7, 8)], lambda x: x.max_pool2d((3, 2), (2, 2), (1, 1)),
                   lambda x: torch.nn.functional.max_pool2d(x, (3, 2), (2, 2), (1, 1))),
    "avg_pool2d": ([(2, 3, 6, 8)], lambda x: x.avg_pool2d((2, 2)),
                   lambda x: torch.nn.functional.avg_pool2d(x, 2)),
    "avg_pool2d with zeros": ([(2, 3, 6, 8)], lambda x: x.avg_pool2d((2, 2), None, (1, 1)),
                              lambda x: torch.nn.functional.avg_pool2d(x, 2, None, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", [*CASES, *OTHER_WORDS])
def test_values_and_gradients_are_pytorchs(name):
    shapes, ours, theirs = (*CASES[name], CASES[name][1]) if name in CASES else OTHER_WORDS[name]
    random = np.random.RandomState(len(name))
    arrays = [random.standard_normal(shape).astype("float32") for shape in shapes]
    mine = [tg.tensor(array) for array in arrays]
    other = [torch.tensor(array, requires_grad=True) for array in arrays]
    got, want = ours(*mine), theirs(*other)
    assert got.shape == tuple(want.shape) and got.requires_grad
    np.testing.assert_allclose(got.numpy(), want.detach().numpy(), rtol=2e-5, atol=1e-6)
    upstream = np.arange(got.numel(), dtype="float32").reshape(got.shape)
    got.backward(upstream)
    want.backward(torch.from_numpy(upstream))
    for a, b in zip(mine, other):
        np.testing.assert_allclose(a.grad, b.grad.numpy(), rtol=1e-4, atol=1e-4)
    assert np.array_equal(got.grad, upstream)


def test_the_first_of_equal_numbers_has_the_gradient():
    for shape, dim, want in (((4,), None, [0, 1, 0, 0]), ((1, 4), 1, [[0, 1, 0, 0]])):
        x = tg.tensor(np.array([0, 2, 2, 1.0]).reshape(shape))
        x.max(dim).sum().backward()
        assert x.grad.tolist() == want
    x = tg.tensor(np.ones((1, 1, 2, 2)))
    x.max_pool2d((2, 2)).backward()
    assert x.grad.ravel().tolist() == [1, 0, 0, 0]


def test_rows_that_are_looked_up_twice_get_both_gradients():
    table = tg.tensor(np.arange(6.0).reshape(3, 2))
    rows = tg.tensor([2, 0, 2], dtype="int64", requires_grad=False)
    assert table.lookup(rows).tolist() == [[4, 5], [0, 1], [4, 5]]
    table.lookup(rows).sum().backward()
    assert table.grad.tolist() == [[1, 1], [0, 0], [2, 2]]
    table.grad = None
    table[[2, 0, 2]].sum().backward()
    assert table.grad.tolist() == [[1, 1], [0, 0], [2, 2]]


def test_masks():
    x = tg.tensor([1.0, 2, 3])
    mask = tg.tensor([True, False, True], dtype="bool", requires_grad=False)
    assert (~mask).tolist() == [False, True, False]
    y = x * 2
    assert y.masked_fill_(mask, -1) is y and y.tolist() == [-1, 4, -1]
    y.sum().backward()
    assert x.grad.tolist() == [0, 2, 0]
    assert x.masked_fill_(~mask, 0) is x and x.tolist() == [1, 0, 3]
    with pytest.raises(TypeError, match=r"^invert: the tensor holds float32. bool is required."):
        ~x
    with pytest.raises(ValueError, match="masked_fill_: the mask is float32 of shape"):
        x.masked_fill_(x, 0)


def test_what_a_tensor_is():
    x = tg.tensor([[1, 2, 3]], device="cpu", name="x")
    assert repr(x) == "Tensor(shape=(1, 3), dtype=DTYPE.FLOAT32, device=DEVICE.CPU)"
    assert (x.dtype, x.device, x.ndim, x.numel(), len(x)) == (tg.DTYPE.FLOAT32, "cpu", 2, 3, 1)
    assert x.grad.tolist() == [[0, 0, 0]] and x.requires_grad and x.name == "x"
    assert x.tolist() == [[1, 2, 3]] and tg.tensor(3).item() == 3
    for made in (tg.Tensor.zeros(2, 3), tg.Tensor.ones((2, 3)), tg.Tensor.empty(2, 3),
                 tg.Tensor.rand(2, 3), tg.Tensor.randn(2, 3, mu=4, sigma=0.1),
                 tg.Tensor.bernoulli(0.5, (2, 3)), tg.Tensor.ones(2, 3).zeros_like(),
                 tg.Tensor.zeros(2, 3).ones_like()):  # fmt: skip
        assert made.shape == (2, 3) and made.dtype == "float32"
    assert tg.Tensor.arange(3).tolist() == [0, 1, 2] and tg.Tensor.arange(3).dtype == "int64"
    drawn = tg.Tensor.randint(3, 5, (100,))
    assert set(drawn.tolist()) == {3, 4}
    assert x.from_data([5.0]).tolist() == [5]
    assert not x.detach().requires_grad and x.copy().requires_grad


def test_dtypes_change_aside_or_in_place():
    x = tg.tensor([0.0, 1.5])
    assert x.long().dtype == "int64" and x.dtype == "float32"
    assert x.bool(inplace=True) is x and x.tolist() == [False, True]
    assert x.float().tolist() == [0, 1]
    assert x.to("cpu") is x and x.cpu() is x
    assert x.to("cpu", inplace=False) is not x
    with pytest.raises(NotImplementedError, match="'cuda' is not built or registered"):
        x.cuda()
    assert not tg.is_cuda_available()


def test_gradients_add_up_but_the_roots_own():
    x = tg.tensor([2.0])
    for _ in range(2):
        (x * x).backward()
    assert x.grad.tolist() == [8]
    y = x * 3
    y.backward(destroy_graph=False)
    y.backward(np.array([2.0]))
    assert y.grad.tolist() == [2] and x.grad.tolist() == [17]
    middle = x * 2
    (middle * middle).backward()
    assert middle.grad.tolist() == [8]


def test_no_grad_may_be_nested():
    x = tg.tensor([1.0])
    with tg.no_grad():
        with tg.no_grad():
            pass
        assert not tg.is_grad_enabled() and not (x * 2).requires_grad
    assert tg.is_grad_enabled() and (x * 2).requires_grad
    with pytest.raises(RuntimeError, match="backward: the tensor needs no gradient"):
        tg.tensor([1.0], requires_grad=False).backward()
    with pytest.raises(ValueError, match=r"upstream has shape \(2,\) for a tensor of shape \(1,\)"):
        (x * 2).backward(np.ones(2))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: x.squeeze(0), "squeeze: dim is 0 for shape (2, 1). A dimension of length 1"),
        (lambda x: x.permute(0), "permute: dims are (0,) for 2 dimensions. Each once is required."),
        (lambda x: x.max((0, 1)), "max_reduce: dim is (0, 1). One dimension or None is required."),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises((ValueError, TypeError)) as error:
        call(tg.tensor([[1.0], [2.0]]))
    assert str(error.value).startswith(message)


def test_a_picture_of_the_graph():
    from composit.tensorgrad.rendering import dot

    x = tg.tensor([1.0, 2.0], name="x")
    y = (x * x).sum().exp()
    text = dot(y)
    assert text.count("shape=box") == 4 and text.count("shape=ellipse") == 3
    assert 'label="x\\nshape=(2,)\\ndata=[1. 2.]\\ngrad=[0. 0.]"' in text
    assert 'label="sum_reduce"' in text
    assert y.render().size[0] > 100
