"""composit.torch's parametrisations and lazy modules beside PyTorch's: states, training, errors."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

DATA = np.random.default_rng(0).normal(size=(6, 3, 8, 8)).astype(np.float32)


def trained(t, model, x, state=None):
    """The losses of five steps, the names of the state, and the state after."""
    if state is not None:
        model.load_state_dict({name: t.tensor(value) for name, value in state.items()})
    optimizer = t.optim.SGD(model.parameters(), 0.05)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.numpy() for name, value in model.state_dict().items()}


class Symmetric:
    """A parametrisation, in either library."""

    def __new__(cls, t):
        class Made(t.nn.Module):
            def forward(self, x):
                return x.triu() + x.triu(1).transpose(-1, -2)

            def right_inverse(self, x):
                return x.triu()

        return Made()


MODELS = {
    "weight_norm": lambda t: t.nn.utils.parametrizations.weight_norm(t.nn.Linear(8, 4)),
    "weight_norm of all": lambda t: t.nn.utils.parametrizations.weight_norm(
        t.nn.Linear(8, 4), dim=None),
    "weight_norm of filters": lambda t: t.nn.utils.parametrizations.weight_norm(
        t.nn.Conv2d(3, 4, 3), dim=1),
    "spectral_norm": lambda t: t.nn.utils.parametrizations.spectral_norm(t.nn.Linear(8, 4)),
    "spectral_norm of filters": lambda t: t.nn.utils.parametrizations.spectral_norm(
        t.nn.ConvTranspose2d(3, 4, 3), n_power_iterations=2),
    "symmetric": lambda t: registered(t, t.nn.Linear(8, 8), Symmetric(t)),
    "two": lambda t: t.nn.utils.parametrizations.weight_norm(
        registered(t, t.nn.Linear(8, 8), Symmetric(t)), "bias", dim=None),
}  # fmt: skip


def registered(t, module, parametrization):
    return t.nn.utils.parametrize.register_parametrization(module, "weight", parametrization)


@pytest.mark.parametrize("name", MODELS)
def test_training_is_pytorchs(name):
    theirs = MODELS[name](peer)
    state = {key: value.numpy().copy() for key, value in theirs.state_dict().items()}
    mine = MODELS[name](torch)
    losses, after = trained(torch, mine, torch.tensor(DATA), state)
    expected, wanted = trained(peer, theirs, peer.tensor(DATA))
    np.testing.assert_allclose(losses, expected, rtol=2e-5)
    assert list(after) == list(wanted)
    for key, value in wanted.items():
        np.testing.assert_allclose(after[key], value, rtol=1e-4, atol=2e-6)
    mine.eval()
    theirs.eval()
    np.testing.assert_allclose(mine.weight.detach().numpy(), theirs.weight.detach().numpy(),
                               rtol=1e-4, atol=2e-6)  # fmt: skip


def test_spectral_norm_is_the_largest_singular_value():
    layer = torch.nn.Linear(8, 4)
    torch.manual_seed(0)
    before = np.linalg.svd(layer.weight.detach().numpy())[1]
    torch.nn.utils.parametrizations.spectral_norm(layer, n_power_iterations=30)
    after = np.linalg.svd(layer.weight.detach().numpy())[1]
    np.testing.assert_allclose(after, before / before[0], rtol=1e-3)


def test_assigning_caching_and_removing():
    def values(t):
        parametrize = t.nn.utils.parametrize
        layer = t.nn.Linear(2, 2)
        calls = []

        class Double(t.nn.Module):
            def forward(self, x):
                calls.append(1)
                return x * 2

            def right_inverse(self, x):
                return x / 2

        found = [parametrize.is_parametrized(layer)]
        parametrize.register_parametrization(layer, "weight", Double())
        found += [parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "bias")]
        layer.weight = t.tensor([[1.0, 2.0], [3.0, 4.0]])
        found += [layer.weight.tolist(), layer.parametrizations.weight.original.tolist()]
        calls.clear()
        with parametrize.cached():
            assert layer.weight is layer.weight
        found += [len(calls), isinstance(layer, t.nn.Linear), type(layer).__name__]
        parametrize.remove_parametrizations(layer, "weight")
        found += [layer.weight.tolist(), type(layer).__name__, sorted(layer.state_dict()),
                  layer.weight.requires_grad]  # fmt: skip
        parametrize.register_parametrization(layer, "weight", Double())
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
        return [*found, layer.weight.tolist()]

    assert values(torch) == values(peer)


def test_what_is_refused():
    class Wider(torch.nn.Module):
        def forward(self, x):
            return torch.cat([x, x])

    layer = torch.nn.Linear(2, 2)
    parametrize = torch.nn.utils.parametrize
    with pytest.raises(ValueError, match="may not change the dtype or the shape"):
        parametrize.register_parametrization(layer, "weight", Wider())
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(layer, "wieght", Wider())
    with pytest.raises(ValueError, match="does not have a parametrization"):
        parametrize.remove_parametrizations(layer, "weight")
    assert sorted(layer.state_dict()) == ["bias", "weight"]


LAZY = {
    "LazyLinear": (lambda t: t.nn.LazyLinear(4), DATA),
    "LazyLinear without bias": (lambda t: t.nn.LazyLinear(4, bias=False), DATA[0, 0]),
    "LazyConv2d": (lambda t: t.nn.LazyConv2d(6, 3, padding=1, groups=3), DATA),
    "LazyConv1d": (lambda t: t.nn.LazyConv1d(4, 3), DATA[:, 0]),
    "LazyConvTranspose2d": (lambda t: t.nn.LazyConvTranspose2d(4, 3, stride=2), DATA),
    "LazyBatchNorm2d": (lambda t: t.nn.LazyBatchNorm2d(momentum=0.2), DATA),
    "LazyBatchNorm1d": (lambda t: t.nn.LazyBatchNorm1d(), DATA[:, 0, 0]),
    "LazyInstanceNorm2d": (lambda t: t.nn.LazyInstanceNorm2d(affine=True), DATA),
    "in a row": (lambda t: t.nn.Sequential(t.nn.LazyConv2d(4, 3), t.nn.ReLU(), t.nn.Flatten(),
                                           t.nn.LazyLinear(2)), DATA),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LAZY)
def test_lazy_modules_become_ordinary_ones(name):
    make, data = LAZY[name]
    theirs, mine = make(peer), make(torch)
    kinds = [[type(m).__name__ for m in model.modules()] for model in (mine, theirs)]
    assert kinds[0] == kinds[1]
    counts = [len(list(model.parameters())) for model in (mine, theirs)]
    assert counts[0] == counts[1]
    optimizer = torch.optim.SGD(mine.parameters(), 0.1)  # before shapes are known
    theirs.eval()
    mine.eval()
    shapes = [tuple(mine(torch.tensor(data)).shape), tuple(theirs(peer.tensor(data)).shape)]
    assert shapes[0] == shapes[1]
    theirs.train()
    mine.train()
    kinds = [[type(m).__name__ for m in model.modules()] for model in (mine, theirs)]
    assert kinds[0] == kinds[1] and repr(mine) == repr(theirs)
    state = {key: value.numpy().copy() for key, value in theirs.state_dict().items()}
    losses, after = trained(torch, mine, torch.tensor(data), state)
    expected, wanted = trained(peer, theirs, peer.tensor(data))
    np.testing.assert_allclose(losses, expected, rtol=2e-5)
    assert list(after) == list(wanted)
    assert {id(x) for x in optimizer.param_groups[0]["params"]} == {
        id(x) for x in mine.parameters()}  # fmt: skip
