"""Writes that are a part of recorded steps: whatever shares the memory sees them, in the order of
the program, with the bits of operations that make their nodes at once."""

import contextlib
import gc
import random

import numpy as np
import pytest

import composit.torch as torch
from composit.torch import steps


@contextlib.contextmanager
def nodes_at_once():
    owner = steps.record_in(0)
    try:
        yield
    finally:
        steps.record_in(owner)


def array(x):
    return np.array(x.detach().numpy())


def check(function):
    """The arrays that the function returns, with and without steps by structure."""
    with nodes_at_once():
        expected = [x.tobytes() for x in function()]
    assert [x.tobytes() for x in function()] == expected


def drawn(seed, *shape):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


class Machine:
    """Runs a drawn program on buffers and what shares their memory; a line for each instruction."""

    def __init__(self, seed):
        self.buffers = [drawn(seed + i, 3, 3) for i in range(3)]
        self.weight = drawn(seed, 3, 3).requires_grad_()
        self.kept, self.results = [], []

    def run(self, program, rounds):
        for round_ in range(rounds):
            self.x = drawn(round_, 3, 3)
            for code, a, b in program:
                self.one(code, a, b, round_)
        self.results += [array(x) for x in (*self.buffers, self.weight, *self.kept)]
        return self.results

    def one(self, code, a, b, round_):
        x, y = self.buffers[a], self.buffers[b]
        if code == 0:
            x.mul_(0.9)
        elif code == 1:
            x += y
        elif code == 2:
            x.add_(self.x @ y)
        elif code == 3:
            self.kept = [*self.kept[-2:], x.t()]
        elif code == 4:
            self.kept = [*self.kept[-2:], x.detach()]
        elif code == 5:
            self.kept = [*self.kept[-2:], x * 1.0]
        elif code == 6 and self.kept:
            self.kept[-1].mul_(0.5)
        elif code == 7:
            x[0] = y[1]
        elif code == 8:
            loss = (torch.tanh(self.x @ self.weight) * x).sum()
            loss.backward()
            with torch.no_grad():
                self.weight -= self.weight.grad * 0.1
            self.weight.grad = None
        elif code == 9:
            self.results.append(array(x))
        elif code == 10:
            (self.x @ self.weight * y).sum().backward()
            self.weight.grad.mul_(0.5)
            self.results.append(array(self.weight.grad))
            self.weight.grad = None
        elif code == 11:
            x.copy_(y)
        elif code == 12:
            self.x = torch.relu_(self.x * y)
        elif code == 13:
            self.kept = []
        elif code == 14:
            self.x = x.view(9).view(3, 3) + 1
        elif code == 15:
            y.clamp_(-1, 1).exp_()
        elif code == 16:
            self.results.append(np.float32((x * y).sum().item()))


@pytest.mark.parametrize("seed", range(80))
def test_drawn_writes_have_the_same_bits(seed):
    """A quarter of them does little beside writing whole buffers, so that steps are known."""
    choice = random.Random(seed)
    codes = [0, 1, 2, 15, 5, 8] if seed % 4 == 0 else range(17)
    program = [(choice.choice(codes), choice.randrange(3), choice.randrange(3)) for _ in range(7)]
    check(lambda: Machine(seed).run([*program, (9, 0, 0)], 6))


def network():
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 8),
        nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3),
    )  # fmt: skip


def state_is_kept(i, model, kept):
    """What a state_dict holds shares the buffers' memory, as PyTorch's does."""
    if i % 4 == 1:
        kept["state"] = model.state_dict()
    if i % 4 == 3:
        kept.pop("state")


def statistics_are_seen(i, model, kept):
    if i == 5:
        kept["view"] = model[1].running_mean[:1]
    if "view" in kept:
        kept.setdefault("seen", []).append(array(kept["view"]))


def is_evaluated_now_and_then(i, model, kept):
    model.train(i % 3 != 2)


@pytest.mark.parametrize("change", [
    None, state_is_kept, statistics_are_seen, is_evaluated_now_and_then,
])  # fmt: skip
def test_batch_norm_trains_with_the_same_bits(change):
    def run():
        model, kept, losses = network(), {}, []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for i in range(10):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(
                model(drawn(i, 5, 1, 6, 6)), torch.tensor([0, 1, 2, 0, 1])
            )
            loss.backward()
            optimizer.step()
            if change is not None:
                change(i, model, kept)
            losses.append(loss)
        found = [*losses, *model.parameters(), *model.buffers(), *kept.get("state", {}).values()]
        return [array(x) for x in found] + kept.get("seen", [])

    check(run)


def test_known_steps_with_batch_norm_make_no_nodes():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    were_lazy = []
    for i in range(8):
        optimizer.zero_grad()
        model(drawn(i, 5, 1, 6, 6)).sum().backward()
        were_lazy.append("_lazy" in model[5].running_var.__dict__)
        optimizer.step()
    assert were_lazy[0] and not any(were_lazy[-4:])
    assert model[5].num_batches_tracked.item() == 8


def test_learning_a_step_leaves_no_cycles():
    """Leaves that a trace holds would not be alone until the cycles are collected."""
    gc.collect()
    gc.disable()
    try:
        x = drawn(0, 3, 3)
        for _ in range(5):
            x.mul_(0.5)
            x.tolist()
        del x
        traces = [one for one in gc.get_objects() if type(one) is steps.Trace]
        assert len(traces) <= 1
    finally:
        gc.enable()
