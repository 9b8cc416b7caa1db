"""composit.torch's windows of signals beside PyTorch's."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch as peer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, torch

OPTIONS = {
    "bartlett": [{}], "blackman": [{}], "cosine": [{}], "hamming": [{}], "hann": [{}],
    "nuttall": [{}],
    "exponential": [{}, {"tau": 2.5}, {"center": 1.5, "sym": False}],
    "gaussian": [{}, {"std": 3.0}],
    "general_cosine": [{"a": [0.5, 0.3, 0.2]}, {"a": (1.0,)}],
    "general_hamming": [{}, {"alpha": 0.7}],
    "kaiser": [{}, {"beta": 0.0}, {"beta": 8.6}],
}  # fmt: skip


def test_all_windows_are_there():
    assert sorted(torch.signal.windows.__all__) == sorted(OPTIONS)
    assert sorted(torch.signal.windows.__all__) == sorted(peer.signal.windows.__all__)


@pytest.mark.parametrize("name", OPTIONS)
def test_windows_are_pytorchs(name):
    for options in OPTIONS[name]:
        for M in (0, 1, 2, 3, 8, 65):
            for sym in (True, False):
                for dtype in ("float32", "float64"):
                    given = {"sym": sym, **options}
                    mine, theirs = (
                        getattr(t.signal.windows, name)(M, dtype=getattr(t, dtype), **given)
                        for t in (torch, peer)
                    )
                    assert mine.numpy().dtype == theirs.numpy().dtype
                    assert tuple(mine.shape) == tuple(theirs.shape)
                    bound = 2e-6 if dtype == "float32" else 1e-13
                    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=bound, atol=bound)


@pytest.mark.parametrize("call", [
    lambda w, t: w.hann(-1),
    lambda w, t: w.bartlett(-2),
    lambda w, t: w.exponential(-1, tau=-1.0),
    lambda w, t: w.exponential(3, tau=0.0),
    lambda w, t: w.exponential(3, center=1.0),
    lambda w, t: w.gaussian(3, std=-1.5),
    lambda w, t: w.gaussian(-3, std=-1.5),
    lambda w, t: w.kaiser(4, beta=-0.5),
    lambda w, t: w.general_cosine(3, a=[]),
    lambda w, t: w.general_cosine(3, a=0.5),
    lambda w, t: w.general_cosine(1, a=[]).tolist(),
    lambda w, t: w.hann(3, dtype=t.float16),
    lambda w, t: w.cosine(3, layout=t.sparse_coo),
])  # fmt: skip
def test_what_windows_refuse(call):
    check_same(lambda t: call(t.signal.windows, t))


def test_functions_of_torch_are_the_same_windows():
    def program(t):
        made = [
            t.hann_window(6), t.hann_window(6, periodic=False), t.hamming_window(5, True, 0.6, 0.3),
            t.blackman_window(7, dtype=t.float64), t.bartlett_window(4),
            t.kaiser_window(5, True, 3.0),
            t.hann_window(1), t.hann_window(0), t.hamming_window(1, False),
        ]  # fmt: skip
        return [(str(x.dtype), [round(value, 5) for value in x.tolist()]) for x in made]

    check_same(program)
    check_same(lambda t: t.hann_window(-1))


def test_windows_are_leaves_that_may_require_gradients():
    window = torch.signal.windows.gaussian(5, std=2.0, requires_grad=True)
    (window * 3).sum().backward()
    assert window.grad.tolist() == [3] * 5
