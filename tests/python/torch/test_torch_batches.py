"""Training by batches: parts of tensors with values are no structure of a step, so that each batch
follows the same trace; their losses are PyTorch's."""

import composit._core as _core
import numpy as np
import pytest
import torch

import composit.torch as ours
from composit.torch import calling, steps

SAMPLES, SIZE = 120, 4


def by_slices(t, x, y):
    return ((x[i : i + SIZE], y[i : i + SIZE]) for i in range(0, SAMPLES, SIZE))


def by_order(t, x, y):
    order = (t.arange(SAMPLES) * 7) % SAMPLES
    return ((x[order[i : i + SIZE]], y[order[i : i + SIZE]]) for i in range(0, SAMPLES, SIZE))


def by_loader(t, x, y):
    return t.utils.data.DataLoader(t.utils.data.TensorDataset(x, y), batch_size=SIZE)


def by_rows(t, x, y):
    return ((x[i][None], y[i : i + 1]) for i in range(0, SAMPLES, 4))


BATCHES = [by_slices, by_order, by_loader, by_rows]


def network_of(t):
    network = t.nn.Sequential(t.nn.Linear(6, 8), t.nn.ReLU(), t.nn.Linear(8, 5))
    for i, p in enumerate(network.parameters()):
        p.data = t.sin(t.arange(float(p.numel())) + i).reshape(p.shape)
    x = t.cos(t.arange(6.0 * SAMPLES)).reshape(SAMPLES, 6)
    return network, x, (t.arange(SAMPLES) * 3) % 5


def epochs(t, batches, count=2):
    network, x, y = network_of(t)
    optimizer = t.optim.Adam(network.parameters(), 0.01)
    for _ in range(count):
        losses = []
        for a, b in batches(t, x, y):
            optimizer.zero_grad()
            loss = t.nn.functional.cross_entropy(network(a), b)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        yield losses


@pytest.fixture
def with_nodes():
    """The names of operations that are made with nodes in a trace, as they were not met before."""
    found = []
    steps.forget()  # the tests before; else what is known may reach its limit here, and be dropped

    def seen(function, name, *given):
        if steps.current().is_built and steps.current().is_open:
            found.append(name)
        return calling.call_now(function, name, *given)

    _core.provide("call_now", seen)
    yield found
    _core.provide("call_now", calling.call_now)


@pytest.mark.parametrize("batches", BATCHES)
def test_losses_are_pytorchs(batches):
    for expected, found in zip(epochs(torch, batches), epochs(ours, batches)):
        np.testing.assert_allclose(found, expected, rtol=2e-5)


@pytest.mark.parametrize("batches", BATCHES)
def test_batches_follow_one_trace(batches, with_nodes):
    running = epochs(ours, batches, 3)
    next(running)
    next(running)
    steps_before = len(with_nodes)
    next(running)
    assert len(with_nodes) == steps_before


def test_writes_at_one_place_after_another_stay_in_the_trace(with_nodes):
    def run(t):
        memory, w, logged = t.zeros(5, 3), t.ones(3, requires_grad=True), []
        x = t.sin(t.arange(60.0)).reshape(20, 3)
        for i in range(40):
            memory[i % 5] = x[i % 20]
            loss = ((memory * w).sum(1) ** 2).mean()
            w.grad = None
            loss.backward()
            w.data -= 0.05 * w.grad
            logged.append(loss.item())
        return logged

    np.testing.assert_allclose(run(ours), run(torch), rtol=1e-5)
    assert with_nodes
    with_nodes.clear()
    run(ours)
    assert not with_nodes


def test_views_of_what_was_computed_are_read_where_they_lie():
    x = (ours.arange(12.0) * 2).reshape(3, 4)
    x.sum().item()
    assert x[1:, ::2].detach().tolist() == [[8, 12], [16, 20]]
    assert x.t()[1].numpy().tolist() == [2, 10, 18]
    x[1, 0] = -1
    assert x[1].tolist() == [-1, 10, 12, 14]
    assert steps.current() is not None
