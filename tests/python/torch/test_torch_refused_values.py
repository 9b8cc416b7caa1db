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


def cell(name, input, *states):
    def run(t):
        t.manual_seed(0)
        hx = tuple(t.ones(shape) for shape in states)
        made = getattr(t.nn, name)(2, 3)(
            t.ones(input), *([hx[0] if len(hx) == 1 else hx] if hx else [])
        )
        return (made[0] if name == "LSTMCell" else made).isnan()

    return run


def transformed(name, *options, rows=2):
    def run(t):
        d = t.distributions
        return getattr(d, name)([d.ExpTransform()] * 2, 0, *options)(t.ones(rows, 2))

    return run


def sampled(name, *options):
    return lambda t: t.tensor(len(list(getattr(t.utils.data, name)(*options))))


def packed_data(t):
    data = t.nn.utils.rnn.pack_padded_sequence(t.ones(2, 2, 2, dtype=t.float64), [2, 1])
    return t.nn.LSTM(2, 3)(data)[0].data


def keyless(**options):
    def run(t):
        t.manual_seed(0)
        attention, nothing = t.nn.MultiheadAttention(4, 2), t.ones(0, 1, 4)
        return attention(t.ones(3, 1, 4), nothing, nothing, **options)[0]

    return run


SHAPES = {
    "cell of 3 dimensions": cell("LSTMCell", (1, 2, 2)), "no dimensions": cell("GRUCell", ()),
    "state of 3": cell("RNNCell", (4, 2), (1, 4, 3)), "state of 1": cell("GRUCell", (4, 2), (3,)),
    "second state of 3": cell("LSTMCell", (4, 2), (4, 3), (1, 4, 3)),
    "second state of 1": cell("LSTMCell", (4, 2), (4, 3), (3,)),
    "other batch": cell("LSTMCell", (4, 2), (5, 3), (5, 3)),
    "other size": cell("GRUCell", (4, 2), (4, 1)), "other input": cell("GRUCell", (4, 1)),
    "one": cell("LSTMCell", (2,), (3,), (3,)), "one of a batch": cell("RNNCell", (2,), (1, 3)),
    "no times": lambda t: t.nn.LSTM(2, 3)(t.ones(0, 1, 2))[0],
    "no times, first": lambda t: t.nn.GRU(2, 3, batch_first=True)(t.ones(1, 0, 2))[0],
    "no batch": lambda t: t.nn.GRU(2, 3)(t.ones(2, 0, 2))[0],
    "no time of none": lambda t: t.nn.RNN(2, 3, batch_first=True)(t.ones(0, 2))[0],
    "packed": packed_data,
    "no keys": keyless(need_weights=False), "no keys, weights": keyless(),
    "dims -1": lambda t: t.tensordot(t.ones(2, 2), t.ones(2, 2), dims=-1),
    "dims 3": lambda t: t.tensordot(t.ones(2, 2), t.ones(2, 2), dims=3),
    "dims 2": lambda t: t.tensordot(t.ones(2, 2), t.ones(2, 2)),
    "dims 0": lambda t: t.tensordot(t.ones(2, 2), t.ones(2, 3), dims=0),
    "300 of uint8": lambda t: t.randint(0, 300, (3,), dtype=t.uint8),
    "-200 of int8": lambda t: t.randint(-200, 3, (3,), dtype=t.int8),
    "like bool": lambda t: t.randint_like(t.tensor([True]), 0, 3),
    "2 of bool": lambda t: t.randint(0, 2, (3,), dtype=t.bool) | True,
    "draws of 3": lambda t: t.multinomial(t.ones(2, 2, 2), 1),
    "draws of 0": lambda t: t.tensor(1.0).multinomial(1),
    "stacked": transformed("StackTransform"), "stacked 3": transformed("StackTransform", rows=3),
    "joined": transformed("CatTransform", [1, 1]),
    "joined 3": transformed("CatTransform", [1, 1], rows=3),
    "joined of 1": transformed("CatTransform", [1]),
    "weights of 2": sampled("WeightedRandomSampler", [[1.0]], 3),
    "weights, flag": sampled("WeightedRandomSampler", [1.0], 3, 1),
    "batches, flag": sampled("BatchSampler", range(4), 3, 1),
    "batches of True": sampled("BatchSampler", range(4), True, False),
    "random, flag": sampled("RandomSampler", range(4), 1),
    "random -1": sampled("RandomSampler", range(4), False, -1),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_flags_are_refused_as_pytorch_refuses_them(name):
    check_same(SHAPES[name])


def test_all_weights_are_those_of_each_layer():
    options = {"num_layers": 2, "bidirectional": True, "proj_size": 1}
    shapes = [
        [[tuple(w.shape) for w in weights] for weights in t.nn.LSTM(2, 3, **options).all_weights]
        for t in (torch, peer)
    ]
    assert shapes[0] == shapes[1] and len(shapes[0]) == 4


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
