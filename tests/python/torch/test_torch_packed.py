"""Sequences of different lengths and the layers that take them, beside PyTorch's."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

LENGTHS = {
    "sorted": [5, 4, 4, 1],
    "equal": [3, 3, 3],
    "unsorted": [2, 6, 1, 6, 3],
    "one": [4],
}


def rnn(t):
    return t.nn.utils.rnn


def packed(t, values, lengths, batch_first, requires_grad=False):
    x = t.tensor(values, requires_grad=requires_grad)
    is_sorted = lengths == sorted(lengths, reverse=True)
    return x, rnn(t).pack_padded_sequence(x, lengths, batch_first, enforce_sorted=is_sorted)


def drawn(lengths, batch_first, width=3):
    shape = (len(lengths), max(lengths) + 1) if batch_first else (max(lengths) + 1, len(lengths))
    return np.random.default_rng(0).standard_normal((*shape, width)).astype(np.float32)


def same(ours, theirs):
    assert (ours is None) == (theirs is None)
    if theirs is not None:
        assert np.array_equal(ours.detach().numpy(), theirs.detach().numpy())
        assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_packing_and_padding_are_pytorchs(lengths, batch_first):
    values = drawn(lengths, batch_first)
    (x, ours), (y, theirs) = (packed(t, values, lengths, batch_first, True) for t in (torch, peer))
    for mine, yours in zip(ours, theirs):
        same(mine, yours)
    for options in ({}, {"padding_value": -2.5, "total_length": 9}):
        mine = rnn(torch).pad_packed_sequence(ours, batch_first, **options)
        yours = rnn(peer).pad_packed_sequence(theirs, batch_first, **options)
        for a, b in zip(mine, yours):
            same(a, b)
    mine[0].square().sum().backward()
    yours[0].square().sum().backward()
    same(x.grad, y.grad)


def test_lists_of_sequences_are_padded_packed_and_given_back():
    parts = [np.arange(3 * n, dtype=np.float32).reshape(n, 3) for n in (2, 5, 1)]
    ours, theirs = ([t.tensor(part) for part in parts] for t in (torch, peer))
    for options in ({}, {"batch_first": True, "padding_value": 7.0}, {"padding_side": "left"}):
        same(rnn(torch).pad_sequence(ours, **options), rnn(peer).pad_sequence(theirs, **options))
    again = rnn(torch).unpack_sequence(rnn(torch).pack_sequence(ours, enforce_sorted=False))
    for part, found in zip(parts, again):
        assert np.array_equal(part, found.numpy())
    with pytest.raises(ValueError, match="padding_side"):
        rnn(torch).pad_sequence(ours, padding_side="middle")


LAYERS = {
    "LSTM": ("LSTM", {}),
    "LSTM of two, both ways": ("LSTM", {"num_layers": 2, "bidirectional": True}),
    "LSTM projected": ("LSTM", {"proj_size": 2, "bidirectional": True}),
    "GRU": ("GRU", {"bidirectional": True, "batch_first": True}),
    "GRU of three": ("GRU", {"num_layers": 3, "bias": False}),
    "RNN": ("RNN", {"nonlinearity": "relu", "num_layers": 2, "bidirectional": True}),
}


@pytest.mark.parametrize("has_states", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_over_packed_sequences_are_pytorchs(name, lengths, has_states):
    kind, options = LAYERS[name]
    theirs = getattr(peer.nn, kind)(3, 4, **options)
    weights = {k: v.detach().numpy() for k, v in theirs.state_dict().items()}
    batch_first = options.get("batch_first", False)
    values = drawn(lengths, batch_first)
    rows = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    widths = [options.get("proj_size", 4), 4][: 2 if kind == "LSTM" else 1]
    drawn_states = [np.random.default_rng(i).standard_normal((rows, len(lengths), n))
                    .astype(np.float32) for i, n in enumerate(widths)]  # fmt: skip
    found = []
    for t in (torch, peer):
        layer = getattr(t.nn, kind)(3, 4, **options)
        layer.load_state_dict({k: t.tensor(v) for k, v in weights.items()})
        x, sequence = packed(t, values, lengths, batch_first, True)
        states = [t.tensor(state, requires_grad=True) for state in drawn_states]
        given = (tuple(states) if kind == "LSTM" else states[0]) if has_states else None
        output, last = layer(sequence, given)
        assert isinstance(output, rnn(t).PackedSequence)
        last = last if kind == "LSTM" else (last,)
        padded, _ = rnn(t).pad_packed_sequence(output, batch_first)
        loss = padded.square().sum() + sum((state * state).sum() for state in last)
        loss.backward()
        leaves = [x, *(states if has_states else ()), *layer.parameters()]
        found.append([padded, *last, *(leaf.grad for leaf in leaves)])
    for mine, yours in zip(*found):
        np.testing.assert_allclose(mine.detach().numpy(), yours.detach().numpy(), 1e-4, 1e-5)


def test_padding_has_no_say_and_steps_train():
    lengths = [4, 2, 1]
    values = drawn(lengths, False)
    spoilt = values.copy()
    spoilt[np.arange(5)[:, None] >= np.array(lengths)] = np.nan
    torch.manual_seed(0)
    layer = torch.nn.GRU(3, 4, bidirectional=True)
    results = [layer(packed(torch, x, lengths, False)[1])[0].data for x in (values, spoilt)]
    assert np.array_equal(*(result.detach().numpy() for result in results))
    optimizer = torch.optim.Adam(layer.parameters(), 0.05)
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = (layer(packed(torch, values, lengths, False)[1])[0].data - 0.5).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_dropout_between_layers_is_drawn_in_training_only(kind):
    x = packed(torch, drawn([4, 2], False), [4, 2], False)[1]
    layer = getattr(torch.nn, kind)(3, 8, num_layers=2, dropout=0.5)
    first, second = layer(x)[0].data, layer(x)[0].data
    first.sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())
    assert not np.array_equal(first.detach().numpy(), second.detach().numpy())
    layer.eval()
    same(layer(x)[0].data, layer(x)[0].data)


@pytest.mark.parametrize(
    ("shape", "lengths", "text"),
    [
        ((3, 2, 1), [1, 2], "must be sorted in decreasing order"),
        ((3, 2, 1), [2, 0], "has to be greater than 0"),
        ((3, 2, 1), [4, 1], "a length is 4, and the input has 3 times"),
        ((3, 2, 1), [3], "to be equal to batch_size"),
    ],
)
def test_errors_name_what_is_wrong(shape, lengths, text):
    with pytest.raises(RuntimeError, match=text):
        rnn(torch).pack_padded_sequence(torch.zeros(*shape), lengths)


def test_a_total_length_below_the_longest_is_an_error():
    sequence = packed(torch, drawn([3, 1], False), [3, 1], False)[1]
    with pytest.raises(ValueError, match="total_length=2"):
        rnn(torch).pad_packed_sequence(sequence, total_length=2)


def test_synchronised_normalisation_is_that_of_the_batch():
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    x = torch.tensor(np.random.default_rng(0).standard_normal((2, 3, 6, 6)).astype(np.float32))
    expected, weight = model(x), model[1].weight
    made = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert [type(part).__name__ for part in made] == ["Conv2d", "SyncBatchNorm"]
    assert made[1].weight is weight
    same(made(x), expected)
    assert made[1].num_batches_tracked.item() == 2
    with pytest.raises(ValueError, match="at least 2D"):
        made[1](torch.zeros(4))
