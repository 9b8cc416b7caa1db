"""Schedules beside torch.optim.lr_scheduler's, by Python's integers and in a compiled step."""

import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim import lr_scheduler as torchs

import composit
import composit.numpy as cnp
from composit import nn

RATE = 0.3
SCHEDULES = {
    "constant": (nn.constant_schedule(RATE), lambda o: torchs.ConstantLR(o, factor=1)),
    "step": (nn.step_schedule(RATE, 7, 0.5), lambda o: torchs.StepLR(o, 7, 0.5)),
    "multi-step": (
        nn.multi_step_schedule(RATE, [3, 10, 10, 31], 0.2),
        lambda o: torchs.MultiStepLR(o, [3, 10, 10, 31], 0.2),
    ),
    "exponential": (nn.exponential_schedule(RATE, 0.93), lambda o: torchs.ExponentialLR(o, 0.93)),
    "cosine": (
        nn.cosine_schedule(RATE, 17, 0.01),
        lambda o: torchs.CosineAnnealingLR(o, 17, eta_min=0.01),
    ),
    "restarts": (
        nn.cosine_restarts_schedule(RATE, 9, minimum=0.02),
        lambda o: torchs.CosineAnnealingWarmRestarts(o, 9, eta_min=0.02),
    ),
    "restarts of growing length": (
        nn.cosine_restarts_schedule(RATE, 3, 3),
        lambda o: torchs.CosineAnnealingWarmRestarts(o, 3, T_mult=3),
    ),
    "linear": (nn.linear_schedule(RATE, 8), lambda o: torchs.LinearLR(o, total_iters=8)),
    "linear, down": (
        nn.linear_schedule(RATE, 8, 1, 0.25),
        lambda o: torchs.LinearLR(o, 1, 0.25, total_iters=8),
    ),
    "polynomial": (
        nn.polynomial_schedule(RATE, 20, 1.7),
        lambda o: torchs.PolynomialLR(o, 20, 1.7),
    ),
    "one cycle": (nn.one_cycle_schedule(RATE, 40), lambda o: torchs.OneCycleLR(o, RATE, 40)),
    "one cycle, linear": (
        nn.one_cycle_schedule(
            RATE, 40, warm_up=0.25, linear=True, division=10, final_division=100
        ),
        lambda o: torchs.OneCycleLR(
            o, RATE, 40, pct_start=0.25, anneal_strategy="linear", div_factor=10,
            final_div_factor=100,
        ),
    ),
    "one cycle of three phases": (
        nn.one_cycle_schedule(RATE, 40, three_phases=True),
        lambda o: torchs.OneCycleLR(o, RATE, 40, three_phase=True),
    ),
    "chained": (
        nn.chained_schedule(RATE, [nn.linear_schedule(1, 5), nn.exponential_schedule(1, 0.9)]),
        lambda o: torchs.ChainedScheduler(
            [torchs.LinearLR(o, total_iters=5), torchs.ExponentialLR(o, 0.9)]
        ),
    ),
    "sequential": (
        nn.sequential_schedule(
            [nn.linear_schedule(RATE, 6), nn.cosine_schedule(RATE, 30), nn.constant_schedule(RATE)],
            [6, 21],
        ),
        lambda o: torchs.SequentialLR(
            o,
            [
                torchs.LinearLR(o, total_iters=6),
                torchs.CosineAnnealingLR(o, 30),
                torchs.ConstantLR(o, factor=1),
            ],
            [6, 21],
        ),
    ),
}  # fmt: skip


def of_torch(make, count):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    rates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scheduler = make(optimizer)
        for _ in range(count):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            if len(rates) < count:
                scheduler.step()
    return rates


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_are_torchs(name):
    schedule, make = SCHEDULES[name]
    rates = [schedule(step) for step in range(40)]
    assert all(type(rate) is float for rate in rates)
    np.testing.assert_allclose(rates, of_torch(make, 40), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SCHEDULES)
def test_tensors_give_the_bits_of_integers(name):
    """Compiled, too: one program serves all steps."""
    schedule = SCHEDULES[name][0]
    expected = [schedule(step) for step in range(45)]
    for backend in ("interpreter", "cpp"):
        compiled = composit.compile(lambda step: schedule(step), backend=backend)
        for dtype in ("int64", "int32"):
            rates = [compiled(np.array(step, dtype)) for step in range(45)]
            assert [float(rate) for rate in rates] == expected
    assert schedule(cnp.asarray(3)).dtype == np.float64


@given(st.integers(0, 2**52), st.integers(1, 1000), st.integers(2, 5))
def test_restarts_begin_where_integers_say(step, first, multiplier):
    begin, length = 0, first
    while step >= begin + length:
        begin, length = begin + length, length * multiplier
    expected = (1 + math.cos(math.pi * ((step - begin) / length))) / 2
    found = nn.cosine_restarts_schedule(1.0, first, multiplier)(step)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_optimizers_follow_their_schedule():
    """As torch's optimiser beside its scheduler, in one compiled step."""
    schedule, make = SCHEDULES["sequential"]
    weight, direction = np.array([1.0, -2.0]), np.array([0.3, 0.1])
    for method, theirs in (
        (nn.sgd, torch.optim.SGD),
        (nn.adamw, torch.optim.AdamW),
        (nn.rmsprop, torch.optim.RMSprop),
    ):
        optimizer = method(schedule)
        train = composit.compile(lambda w, s, step=optimizer.step: step([w], [w * direction], s))
        state = composit.evaluate(
            *optimizer.initial_state([cnp.asarray(weight)]), always_return_tuple=True
        )
        ours = weight
        their_weight = torch.tensor(weight, requires_grad=True)
        their_optimizer = theirs([their_weight], lr=RATE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scheduler = make(their_optimizer)
            for _ in range(30):
                (ours,), state = train(ours, list(state))
                their_weight.grad = their_weight.detach() * torch.tensor(direction)
                their_optimizer.step()
                scheduler.step()
        assert int(state[0]) == 30
        np.testing.assert_allclose(ours, their_weight.detach().numpy(), rtol=1e-9)


def test_own_functions_and_tensors_are_rates():
    weight, gradient = cnp.asarray(np.array([1.0])), cnp.asarray(np.array([2.0]))
    by_function = nn.sgd(lambda step: 0.5 / (step + 1))
    state = by_function.initial_state([weight])
    (weight,), state = by_function.step([weight], [gradient], state)
    (weight,), state = by_function.step([weight], [gradient], state)
    assert composit.evaluate(weight).tolist() == [-0.5]

    step = composit.compile(
        lambda w, g, rate: nn.adam(rate).step([w], [g], nn.adam().initial_state([w]))[0][0]
    )
    for rate in (0.1, 0.2):
        values = [np.float32([1.0]), np.float32([3.0])]
        assert step(*values, np.float64(rate)) == pytest.approx(1 - rate)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: nn.step_schedule(0.1, 0), "step_schedule: size is 0"),
        (lambda: nn.cosine_schedule(-1, 5), "cosine_schedule: learning_rate is -1"),
        (lambda: nn.linear_schedule(0.1, 2**60), "linear_schedule: steps is"),
        (lambda: nn.multi_step_schedule(0.1, [5, 3]), "milestone 1 is 3 after 5"),
        (lambda: nn.sequential_schedule([nn.constant_schedule(1)], [3]), "1 schedules and 1"),
        (lambda: nn.one_cycle_schedule(1, 10, warm_up=2), "warm_up is 2"),
        (lambda: nn.constant_schedule(math.nan), "learning_rate is nan"),
        (lambda: nn.constant_schedule(1)(-1), "the step is -1"),
        (lambda: nn.constant_schedule(1)(cnp.asarray([1])), r"the step has shape \(1,\)"),
        (
            lambda: nn.adam(cnp.ones(2)).step([], [], [cnp.asarray(0)]),
            "adam: the learning rate is a tensor",
        ),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_kinds_that_are_no_numbers():
    with pytest.raises(TypeError, match="the step is float64"):
        nn.constant_schedule(1)(cnp.asarray(1.5))
    with pytest.raises(TypeError):
        nn.sgd("fast")
    with pytest.raises(TypeError):
        nn.Schedule(3)
    with pytest.raises(ZeroDivisionError):
        nn.Schedule(lambda step: 1 // 0)(3)
