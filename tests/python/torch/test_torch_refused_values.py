"""Probabilities and classes that PyTorch refuses are refused in its words, and slopes at the ends
of domains are its."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, peer, torch

INF, NAN = float("inf"), float("nan")
F = {t: t.nn.functional for t in (torch, peer)}


def crossed(input, target):
    return lambda t: F[t].binary_cross_entropy(t.tensor(input), t.tensor(target)).isnan()


def margins(labels, **options):
    return lambda t: F[t].multi_margin_loss(t.ones(2, 3), t.tensor(labels), **options)


def hot(labels, *classes):
    return lambda t: F[t].one_hot(t.tensor(labels, dtype=t.int64), *classes)


SAME = {
    "target above 1": crossed([0.5, 0.2], [1.5, 0.0]),
    "target below 0": crossed([0.5, 0.2], [-0.1, 0.0]),
    "target NaN": crossed([0.5, 0.2], [NAN, 0.0]),
    "input above 1": crossed([1.5, 0.2], [1.0, 0.0]),
    "input below 0": crossed([0.2, -1.0], [1.0, 0.0]),
    "input NaN": crossed([0.2, NAN], [1.0, 0.0]),
    "both": crossed([2.0, 0.5], [1.0, 3.0]),
    "ends": crossed([0.0, 1.0], [0.0, 1.0]),
    "nothing": crossed([], []),
    "module": lambda t: t.nn.BCELoss()(t.tensor([0.5]), t.tensor([1.5])),
    "names": lambda t: F[t].binary_cross_entropy(target=t.tensor([2.0]), input=t.tensor([0.5])),
    "margin of 3": margins([0, 3]), "margin of -1": margins([0, -1]),
    "margin of 1 row": lambda t: F[t].multi_margin_loss(t.ones(3), t.tensor(7)),
    "margin with weights": lambda t: F[t].multi_margin_loss(
        t.ones(2, 3), t.tensor([0, 7]), weight=t.ones(3)),
    "margin module": lambda t: t.nn.MultiMarginLoss()(t.ones(2, 3), t.tensor([0, -7])),
    "margin of p": margins([0, 2], p=3),
    "hot -1": hot([0, -1]), "hot -1 of 3": hot([0, -1], 3), "hot 3 of 3": hot([0, 3], 3),
    "hot of 0": hot([0, 1], 0), "hot of -2": hot([0, 1], -2), "hot": hot([0, 3]),
    "hot nothing": hot([]), "hot nothing of 0": hot([], 0), "hot nothing of 3": hot([], 3),
    "hot floats": lambda t: F[t].one_hot(t.tensor([1.0])),
    "hot int32": lambda t: F[t].one_hot(t.tensor([1], dtype=t.int32)),
}  # fmt: skip


@pytest.mark.on_cpu  # where values are known when a call is made
@pytest.mark.parametrize("name", SAME)
def test_values_are_refused_as_pytorch_refuses_them(name):
    check_same(SAME[name])


def test_values_that_are_not_computed_are_not_waited_for():
    def loss(x):
        return torch.nn.functional.binary_cross_entropy(x.sigmoid(), torch.tensor([1.0, 0.0]))

    x = torch.tensor([0.5, -0.5])
    assert torch.compile(loss)(x).item() == pytest.approx(loss(x).item())
    classes = torch.tensor([[0, 2], [1, 1]])
    hot = torch.func.vmap(lambda row: torch.nn.functional.one_hot(row, 3))(classes)
    assert hot.tolist() == torch.nn.functional.one_hot(classes, 3).tolist()


ENDS = {
    "logit": (lambda t, x: t.logit(x), [0.0, -0.0, 1.0, 0.5, 1e-30]),
    "logit eps": (lambda t, x: t.logit(x, 0.1), [0.0, 1.0, 0.5, -1.0, 2.0, -INF, INF]),
    "erfinv": (lambda t, x: t.erfinv(x), [-1.0, 1.0, 0.0, 0.5]),
    "ndtri": (lambda t, x: t.special.ndtri(x), [0.5, 0.1, 0.9]),
    "entr": (lambda t, x: t.special.entr(x), [0.0, -0.0, 1.0, 0.5, 1e-40, 1e-31, 1e-29]),
    "digamma": (lambda t, x: t.digamma(x), [0.0, -0.0, 1.0, 0.5, -0.5]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ENDS)
def test_slopes_at_the_ends_of_domains_are_pytorchs(name, dtype):
    function, points = ENDS[name]
    found = []
    for t in (torch, peer):
        x = t.tensor(points, dtype=getattr(t, dtype), requires_grad=True)
        y = function(t, x)
        y.sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy()))
    for mine, theirs in zip(*found):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
