"""Muon beside PyTorch's: directions whose singular values are about 1, and its refusals."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

SHAPES = {"wide": (4, 9), "tall": (9, 4), "square": (6, 6)}


def by_hand(
    x, gradients, lr, weight_decay=0.1, momentum=0.95, nesterov=True, ns_steps=5, adjust_lr_fn=None
):
    """The parameter after the steps, in float64."""
    x, kept = x.astype(np.float64), 0.0
    rows, columns = x.shape
    factor = 0.2 * max(rows, columns) ** 0.5 if adjust_lr_fn else max(1, rows / columns) ** 0.5
    for gradient in gradients.astype(np.float64):
        kept = momentum * kept + (1 - momentum) * gradient
        direction = momentum * kept + (1 - momentum) * gradient if nesterov else kept
        direction = direction / np.linalg.norm(direction)
        for _ in range(ns_steps):
            gram = direction @ direction.T
            polynomial = -4.775 * gram + 2.0315 * gram @ gram
            direction = 3.4445 * direction + polynomial @ direction
        x = x * (1 - lr * weight_decay) - lr * factor * direction
    return x


@pytest.mark.parametrize("options", [
    {}, {"nesterov": False, "momentum": 0.5}, {"adjust_lr_fn": "match_rms_adamw"},
    {"weight_decay": 0.0, "ns_steps": 3},
])  # fmt: skip
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_steps_are_those_of_pytorch_and_no_less_exact(shape, options):
    drawn = np.random.default_rng(0)
    start = drawn.standard_normal(shape).astype(np.float32)
    gradients = drawn.standard_normal((6, *shape)).astype(np.float32)
    lr, found = 0.1, []
    for t in (torch, peer):
        x = t.nn.Parameter(t.tensor(start))
        optimizer = t.optim.Muon([x], lr=lr, **options)
        for gradient in gradients:
            x.grad = t.tensor(gradient)
            optimizer.step()
        found.append((x.detach().numpy(), optimizer.state_dict()["state"][0]["momentum_buffer"]))
    (ours, kept), (theirs, their_kept) = found
    np.testing.assert_allclose(kept.numpy(), their_kept.numpy(), 1e-5, 1e-6)
    exact = by_hand(start, gradients, lr, **options)
    off, theirs_off = (np.linalg.norm(x - exact) for x in (ours, theirs))
    assert off <= 1.25 * theirs_off
    assert theirs_off < 0.1 * np.linalg.norm(exact - start)  # the formula is the same


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_directions_are_nearly_orthogonal(shape):
    x = torch.nn.Parameter(torch.zeros(*shape))
    optimizer = torch.optim.Muon([x], lr=1.0)
    values = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    x.grad = torch.tensor(values)
    optimizer.step()
    direction = -x.detach().numpy() / max(1, shape[0] / shape[1]) ** 0.5
    singular = np.linalg.svd(direction, compute_uv=False)
    assert singular.min() > 0.5 and singular.max() < 1.4
    assert (direction * values).sum() > 0


@pytest.mark.parametrize(("options", "text"), [
    ({"lr": -1.0}, "learning rate"), ({"momentum": -0.1}, "momentum"),
    ({"adjust_lr_fn": "other"}, "other is not supported"),
])  # fmt: skip
def test_options_are_checked(options, text):
    with pytest.raises(ValueError, match=text):
        torch.optim.Muon([torch.nn.Parameter(torch.zeros(2, 2))], **options)


def test_vectors_are_refused():
    with pytest.raises(ValueError, match="only supports 2D parameters"):
        torch.optim.Muon([torch.nn.Parameter(torch.zeros(3))])


@pytest.mark.parametrize(("options", "text"), [
    ({"lr": -1.0}, "learning rate"), ({"beta2_decay": 0.1}, "beta2_decay"),
    ({"d": 0.5}, "d should"),
    ({"eps": (-1.0, 0.1)}, "epsilon1"), ({"eps": (None, -1.0)}, "epsilon2"),
])  # fmt: skip
def test_adafactors_options_are_checked(options, text):
    with pytest.raises(ValueError, match=text):
        torch.optim.Adafactor([torch.nn.Parameter(torch.zeros(2, 2))], **options)
