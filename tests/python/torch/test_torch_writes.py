"""Writes that are a part of recorded steps: whatever shares the memory sees them, in the order of
the program, with the bits of operations that make their nodes at once."""

import gc
import random

import numpy as np
import pytest
from steps_agreement import array, check_values

import composit.torch as torch
from composit.torch import steps


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
    check_values(lambda: Machine(seed).run([*program, (9, 0, 0)], 6))


class Normalized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(),
            torch.nn.Dropout2d(0.2), torch.nn.Flatten(), torch.nn.Linear(48, 8),
            torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 3),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


def normalized(count, change=None):
    torch.manual_seed(3)
    model = Normalized()
    data = np.random.default_rng(3)
    x = torch.tensor(data.standard_normal((6, 1, 6, 6)).astype(np.float32))
    y = torch.tensor(data.integers(0, 3, 6))
    optimizer, found, was_lazy = torch.optim.Adam(model.parameters()), [], []
    for i in range(count):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        was_lazy.append(model.layers[1].running_mean._has_lazy)
        optimizer.step()
        if change is not None:
            found += change(i, model, x)
    return [*found, *(array(value) for value in model.state_dict().values())], was_lazy


def keeps_states(i, model, x):
    if i == 3:
        model.kept = model.state_dict()
    return [array(model.kept["layers.1.running_var"])] if i >= 3 else []


def evaluates(i, model, x):
    model.eval()
    with torch.no_grad():
        found = [array(model(x))]
    model.train()
    return found


def sees_a_view(i, model, x):
    if i == 2:
        model.kept = model.layers[1].running_mean[1:]
    return [array(model.kept)] if i >= 2 else []


def resets(i, model, x):
    if i == 4:
        model.layers[1].reset_running_stats()
    return []


def goes_twice(i, model, x):
    return [array(model(x).sum() + model(x).sum())]


@pytest.mark.parametrize("change", [
    None, keeps_states, evaluates, sees_a_view, resets, goes_twice,
])  # fmt: skip
def test_running_statistics_and_draws_are_part_of_steps(change):
    check_values(lambda: normalized(9, change)[0])


def test_running_statistics_of_known_steps_make_no_nodes():
    steps.forget()
    _, was_lazy = normalized(8)
    assert not was_lazy[-1] and was_lazy[0]


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
