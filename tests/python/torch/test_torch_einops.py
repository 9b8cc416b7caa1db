"""einops takes composit.torch's tensors, with PyTorch's values and gradients."""

import subprocess
import sys

import numpy as np
import pytest
import torch as theirs

from composit import torch as ours

einops = pytest.importorskip("einops")

FUNCTIONS = {
    "rearrange": lambda x: einops.rearrange(x, "b (h p) c -> b p (h c)", p=2),
    "permuted": lambda x: einops.rearrange(x, "b s c -> c b s"),
    "of a list": lambda x: einops.rearrange([x, 2 * x], "n b s c -> b s (n c)"),
    "mean": lambda x: einops.reduce(x, "b (h p) c -> b h c", "mean", p=2),
    "max": lambda x: einops.reduce(x, "b s c -> b", "max"),
    "min": lambda x: einops.reduce(x, "b s c -> b 1 c", "min"),
    "sum": lambda x: einops.reduce(x, "b s c -> s", "sum"),
    "prod": lambda x: einops.reduce(x, "b s c -> s", "prod"),
    "repeat": lambda x: einops.repeat(x, "b s c -> b n (s r) c", n=3, r=2),
    "einsum": lambda x: einops.einsum(x, x, "batch s c, batch t c -> batch s t"),
    "pack": lambda x: einops.pack([x, x[:, 0]], "b * c")[0],
    "unpack": lambda x: einops.unpack(x, [(1,), (3,)], "b * c")[1] * 2,
}


def numbers():
    return np.random.default_rng(0).normal(size=(2, 4, 3))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_are_pytorchs(name):
    found = []
    for torch in (ours, theirs):
        x = torch.from_numpy(numbers()).requires_grad_()
        made = FUNCTIONS[name](x)
        assert isinstance(made, torch.Tensor)
        (made * torch.arange(made.numel()).reshape(made.shape)).sum().backward()
        found.append([each.detach().numpy() for each in (made, x.grad)])
    for mine, wanted in zip(*found):
        np.testing.assert_allclose(mine, wanted, rtol=1e-13)


def test_what_einops_asks_besides():
    x = ours.from_numpy(numbers())
    assert einops.parse_shape(x, "b _ c") == {"b": 2, "c": 3}
    np.testing.assert_array_equal(einops.asnumpy(x), numbers())
    assert einops.reduce(x > 0, "b s c -> b", "any").dtype == ours.bool
    with pytest.raises(einops.EinopsError, match="Error while processing rearrange-reduction"):
        einops.rearrange(x, "b (h p) c -> b p h c", p=3)


def test_layers_are_modules():
    from einops.layers import torch as their_layers

    from composit.torch import einops as our_layers

    found, state = [], {}
    for torch, layers in ((theirs, their_layers), (ours, our_layers)):
        model = torch.nn.Sequential(
            layers.Rearrange("b (s p) c -> b s (p c)", p=2),
            layers.EinMix("b s c -> b s (h d)", "c h d", "h d", c=6, h=2, d=3),
            layers.Reduce("b s c -> b c", "max"),
            torch.nn.Linear(6, 2),
        ).double()
        if torch is ours:
            model.load_state_dict({k: ours.from_numpy(v.numpy()) for k, v in state.items()})
        state = {name: value.clone() for name, value in model.state_dict().items()}
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.from_numpy(numbers())
        for _ in range(3):
            loss = (model(x) ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found.append([loss.item(), *(p.detach().numpy() for p in model.parameters())])
    assert str(model[0]) == "Rearrange('b (s p) c -> b s (p c)', p=2)"
    for mine, wanted in zip(*found):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12)


@pytest.mark.parametrize("order", ["einops, composit.torch", "composit.torch, einops"])
def test_either_may_be_imported_first(order):
    code = f"import {order}; x = composit.torch.ones(2, 3); "
    code += "print(tuple(einops.rearrange(x, 'a b -> b a').shape))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "(3, 2)\n"
