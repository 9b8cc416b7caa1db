"""Fractional and adaptive max pools with indices, and the adaptive softmax, beside PyTorch."""

import numpy as np
import pytest
import torch as peer

from composit import torch

SIZES = {2: (2, 3, 9, 11), 3: (2, 2, 7, 6, 8)}


def drawn(*shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def compared(function, values, *others):
    """function(library, x, *others) gives equal tensors, and gradients of the first."""
    leaves, results = [], []
    for library in (torch, peer):
        x = library.tensor(values, requires_grad=True)
        found = function(library, x, *(library.tensor(value) for value in others))
        found = found if isinstance(found, tuple) else (found,)
        weights = drawn(*found[0].shape, seed=9).astype(values.dtype)
        (found[0] * library.tensor(weights)).sum().backward()
        leaves.append(x)
        results.append(found)
    for mine, theirs in zip(*results):
        assert tuple(mine.shape) == tuple(theirs.shape)
        assert repr(mine.dtype) == repr(theirs.dtype)
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-6, 1e-6)
    np.testing.assert_allclose(leaves[0].grad.numpy(), leaves[1].grad.numpy(), 1e-5, 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("given", ["size", "one", "ratio"])
def test_fractional(count, given, dtype):
    shape = SIZES[count]
    samples = np.random.default_rng(3).random((*shape[:2], count)).astype(dtype)
    options = {
        "size": {"output_size": (3, 4, 5)[:count]},
        "one": {"output_size": 1},
        "ratio": {"output_ratio": (0.5,) * count},
    }[given]

    def pooled(t, x, samples):
        name = f"fractional_max_pool{count}d"
        function = getattr(t.nn.functional, name)
        return function(x, 2, **options, return_indices=True, _random_samples=samples)

    compared(pooled, drawn(*shape, dtype=dtype), samples)


@pytest.mark.parametrize("count", [2, 3])
def test_fractional_of_one_sample(count):
    shape = SIZES[count][1:]
    samples = np.random.default_rng(3).random((1, shape[0], count)).astype("float32")

    def pooled(t, x, samples):
        module = getattr(t.nn, f"FractionalMaxPool{count}d")
        return module(3, output_ratio=0.6, _random_samples=samples)(x)

    compared(pooled, drawn(*shape), samples)


def test_fractional_by_draws():
    """Each call draws; what it gives are elements of the input, at the indices it says."""
    x = torch.tensor(drawn(2, 3, 16, 16))
    module = torch.nn.FractionalMaxPool2d((2, 3), output_size=(5, 6), return_indices=True)
    torch.manual_seed(0)
    values, indices = module(x)
    found = np.take_along_axis(x.numpy().reshape(2, 3, -1), indices.numpy().reshape(2, 3, -1), 2)
    assert np.array_equal(values.numpy().reshape(2, 3, -1), found)
    again, _ = module(x)
    assert not np.array_equal(values.numpy(), again.numpy())
    torch.manual_seed(0)
    assert np.array_equal(values.numpy(), module(x)[0].numpy())


def test_fractional_refusals():
    x = torch.zeros(1, 1, 4, 4)
    pool = torch.nn.functional.fractional_max_pool2d
    with pytest.raises(ValueError, match="either an output_size or an output_ratio"):
        pool(x, 2)
    with pytest.raises(RuntimeError, match=r"windows of \(2, 2\) at \(4, 4\) places do not fit"):
        pool(x, 2, output_size=4)
    with pytest.raises(ValueError, match="between 0 and 1"):
        torch.nn.FractionalMaxPool2d(2, output_ratio=1.5)
    with pytest.raises(ValueError, match="only one of"):
        torch.nn.FractionalMaxPool3d(2, output_size=2, output_ratio=0.5)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_adaptive_with_indices(count):
    shape = (2, 3, 7, 6, 5)[: count + 2]

    def pooled(t, x):
        return getattr(t.nn, f"AdaptiveMaxPool{count}d")(3, return_indices=True)(x)

    compared(pooled, drawn(*shape))
    compared(pooled, drawn(*shape)[0])


@pytest.mark.parametrize("has_bias", [False, True])
def test_adaptive_log_softmax(has_bias):
    x, y = drawn(12, 16), np.random.default_rng(1).integers(0, 20, 12)
    sides = []
    for library in (torch, peer):
        module = library.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 9], 2.0, head_bias=has_bias)
        sides.append((library, module))
    state = {name: value.numpy() for name, value in sides[1][1].state_dict().items()}
    sides[0][1].load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    found = []
    for library, module in sides:
        inputs = library.tensor(x, requires_grad=True)
        output, loss = module(inputs, library.tensor(y))
        loss.backward()
        found.append([output, loss, inputs.grad, module.log_prob(inputs), module.predict(inputs),
                      *(p.grad for p in module.parameters()),
                      module(inputs[0], library.tensor(y[0])).output])  # fmt: skip
    for mine, theirs in zip(*found):
        assert tuple(mine.shape) == tuple(theirs.shape)
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-4, 1e-6)


def test_adaptive_log_softmax_refusals():
    with pytest.raises(ValueError, match="unique, positive integers"):
        torch.nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2])
    module = torch.nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])
    with pytest.raises(RuntimeError, match=r"in \[0, 4\], but values in range \[0, 5\]"):
        module(torch.zeros(2, 4), torch.tensor([0, 5]))


def test_conv_tbc():
    def convolved(t, x, weight, bias):
        return t.nn.functional.conv_tbc(x, weight, bias, 1)

    compared(convolved, drawn(6, 2, 4), drawn(3, 4, 5, seed=1), drawn(5, seed=2))
