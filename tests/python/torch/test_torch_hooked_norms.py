"""weight_norm and spectral_norm as hooks, beside PyTorch's: states, losses of steps, removal."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import Draws, check_same, peer, torch

LAYERS = {
    "linear": lambda t: (t.nn.Linear(3, 4), (5, 3)),
    "conv": lambda t: (t.nn.Conv2d(2, 3, 3), (2, 2, 5, 5)),
    "transposed": lambda t: (t.nn.ConvTranspose1d(2, 3, 3), (2, 2, 5)),
}  # fmt: skip
NORMS = {
    "weight": lambda t, m: t.nn.utils.weight_norm(m),
    "weight of all": lambda t, m: t.nn.utils.weight_norm(m, dim=None),
    "weight by 1": lambda t, m: t.nn.utils.weight_norm(m, "weight", 1),
    "spectral": lambda t, m: t.nn.utils.spectral_norm(m),
    "spectral of 3": lambda t, m: t.nn.utils.spectral_norm(m, n_power_iterations=3),
}


def trained(t, layer, norm):
    draws = Draws(t)
    module, shape = LAYERS[layer](t)
    draws.start(module)
    module = NORMS[norm](t, module)
    state = module.state_dict()
    for name in sorted(state):
        if name.endswith(("_u", "_v")) and "weight_orig" in state:
            drawn = draws.normal(*state[name].shape)
            state[name] = drawn / drawn.norm()
    module.load_state_dict(state)
    optimizer, found = t.optim.SGD(module.parameters(), 0.05), []
    for _ in range(5):
        optimizer.zero_grad()
        loss = module(draws.normal(*shape)).square().mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    module.eval()
    given = draws.normal(*shape)
    found.append(module(given).sum().item())
    names = [n for n, _ in module.named_parameters()], list(module.state_dict())
    remove = t.nn.utils.remove_weight_norm if "weight" in norm else t.nn.utils.remove_spectral_norm
    remove(module)
    found.append(module(given).sum().item())
    return found, names, [n for n, _ in module.named_parameters()], list(module.state_dict())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("norm", NORMS)
def test_hooked_norms_are_pytorchs(layer, norm):
    mine, theirs = (trained(t, layer, norm) for t in (torch, peer))
    np.testing.assert_allclose(mine[0], theirs[0], rtol=2e-5)
    assert mine[1:] == theirs[1:]


@pytest.mark.filterwarnings("ignore")
def test_refusals_are_pytorchs():
    def program(t):
        utils = t.nn.utils
        return utils.weight_norm(utils.weight_norm(t.nn.Linear(1, 1)))

    check_same(program)
    check_same(lambda t: t.nn.utils.spectral_norm(t.nn.Linear(1, 1), n_power_iterations=0))
    check_same(lambda t: t.nn.utils.remove_weight_norm(t.nn.Linear(1, 1)))
