"""The same program of PyTorch's API under both libraries: what it returns, or what it raises."""

import math

import numpy as np
import torch as peer

from composit import torch

SIDES = (torch, peer)


def plain(value):
    """Tensors as lists, in what a program returns."""
    if isinstance(value, (torch.Tensor, peer.Tensor)):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def outcome(program, t):
    """What program(t) returns, or its exception's class and the first line of its text, without the
    line of the user's that composit adds to texts."""
    t.manual_seed(0)
    try:
        return plain(program(t))
    except Exception as error:
        text = str(error).splitlines()[0] if str(error) else ""
        return f"{type(error).__name__}: {text.rsplit(' [', 1)[0] if t is torch else text}"


def check_same(program):
    """Both libraries say the same, bit by bit."""
    mine, theirs = (outcome(program, t) for t in SIDES)
    assert mine == theirs


class Draws:
    """Numbers that both libraries draw alike."""

    def __init__(self, t, seed=0):
        self.t, self.numpy = t, np.random.default_rng(seed)

    def normal(self, *shape):
        return self.t.tensor(self.numpy.standard_normal(shape).astype("float32"))

    def integers(self, high, *shape):
        return self.t.tensor(self.numpy.integers(0, high, shape))

    def start(self, module):
        """Gives a module weights that depend on names and shapes alone."""
        state = module.state_dict()
        for name, value in state.items():
            if value.is_floating_point() and value.ndim > 1:
                state[name] = self.normal(*value.shape) / math.sqrt(value[0].numel())
            elif "bias" in name:
                state[name] = self.normal(*value.shape) * 0.1
        module.load_state_dict(state)
        return module


def check_losses(script, steps):
    """The script gives the same losses, about, of as many steps at least."""
    mine, theirs = (script(t, Draws(t)) for t in SIDES)
    assert len(mine) >= steps
    np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-7)
