"""Optimisers' states and schedules as PyTorch's: names, kinds, hooks, checkpoints that go from one
library to the other, and what schedules of schedules do."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, peer, torch

OPTIMISERS = {
    "SGD": {}, "SGD momentum": {"momentum": 0.9}, "Adam": {}, "Adam amsgrad": {"amsgrad": True},
    "AdamW": {}, "NAdam": {}, "RAdam": {}, "Adamax": {}, "ASGD": {"t0": 2},
    "Adagrad": {"lr_decay": 0.5, "initial_accumulator_value": 0.1}, "RMSprop": {},
    "RMSprop centered": {"centered": True, "momentum": 0.5}, "Rprop": {}, "Adadelta": {},
    "Adafactor": {},
}  # fmt: skip


def made(t, name, parameters):
    return getattr(t.optim, name.split()[0])(parameters, lr=0.1, **OPTIMISERS[name])


def steps(optimizer, p, count):
    for _ in range(count):
        optimizer.zero_grad()
        (p**2 * p.new_tensor([1.0, 0.5])).sum().backward()
        optimizer.step()
    return p.detach().numpy().copy()


def across(state, to):
    """A state whose tensors are those of the other library."""
    if isinstance(state, dict):
        return {key: across(value, to) for key, value in state.items()}
    if isinstance(state, list):
        return [across(value, to) for value in state]
    return to.tensor(state.detach().numpy()) if hasattr(state, "detach") else state


@pytest.mark.parametrize("name", OPTIMISERS)
def test_checkpoints_go_to_the_other_library_and_back(name):
    found = []
    for start, end in ((torch, peer), (peer, torch), (peer, peer)):
        p = start.nn.Parameter(start.tensor([4.0, -3.0]))
        optimizer = made(start, name, [p])
        values = steps(optimizer, p, 5)
        state = across(optimizer.state_dict(), end)
        q = end.nn.Parameter(end.tensor(values))
        other = made(end, name, [q])
        other.load_state_dict(state)
        found.append(steps(other, q, 4))
    np.testing.assert_allclose(found[0], found[2], rtol=2e-6)
    np.testing.assert_allclose(found[1], found[2], rtol=2e-6)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_states_have_pytorchs_names_and_kinds(name):
    def program(t):
        p = t.nn.Parameter(t.tensor([1.0, -2.0]))
        optimizer = made(t, name, [p])
        before = len(optimizer.state)
        steps(optimizer, p, 3)
        state = optimizer.state_dict()["state"]
        held = state.get(0, {})
        kinds = {key: (str(x.dtype), tuple(x.shape)) for key, x in held.items() if key != "step"}
        return before, list(state), sorted(held), kinds, held.get("step", -1)

    check_same(program)


def step_is_a_tensor(t):
    p = t.nn.Parameter(t.ones(2))
    optimizer, seen = t.optim.Adam([p], 0.1), []
    steps(optimizer, p, 2)
    step = optimizer.state[p]["step"]
    for change in (lambda: None, step.zero_, lambda: step.add_(5)):
        change()
        steps(optimizer, p, 1)
        seen.append((step.item(), optimizer.state[p]["step"].item()))
    optimizer.state[p]["step"] = t.tensor(7.0)
    steps(optimizer, p, 1)
    optimizer.state[p]["step"] += 1
    seen.append(sorted(optimizer.state[p].items(), key=lambda item: item[0])[2])
    return seen, isinstance(step, t.Tensor), round(p[0].item(), 5)


def own_optimiser(t):
    class Lion(t.optim.Optimizer):
        def __init__(self, params, lr=0.1, betas=(0.9, 0.99)):
            super().__init__(params, {"lr": lr, "betas": betas})

        @t.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["step"] = 0
                        state["exp_avg"] = t.zeros_like(p)
                    state["step"] += 1
                    mean, (b1, b2) = state["exp_avg"], group["betas"]
                    p.add_(mean.mul(b1).add(p.grad, alpha=1 - b1).sign_(), alpha=-group["lr"])
                    mean.mul_(b2).add_(p.grad, alpha=1 - b2)

    p = t.nn.Parameter(t.tensor([1.0, -2.0]))
    optimizer = Lion([p])
    steps(optimizer, p, 3)
    other = Lion([p])
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    return p, optimizer.state[p]["step"], type(other.state[p]["step"]).__name__, str(optimizer)


def hooks(t):
    p, seen = t.nn.Parameter(t.ones(1)), []
    optimizer = t.optim.SGD([p], 0.1)
    optimizer.register_step_pre_hook(lambda o, a, k: seen.append(("pre", len(a), k)))
    handle = optimizer.register_step_post_hook(lambda o, a, k: seen.append("post"))
    optimizer.register_state_dict_post_hook(lambda o, s: {**s, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, s: seen.append(sorted(s)))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    steps(optimizer, p, 1)
    handle.remove()
    optimizer.step(closure=None)
    state = optimizer.state_dict()
    optimizer.load_state_dict({k: v for k, v in state.items() if k != "more"})
    return seen, sorted(state), p


def named_parameters(t):
    layer = t.nn.Linear(1, 1)
    optimizer = t.optim.SGD(layer.named_parameters(), 0.1)
    return optimizer.param_groups[0]["param_names"], optimizer.state_dict()["param_groups"][0][
        "param_names"
    ]


def written_between_steps(t):
    p = t.nn.Parameter(t.tensor([1.0, -2.0]))
    optimizer = t.optim.SGD([p], 0.1, momentum=0.9)
    for _ in range(4):
        optimizer.zero_grad()
        (p**2).sum().backward()
        if optimizer.state:
            optimizer.state[p]["momentum_buffer"].mul_(0.5)
        optimizer.step()
    optimizer.state[p]["momentum_buffer"] = t.zeros_like(p) + 1
    optimizer.step()
    return [round(x, 4) for x in p.tolist()]


def copied_and_pickled(t):
    p = t.nn.Parameter(t.ones(2))
    optimizer = t.optim.Adam([p], 0.1)
    steps(optimizer, p, 2)
    twin = copy.deepcopy(optimizer)
    again = pickle.loads(pickle.dumps(optimizer))
    found = []
    for each in (optimizer, twin, again):
        q = each.param_groups[0]["params"][0]
        steps(each, q, 2)
        found.append((round(q[0].item(), 6), each.state[q]["step"].item()))
    return found


@pytest.mark.parametrize("program", [
    step_is_a_tensor, own_optimiser, hooks, named_parameters, written_between_steps,
    copied_and_pickled,
])  # fmt: skip
def test_states_are_used_as_pytorchs(program):
    check_same(program)


SCHEDULES = {
    "warmup, cosine": lambda S, o: S.SequentialLR(
        o, [S.LinearLR(o, 0.1, total_iters=3), S.CosineAnnealingLR(o, 10)], [3]
    ),
    "constant, exponential": lambda S, o: S.SequentialLR(
        o, [S.ConstantLR(o, 0.1, 20), S.ExponentialLR(o, 0.9)], [3]
    ),
    "three": lambda S, o: S.SequentialLR(
        o, [S.StepLR(o, 1, 0.5), S.StepLR(o, 2, 0.1), S.PolynomialLR(o, 4)], [3, 6]
    ),
    "lambda, steps": lambda S, o: S.SequentialLR(
        o, [S.LambdaLR(o, lambda e: (e + 1) / 4), S.MultiStepLR(o, [2])], [3]
    ),
    "multiplied": lambda S, o: S.SequentialLR(
        o, [S.ConstantLR(o, 0.5, 2), S.MultiplicativeLR(o, lambda e: 0.9)], [3]
    ),
    "chain": lambda S, o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.9)]),
    "chain in a sequence": lambda S, o: S.SequentialLR(
        o, [S.ConstantLR(o, 0.1, 2), S.SequentialLR(o, [S.StepLR(o, 1), S.StepLR(o, 2)], [2])], [3]
    ),
    "restarts": lambda S, o: S.CosineAnnealingWarmRestarts(o, 2, 2),
    "no schedule": lambda S, o: S.SequentialLR(o, [], []),
    "milestones": lambda S, o: S.SequentialLR(o, [S.StepLR(o, 1)], [1]),
    "plateau in a chain": lambda S, o: S.ChainedScheduler([S.ReduceLROnPlateau(o)]),
    "no optimiser": lambda S, o: S.StepLR(3, 1),
    "functions": lambda S, o: S.LambdaLR(o, [1, 2]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_of_schedules_are_pytorchs(name):
    def program(t):
        p = t.ones(1, requires_grad=True)
        optimizer = t.optim.SGD([p], 1.0)
        schedule = SCHEDULES[name](t.optim.lr_scheduler, optimizer)
        rates = []
        for i in range(12):
            rates.append(round(optimizer.param_groups[0]["lr"], 9))
            if i == 5:  # goes on from its state
                again = t.optim.SGD([p], 1.0)
                other = SCHEDULES[name](t.optim.lr_scheduler, again)
                other.load_state_dict(copy.deepcopy(schedule.state_dict()))
                again.load_state_dict(optimizer.state_dict())
                optimizer, schedule = again, other
            optimizer.step()
            schedule.step()
        return rates, schedule.get_last_lr()[0] == optimizer.param_groups[0]["lr"]

    check_same(program)


def test_a_plateau_has_a_least_rate_for_each_group():
    def program(t):
        groups = [{"params": [t.ones(1, requires_grad=True)]} for _ in range(2)]
        optimizer = t.optim.SGD(groups, 1.0)
        schedule = t.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.5, 0.01])
        for loss in (1.0, 2.0, 3.0, 4.0):
            schedule.step(loss)
        state = {k: v for k, v in schedule.state_dict().items() if k in ("best", "last_epoch")}
        return [group["lr"] for group in optimizer.param_groups], state

    check_same(program)


def test_scalers_are_pickled():
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    made = pickle.loads(pickle.dumps(scaler))
    assert made.state_dict() == scaler.state_dict() and made.get_scale() == 16.0
    assert weight.item() == 0.0
