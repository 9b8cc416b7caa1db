"""LBFGS and schedulers that came late, beside PyTorch's; in float64, where searches take the same
turns."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch


def rosenbrock(t, x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def quadratic(t, x):
    a = t.tensor([[3.0, 0.5, 0.0], [0.5, 2.0, 0.1], [0.0, 0.1, 1.0]], dtype=t.float64)
    return (x @ a @ x) / 2 - x.sum() + x.abs().sqrt().sum() * 0.01


@pytest.mark.parametrize("function", [rosenbrock, quadratic])
@pytest.mark.parametrize("options", [
    {}, {"lr": 0.1}, {"line_search_fn": "strong_wolfe"}, {"max_iter": 3, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "lr": 0.5, "history_size": 3, "max_eval": 12},
    {"line_search_fn": "strong_wolfe", "lr": 3.0}, {"tolerance_grad": 0.5, "lr": 0.2},
    {"tolerance_change": 0.05, "line_search_fn": "strong_wolfe"},
])  # fmt: skip
def test_lbfgs_takes_pytorchs_steps(function, options):
    def run(t):
        x = t.nn.Parameter(t.tensor([-0.5, 0.7, 0.3], dtype=t.float64))
        optimizer = t.optim.LBFGS([x], **{"lr": 0.05, **options})
        calls, trail = [], []

        def closure():
            calls.append(1)
            optimizer.zero_grad()
            loss = function(t, x)
            loss.backward()
            return loss

        for _ in range(5):
            trail.append((float(optimizer.step(closure)), len(calls)))
            trail.append(x.detach().tolist())
        return trail, optimizer.state[x]["n_iter"], optimizer.state[x]["func_evals"]

    mine, theirs = run(torch), run(peer)
    assert mine[1:] == theirs[1:]
    flat = [np.concatenate([np.ravel(part) for part in found[0]]) for found in (mine, theirs)]
    np.testing.assert_allclose(flat[0], flat[1], rtol=1e-7, atol=1e-9)


def test_lbfgs_refuses_what_pytorch_refuses():
    x = torch.nn.Parameter(torch.ones(2))
    with pytest.raises(ValueError, match="parameter groups"):
        torch.optim.LBFGS([{"params": [x]}, {"params": [torch.nn.Parameter(torch.ones(1))]}])
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        torch.optim.LBFGS([x], line_search_fn="armijo")
    with pytest.raises(TypeError, match="needs a closure"):
        torch.optim.LBFGS([x]).step()


SCHEDULES = {
    "triangular": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 4, 3),
    "triangular2": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, mode="triangular2"),
    "exp_range": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 2, mode="exp_range", gamma=0.9,
                                         cycle_momentum=False),
    "scaled": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 2, scale_fn=lambda x: 1 / x),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.ExponentialLR(o, 0.9), s.StepLR(o, 3, 0.5)]),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_rates_are_pytorchs(name, kind):
    def run(t):
        x = t.nn.Parameter(t.ones(2))
        options = {"momentum": 0.5} if kind == "SGD" else {}
        optimizer = getattr(t.optim, kind)([x], lr=0.3, **options)
        schedule = SCHEDULES[name](t.optim.lr_scheduler, optimizer)
        found = []
        for _ in range(17):
            optimizer.step()
            schedule.step()
            group = optimizer.param_groups[0]
            found += [group["lr"], group.get("momentum", 0), *group.get("betas", ())]
            found += schedule.get_last_lr()
        return found

    np.testing.assert_allclose(run(torch), run(peer), rtol=1e-12)
