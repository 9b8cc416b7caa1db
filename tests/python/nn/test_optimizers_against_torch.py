"""Optimisers against PyTorch's over several steps, eager and compiled."""

import numpy as np
import pytest
import torch

import composit
import composit.numpy as cnp
from composit import nn

OPTIMIZERS = {
    "sgd": (lambda: nn.sgd(0.1), torch.optim.SGD, {"lr": 0.1}),
    "sgd with decay": (
        lambda: nn.sgd(0.1, weight_decay=0.05),
        torch.optim.SGD,
        {"lr": 0.1, "weight_decay": 0.05},
    ),
    "sgd with momentum": (
        lambda: nn.sgd(0.05, momentum=0.9),
        torch.optim.SGD,
        {"lr": 0.05, "momentum": 0.9},
    ),
    "sgd with everything": (
        lambda: nn.sgd(0.05, momentum=0.8, weight_decay=0.01, nesterov=True),
        torch.optim.SGD,
        {"lr": 0.05, "momentum": 0.8, "weight_decay": 0.01, "nesterov": True},
    ),
    "adam": (lambda: nn.adam(0.02), torch.optim.Adam, {"lr": 0.02}),
    "adam with everything": (
        lambda: nn.adam(0.02, beta1=0.7, beta2=0.95, epsilon=1e-4, weight_decay=0.1),
        torch.optim.Adam,
        {"lr": 0.02, "betas": (0.7, 0.95), "eps": 1e-4, "weight_decay": 0.1},
    ),
    "adamw": (lambda: nn.adamw(0.02), torch.optim.AdamW, {"lr": 0.02}),
    "adamw with everything": (
        lambda: nn.adamw(0.02, beta1=0.7, beta2=0.95, epsilon=1e-4, weight_decay=0.3),
        torch.optim.AdamW,
        {"lr": 0.02, "betas": (0.7, 0.95), "eps": 1e-4, "weight_decay": 0.3},
    ),
    "sgd with dampening": (
        lambda: nn.sgd(0.05, momentum=0.8, dampening=0.3),
        torch.optim.SGD,
        {"lr": 0.05, "momentum": 0.8, "dampening": 0.3},
    ),
    "sgd upwards": (
        lambda: nn.sgd(0.01, momentum=0.8, weight_decay=0.1, maximize=True),
        torch.optim.SGD,
        {"lr": 0.01, "momentum": 0.8, "weight_decay": 0.1, "maximize": True},
    ),
    "amsgrad": (
        lambda: nn.adam(0.1, beta2=0.7, amsgrad=True),
        torch.optim.Adam,
        {"lr": 0.1, "betas": (0.9, 0.7), "amsgrad": True},
    ),
    "adam upwards": (
        lambda: nn.adam(0.02, maximize=True, weight_decay=0.1),
        torch.optim.Adam,
        {"lr": 0.02, "maximize": True, "weight_decay": 0.1},
    ),
    "adamw, amsgrad, upwards": (
        lambda: nn.adamw(0.02, amsgrad=True, maximize=True),
        torch.optim.AdamW,
        {"lr": 0.02, "amsgrad": True, "maximize": True},
    ),
    "rmsprop": (lambda: nn.rmsprop(0.01), torch.optim.RMSprop, {"lr": 0.01}),
    "rmsprop with momentum": (
        lambda: nn.rmsprop(0.01, momentum=0.7, alpha=0.9),
        torch.optim.RMSprop,
        {"lr": 0.01, "momentum": 0.7, "alpha": 0.9},
    ),
    "rmsprop centered": (
        lambda: nn.rmsprop(0.01, alpha=0.9, epsilon=1e-3, weight_decay=0.1, centered=True),
        torch.optim.RMSprop,
        {"lr": 0.01, "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1, "centered": True},
    ),
    "rmsprop with everything": (
        lambda: nn.rmsprop(0.01, 0.9, 1e-3, 0.1, 0.6, centered=True, maximize=True),
        torch.optim.RMSprop,
        {
            "lr": 0.01, "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.6,
            "centered": True, "maximize": True,
        },
    ),
    "adagrad": (lambda: nn.adagrad(0.05), torch.optim.Adagrad, {"lr": 0.05}),
    "adagrad with everything": (
        lambda: nn.adagrad(0.05, 0.1, 0.2, 0.3, 1e-4, maximize=True),
        torch.optim.Adagrad,
        {
            "lr": 0.05, "lr_decay": 0.1, "weight_decay": 0.2, "initial_accumulator_value": 0.3,
            "eps": 1e-4, "maximize": True,
        },
    ),
}  # fmt: skip
STEPS = 20
TOLERANCE = {"float64": 1e-11, "float32": 1e-5}


def problem(dtype):
    random = np.random.RandomState(1)
    shapes = ((8, 5), (5, 4), (4,), (8, 4))
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def run_torch(kind, options, dtype):
    inputs, *weights, target = [torch.tensor(a) for a in problem(dtype)]
    for weight in weights:
        weight.requires_grad_()
    optimizer = kind(weights, **options)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = ((torch.tanh(inputs @ weights[0]) + weights[1] - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [weight.detach().numpy() for weight in weights]


@pytest.mark.parametrize("is_compiled", [False, True], ids=["lazy", "compiled"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name, dtype, is_compiled):
    make, kind, options = OPTIMIZERS[name]
    optimizer = make()
    inputs, *weights, target = problem(dtype)

    def step(weights, state):
        loss = nn.mse(cnp.tanh(inputs @ weights[0]) + weights[1], target)
        gradients = nn.chain_rule({loss: loss}, weights)
        return loss, *optimizer.step(weights, gradients, state)

    def lazily(weights, state):
        loss, weights, state = step([cnp.asarray(w) for w in weights], state)
        values = composit.evaluate(loss, *weights, *state)
        return values[0], values[1:3], values[3:]

    run = lazily
    if is_compiled:
        run = composit.compile(step, backend="interpreter")
    state = [
        composit.evaluate(s) for s in optimizer.initial_state([cnp.asarray(w) for w in weights])
    ]
    losses = []
    for _ in range(STEPS):
        loss, weights, state = run(list(weights), list(state))
        losses.append(float(loss))
    expected_losses, expected = run_torch(kind, options, dtype)
    bound = TOLERANCE[dtype]
    np.testing.assert_allclose(losses, expected_losses, rtol=bound)
    for weight, their_weight in zip(weights, expected):
        assert weight.dtype == dtype
        np.testing.assert_allclose(weight, their_weight, rtol=bound, atol=bound)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_one_evaluated_step(dtype):
    """optimize with sgd_optimizer is torch's plain SGD."""
    inputs, *weights, target = problem(dtype)
    weights = [cnp.asarray(weight) for weight in weights]
    for _ in range(STEPS):
        loss = nn.mse(cnp.tanh(inputs @ weights[0]) + weights[1], target)
        gradients = nn.chain_rule({loss: loss}, weights)
        weights = nn.optimize(weights, gradients, nn.sgd_optimizer(0.1))
    _, expected = run_torch(torch.optim.SGD, {"lr": 0.1}, dtype)
    for weight, their_weight in zip(weights, expected):
        np.testing.assert_allclose(
            composit.evaluate(weight), their_weight, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
        )
