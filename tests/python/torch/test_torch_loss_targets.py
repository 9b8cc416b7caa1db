"""Losses of targets that mean nothing: negative probabilities, signs that are neither 1 nor -1, and
dimensions that do not go together, as PyTorch has them."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, peer, torch

INF, NAN = float("inf"), float("nan")
TARGETS = [-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, INF, -INF, NAN, 1e-40]


def divergence(t, x, log_target, reduction):
    input = t.full((len(TARGETS),), x, requires_grad=True)
    target = t.tensor(TARGETS, requires_grad=True)
    loss = t.nn.functional.kl_div(input, target, reduction=reduction, log_target=log_target)
    loss.sum().backward()
    return [y.detach().numpy() for y in (loss, input.grad, target.grad)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("x", [-1.0, 0.0, INF, -INF])
@pytest.mark.parametrize("log_target", [False, True])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean", "batchmean"])
def test_divergence_from_any_target(x, log_target, reduction):
    mine, theirs = (divergence(t, x, log_target, reduction) for t in (torch, peer))
    # At a target of 0 PyTorch's slope by the target is NaN, composit's a number.
    is_known = np.array([log_target or target != 0 for target in TARGETS])
    for a, b in zip(mine[:2], theirs[:2]):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    np.testing.assert_allclose(mine[2][is_known], theirs[2][is_known], rtol=1e-6)
    if abs(x) < INF:
        assert np.isfinite(mine[2][~is_known]).all()


def cosines(t, signs, margin, reduction):
    a = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = t.tensor([[2.0, 1.0], [-3.0, 4.5]], requires_grad=True)
    loss = t.nn.functional.cosine_embedding_loss(
        a, b, t.tensor(signs), margin=margin, reduction=reduction
    )
    loss.sum().backward()
    return [y.detach().numpy() for y in (loss, a.grad, b.grad)]


@pytest.mark.parametrize("signs", [[1, -1], [1.0, -1.0], [0, 2], [0.5, -0.5], [NAN, 1.0], [3, 0]])
@pytest.mark.parametrize("margin", [0.0, 0.5, -0.5])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_cosines_of_any_sign(signs, margin, reduction):
    for mine, theirs in zip(*(cosines(t, signs, margin, reduction) for t in (torch, peer))):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (2, 1)), ((3,), (1,)), ((2, 3), ()), ((2, 2, 3), (2,)), ((3,), ()), ((2, 3), (2,)),
        ((2, 3), (1,)),
    ],
)  # fmt: skip
def test_dimensions_of_cosines(shapes):
    def program(t):
        x, target = t.full(shapes[0], 1.0), t.full(shapes[1], 1.0)
        loss = t.nn.functional.cosine_embedding_loss(x, x, target, reduction="none")
        return tuple(loss.shape)

    check_same(program)


MISMATCHED = {
    "add": lambda t, a, b: t.add(a, b), "sub": lambda t, a, b: a - b, "mul": lambda t, a, b: a * b,
    "div": lambda t, a, b: 1.0 / a / b, "pow": lambda t, a, b: a**b, "lt": lambda t, a, b: a < b,
    "maximum": lambda t, a, b: t.maximum(a, b), "atan2": lambda t, a, b: a.atan2(b),
    "xlogy": lambda t, a, b: t.xlogy(a, b), "where": lambda t, a, b: t.where(a > 0, a, b),
    "matmul": lambda t, a, b: a @ b, "mse_loss": lambda t, a, b: t.nn.functional.mse_loss(a, b),
    "kl_div": lambda t, a, b: t.nn.functional.kl_div(a, b, reduction="sum"),
    "margin_ranking_loss": lambda t, a, b: t.nn.functional.margin_ranking_loss(a, b, a),
    "triplet_margin_loss": lambda t, a, b: t.nn.functional.triplet_margin_loss(a, b, a),
    "add in place": lambda t, a, b: a.add_(b), "mul in place": lambda t, a, b: a.__imul__(b),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MISMATCHED)
def test_errors_name_the_function_that_was_called(name):
    with pytest.raises(RuntimeError):
        MISMATCHED[name](peer, peer.ones(2), peer.ones(3))
    with pytest.raises(
        RuntimeError, match=rf"^{name.split()[0]}_?: .*test_torch_loss_targets\.py:"
    ):
        MISMATCHED[name](torch, torch.ones(2), torch.ones(3))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_ctc_of_any_numbers(reduction):
    """PyTorch's gradient is that of the scores, whatever made the logarithms."""

    def outcome(t):
        scores = t.linspace(-2.0, 1.5, 60, dtype=t.float64).sin().reshape(5, 3, 4)
        x = scores.clone().requires_grad_()
        targets, times, lengths = t.tensor([[1, 2], [2, 2], [3, 1]]), t.tensor([5, 4, 2]), [2, 2, 1]
        loss = t.nn.functional.ctc_loss(x, targets, times, t.tensor(lengths), reduction=reduction)
        loss.sum().backward()
        return loss.tolist(), x.grad.tolist()

    for found, expected in zip(outcome(torch), outcome(peer), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_numbers_of_other_kinds():
    """A margin may be a tensor that learns, or a number of NumPy's; an exponent a float."""
    said = []
    for t in (torch, peer):
        a, p, n = (t.arange(6.0).reshape(2, 3) * k for k in (1, 2, 3))
        margin = t.tensor(1.5, requires_grad=True)
        loss = t.nn.functional.triplet_margin_with_distance_loss(a, p, n, margin=margin)
        loss.backward()
        of_numpy = t.nn.functional.triplet_margin_with_distance_loss(a, p, n, margin=np.float32(4))
        power = t.nn.MultiMarginLoss(p=2.0)(a, t.tensor([0, 1]))
        dropped = t.nn.AlphaDropout(np.float64(0.0))(a)
        with pytest.raises(ValueError, match="only p == 1 and p == 2 supported"):
            t.nn.MultiMarginLoss(p=1.5)(a, t.tensor([0, 1]))
        found = [loss.item(), margin.grad.item(), of_numpy.item(), power.item()]
        said.append(found + dropped.tolist())
    np.testing.assert_allclose(said[0][:4], said[1][:4], rtol=1e-6)
    assert said[0][4:] == said[1][4:]
