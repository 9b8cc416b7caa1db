"""Recurrent layers against PyTorch's modules: outputs, last states, every gradient, bits, loops."""

import re

import numpy as np
import pytest
import torch

import composit
from composit import nn, random

KINDS = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}
TIMES, BATCH, INPUTS, HIDDEN = 6, 3, 4, 5
VARIANTS = {
    "plain": {},
    "two layers": {"num_layers": 2},
    "both directions": {"bidirectional": True},
    "everything": {"num_layers": 3, "bidirectional": True, "batch_first": True},
    "no biases": {"bias": False},
    "one sequence": {},
}


def flat(made):
    """output, h and perhaps c."""
    output, states = made
    return [output, *states] if isinstance(states, tuple) else [output, states]


class Pair:
    """A module of PyTorch, and the function here, with the same weights, input and states."""

    def __init__(self, kind, variant, dtype, initial=True, **options):
        options = {**VARIANTS[variant], **options}
        torch.manual_seed(7)
        self.module = KINDS[kind](INPUTS, HIDDEN, **options).to(getattr(torch, dtype))
        rng = np.random.RandomState(5)
        draw = lambda *shape: rng.standard_normal(shape).astype(dtype)
        batch = () if variant == "one sequence" else (BATCH,)
        first = options.get("batch_first", False)
        self.x = draw(BATCH, TIMES, INPUTS) if first else draw(TIMES, *batch, INPUTS)
        rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
        sizes = [options.get("proj_size") or HIDDEN, HIDDEN][: 2 if kind == "lstm" else 1]
        self.states = [draw(rows, *batch, size) for size in sizes] if initial else []
        self.weights = {n: p.detach().numpy() for n, p in self.module.named_parameters()}
        self.kind, self.batch_first = kind, first
        self.more = {"nonlinearity": options["nonlinearity"]} if "nonlinearity" in options else {}

    def ours(self, x, *given):
        states, weights = given[: len(self.states)], given[len(self.states) :]
        named = dict(zip(self.weights, weights, strict=True))
        initial = None if not states else tuple(states) if self.kind == "lstm" else states[0]
        function = getattr(nn, self.kind)
        return flat(function(x, named, initial, batch_first=self.batch_first, **self.more))

    def arrays(self):
        return [self.x, *self.states, *self.weights.values()]

    def theirs(self):
        """Results, and gradients of a weighted sum of all of them by everything."""
        x = torch.tensor(self.x, requires_grad=True)
        states = [torch.tensor(s, requires_grad=True) for s in self.states]
        initial = () if not states else (tuple(states) if self.kind == "lstm" else states[0],)
        made = flat(self.module(x, *initial))
        total = sum((part * torch.tensor(scale(part.shape, part))).sum() for part in made)
        leaves = [x, *states, *self.module.parameters()]
        gradients = torch.autograd.grad(total, leaves)
        return [t.detach().numpy() for t in (*made, *gradients)]

    def with_gradients(self, *arrays):
        made, pull_back = composit.vjp(lambda *a: tuple(self.ours(*a)), *arrays)
        dtype = self.x.dtype
        gradients = pull_back(tuple(scale(part.shape, None).astype(dtype) for part in made))
        return [*made, *gradients]


def scale(shape, like):
    values = np.random.RandomState(len(shape)).standard_normal(tuple(shape))
    return values if like is None else values.astype(str(like.dtype).removeprefix("torch."))


def check(pair, bound):
    found = composit.evaluate(*pair.with_gradients(*pair.arrays()))
    for a, b in zip(found, pair.theirs(), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients(kind, variant):
    check(Pair(kind, variant, "float64"), 1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_without_first_states(kind):
    check(Pair(kind, "two layers", "float32", initial=False), 2e-4)


def test_relu():
    check(Pair("rnn", "everything", "float64", nonlinearity="relu"), 1e-10)


@pytest.mark.parametrize("variant", ["plain", "everything"])
def test_projections(variant):
    check(Pair("lstm", variant, "float64", proj_size=2), 1e-10)


@pytest.mark.long_tail
def test_compiled_bits_are_the_interpreters():
    pairs = [Pair(kind, "everything", "float32") for kind in KINDS]

    def everything(*arrays):
        results, left = [], list(arrays)
        for pair in pairs:
            count = len(pair.arrays())
            mine, left = left[:count], left[count:]
            results += pair.with_gradients(*mine)
        return results

    arrays = [a for pair in pairs for a in pair.arrays()]
    expected = composit.compile(everything, backend="interpreter")(*arrays)
    for threads in (1, 2):
        found = composit.compile(everything, threads=threads)(*arrays)
        for a, b in zip(found, expected, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape) and a.tobytes() == b.tobytes()


@pytest.mark.long_tail
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_steps_are_one_loop(kind):
    pair = Pair(kind, "plain", "float32", initial=False)
    layer = getattr(nn, kind)

    def output(x):
        return layer(x, pair.weights)[0]

    for function, loops in ((output, 1), (composit.grad(loss_of(output)), 2)):
        short, long = (
            composit.compile(function, np.zeros((times, 2, INPUTS), "float32"))
            for times in (10, 1000)
        )
        assert len(short.graph) == len(long.graph) < 200
        assert [kernel.kind for kernel in long.kernels].count("Repeat") == loops
        assert len(short.kernels) == len(long.kernels)


def loss_of(output):
    return lambda x: (output(x) ** 2).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_cells(kind):
    cell = {"lstm": torch.nn.LSTMCell, "gru": torch.nn.GRUCell, "rnn": torch.nn.RNNCell}[kind]
    torch.manual_seed(3)
    module = cell(INPUTS, HIDDEN).double()
    weights = {n: p.detach().numpy() for n, p in module.named_parameters()}
    rng = np.random.RandomState(2)
    x, h, c = (rng.standard_normal((BATCH, size)) for size in (INPUTS, HIDDEN, HIDDEN))
    given = [torch.tensor(a) for a in (x, h, c)]
    if kind == "lstm":
        expected = module(given[0], (given[1], given[2]))
        found = nn.lstm_cell(x, (h, c), **weights)
    else:
        expected = [module(*given[:2])]
        found = [getattr(nn, f"{kind}_cell")(x, h, **weights)]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b.detach().numpy(), rtol=1e-12, atol=1e-12)


def test_dropout_acts_between_layers():
    pair = Pair("gru", "two layers", "float32")
    key = random.key(1)
    output, _ = nn.gru(pair.x, pair.weights, dropout=0.5, key=key)
    again, _ = nn.gru(pair.x, pair.weights, dropout=0.5, key=key)
    other, _ = nn.gru(pair.x, pair.weights, dropout=0.5, key=random.key(2))
    plain, _ = nn.gru(pair.x, pair.weights)
    np.testing.assert_array_equal(output, again)
    assert (np.asarray(output) != np.asarray(other)).any()
    assert (np.asarray(output) != np.asarray(plain)).any()
    first = {n: w for n, w in pair.weights.items() if n.endswith("_l0")}
    second = {n.replace("_l1", "_l0"): w for n, w in pair.weights.items() if n.endswith("_l1")}
    between = nn.dropout(nn.gru(pair.x, first)[0], 0.5, random.fold_in(key, 1))
    np.testing.assert_array_equal(output, nn.gru(between, second)[0])


WEIGHTS = Pair("lstm", "plain", "float32").weights
X = np.zeros((TIMES, BATCH, INPUTS), "float32")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.lstm(X[0, 0], WEIGHTS),
         "lstm: x has shape (4,). (times, batch, inputs) or (times, inputs) is required."),
        (lambda: nn.lstm(X[:, :, :2], WEIGHTS),
         "lstm: weight_ih has shape (20, 4). (20, 2) is required."),
        (lambda: nn.lstm(X, {**WEIGHTS, "bias_ih_l0": X[0, 0]}),
         "lstm: bias_ih has shape (4,). (20,) is required."),
        (lambda: nn.lstm(X, {**WEIGHTS, "bias": X}),
         "lstm: a weight is called 'bias'. Names like weight_ih_l0 and weight_hh_l0_reverse are"),
        (lambda: nn.lstm(X, {"weight_ih_l0": WEIGHTS["weight_ih_l0"]}),
         "lstm: there is no weight weight_hh_l0. It is required."),
        (lambda: nn.lstm(X, WEIGHTS, (X[:1], X[:1])),
         "lstm: the first h has shape (1, 3, 4). (1, 3, 5) is required."),
        (lambda: nn.lstm(X, WEIGHTS, dropout=0.5),
         "lstm: dropout is 0.5 without a key. One is required."),
        (lambda: nn.rnn(X, WEIGHTS, nonlinearity="sin"),
         "rnn: nonlinearity is 'sin'. Available: tanh, relu."),
        (lambda: nn.gru(X, {}), "gru: there is no weight weight_ih_l0. It is required."),
    ],
)  # fmt: skip
def test_errors(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.gru_cell(X[0], X[0], None, X[0]), "gru_cell: there is no weight_ih."),
        (lambda: nn.rnn_cell(X[0], X[0], X[0], None), "rnn_cell: there is no weight_hh."),
        (lambda: nn.lstm(X, None), "lstm: "),
        (lambda: nn.lstm(X, WEIGHTS, X), "lstm: "),
        (lambda: nn.lstm_cell(X[0], None, X[0], X[0]), "lstm_cell: "),
    ],
)
def test_errors_of_types(call, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        call()
