"""Losses against PyTorch: values, gradients of every operand that has one, limits, bits, errors."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import composit
from composit import nn

rng = np.random.RandomState(3)
X, Y, Z = rng.standard_normal((3, 6, 5))
P, Q = rng.uniform(0.05, 0.95, (2, 6, 5))
LABELS, WEIGHT = rng.randint(0, 5, 6), rng.uniform(0.2, 2, 5)
SOME = np.array([2, 1, 2, 4, 2, 0])
SIGNS, ROW_SIGNS = np.where(X * Y > 0, 1.0, -1.0), np.where(X[:, 0] > 0, 1.0, -1.0)
DEEP, DEEP_LABELS = rng.standard_normal((2, 3, 4, 5)), rng.randint(0, 5, (2, 3, 4))
NONE_LEFT = np.full(6, 2)
REDUCTIONS = ("mean", "sum", "none")


def last(x):
    """Classes second, as torch wants them."""
    return x if x.ndim < 3 else x.movedim(-1, 1)


# name: ours, torch's, operands (floating ones are differentiated but for `constant`).
PAIRS = {
    "cross_entropy": (nn.cross_entropy, F.cross_entropy, (X, LABELS)),
    "cross_entropy weights": (
        lambda x, t, **k: nn.cross_entropy(x, t, weight=WEIGHT.astype(x.dtype), **k),
        lambda x, t, **k: F.cross_entropy(x, t, weight=torch.tensor(WEIGHT).to(x), **k),
        (X, LABELS),
    ),
    "cross_entropy smoothed": (
        lambda x, t, **k: nn.cross_entropy(x, t, label_smoothing=0.2, **k),
        lambda x, t, **k: F.cross_entropy(x, t, label_smoothing=0.2, **k),
        (X, LABELS),
    ),
    "cross_entropy all": (
        lambda x, t, **k: nn.cross_entropy(
            x, t, weight=WEIGHT.astype(x.dtype), label_smoothing=0.3, ignore_index=2, **k
        ),
        lambda x, t, **k: F.cross_entropy(
            x, t, weight=torch.tensor(WEIGHT).to(x), label_smoothing=0.3, ignore_index=2, **k
        ),
        (X, SOME),
    ),
    "cross_entropy ignored": (
        lambda x, t, **k: nn.cross_entropy(x, t, ignore_index=2, **k),
        lambda x, t, **k: F.cross_entropy(x, t, ignore_index=2, **k),
        (X, SOME),
    ),
    "cross_entropy ignored -100": (
        lambda x, t, **k: nn.cross_entropy(x, t, ignore_index=-100, **k),
        F.cross_entropy,
        (X, np.where(SOME == 2, -100, SOME)),
    ),
    "cross_entropy nothing left": (
        lambda x, t, **k: nn.cross_entropy(x, t, ignore_index=2, **k),
        lambda x, t, **k: F.cross_entropy(x, t, ignore_index=2, **k),
        (X, NONE_LEFT),
    ),
    "cross_entropy deep": (
        lambda x, t, **k: nn.cross_entropy(x, t, ignore_index=1, **k),
        lambda x, t, **k: F.cross_entropy(last(x), t, ignore_index=1, **k),
        (DEEP, DEEP_LABELS),
    ),
    "cross_entropy probabilities": (
        nn.cross_entropy,
        F.cross_entropy,
        (X, P / P.sum(1, keepdims=True)),
    ),
    "cross_entropy probabilities all": (
        lambda x, t, **k: nn.cross_entropy(
            x, t, weight=WEIGHT.astype(x.dtype), label_smoothing=0.3, **k
        ),
        lambda x, t, **k: F.cross_entropy(
            x, t, weight=torch.tensor(WEIGHT).to(x), label_smoothing=0.3, **k
        ),
        (X, P),
    ),
    "nll": (nn.nll, F.nll_loss, (X, LABELS)),
    "nll all": (
        lambda x, t, **k: nn.nll(x, t, weight=WEIGHT.astype(x.dtype), ignore_index=2, **k),
        lambda x, t, **k: F.nll_loss(x, t, weight=torch.tensor(WEIGHT).to(x), ignore_index=2, **k),
        (X, SOME),
    ),
    "nll nothing left": (
        lambda x, t, **k: nn.nll(x, t, ignore_index=2, **k),
        lambda x, t, **k: F.nll_loss(x, t, ignore_index=2, **k),
        (X, NONE_LEFT),
    ),
    "mse": (nn.mse, F.mse_loss, (X, Y)),
    "l1_loss": (nn.l1_loss, F.l1_loss, (X, np.where(SIGNS > 0, X, Y))),
    "smooth_l1_loss": (nn.smooth_l1_loss, F.smooth_l1_loss, (X, np.where(P > 0.8, X, Y))),
    "smooth_l1_loss 0": (
        lambda x, t, **k: nn.smooth_l1_loss(x, t, beta=0, **k),
        lambda x, t, **k: F.smooth_l1_loss(x, t, beta=0.0, **k),
        (X, Y),
    ),
    "smooth_l1_loss 0.25": (
        lambda x, t, **k: nn.smooth_l1_loss(x, t, beta=0.25, **k),
        lambda x, t, **k: F.smooth_l1_loss(x, t, beta=0.25, **k),
        (np.round(X * 4) / 4, np.round(Y * 4) / 4),
    ),
    "huber_loss": (
        lambda x, t, **k: nn.huber_loss(x, t, delta=0.5, **k),
        lambda x, t, **k: F.huber_loss(x, t, delta=0.5, **k),
        (np.round(X * 4) / 4, np.round(Y * 4) / 4),
    ),
    "binary_cross_entropy": (nn.binary_cross_entropy, F.binary_cross_entropy, (P, Q)),
    "binary_cross_entropy weight": (
        lambda x, t, **k: nn.binary_cross_entropy(x, t, WEIGHT.astype(x.dtype), **k),
        lambda x, t, **k: F.binary_cross_entropy(x, t, torch.tensor(WEIGHT).to(x), **k),
        (P, np.round(Q)),
    ),
    "binary_cross_entropy_with_logits": (
        nn.binary_cross_entropy_with_logits,
        F.binary_cross_entropy_with_logits,
        (np.where(P > 0.8, 0, X * 40), Q),
    ),
    "binary_cross_entropy_with_logits all": (
        lambda x, t, **k: nn.binary_cross_entropy_with_logits(
            x, t, P.astype(x.dtype), pos_weight=WEIGHT.astype(x.dtype), **k
        ),
        lambda x, t, **k: F.binary_cross_entropy_with_logits(
            x, t, torch.tensor(P).to(x), pos_weight=torch.tensor(WEIGHT).to(x), **k
        ),
        (X, Q),
    ),
    "kl_div": (nn.kl_div, F.kl_div, (X, P)),
    "kl_div log_target": (
        lambda x, t, **k: nn.kl_div(x, t, log_target=True, **k),
        lambda x, t, **k: F.kl_div(x, t, log_target=True, **k),
        (X, Y),
    ),
    "gaussian_nll_loss": (
        lambda x, t, v, **k: nn.gaussian_nll_loss(x, t, v, **k),
        lambda x, t, v, **k: F.gaussian_nll_loss(x, t, v, **k),
        (X, Y, P),
    ),
    "gaussian_nll_loss full": (
        lambda x, t, v, **k: nn.gaussian_nll_loss(x, t, v, full=True, eps=0.3, **k),
        lambda x, t, v, **k: F.gaussian_nll_loss(x, t, v, full=True, eps=0.3, **k),
        (X, Y, P),
    ),
    "gaussian_nll_loss of rows": (
        lambda x, t, v, **k: nn.gaussian_nll_loss(x, t, v, **k),
        lambda x, t, v, **k: F.gaussian_nll_loss(x, t, v, **k),
        (X, Y, P[:, 0]),
    ),
    "poisson_nll_loss": (nn.poisson_nll_loss, F.poisson_nll_loss, (X, P * 5)),
    "poisson_nll_loss full": (
        lambda x, t, **k: nn.poisson_nll_loss(x, t, log_input=False, full=True, **k),
        lambda x, t, **k: F.poisson_nll_loss(x, t, log_input=False, full=True, **k),
        (P, P * 5),
    ),
    "margin_ranking_loss": (
        lambda a, b, **k: nn.margin_ranking_loss(a, b, SIGNS.astype(a.dtype), 0.5, **k),
        lambda a, b, **k: F.margin_ranking_loss(a, b, torch.tensor(SIGNS).to(a), 0.5, **k),
        (np.round(X * 2) / 2, np.round(Y * 2) / 2),
    ),
    "hinge_embedding_loss": (
        lambda x, **k: nn.hinge_embedding_loss(x, SIGNS.astype(x.dtype), 0.5, **k),
        lambda x, **k: F.hinge_embedding_loss(x, torch.tensor(SIGNS).to(x), 0.5, **k),
        (np.round(X * 2) / 2,),
    ),
    "cosine_embedding_loss": (
        lambda a, b, **k: nn.cosine_embedding_loss(a, b, ROW_SIGNS.astype(a.dtype), 0.1, **k),
        lambda a, b, **k: F.cosine_embedding_loss(a, b, torch.tensor(ROW_SIGNS).to(a), 0.1, **k),
        (X, Y),
    ),
    "soft_margin_loss": (
        lambda x, **k: nn.soft_margin_loss(x, SIGNS.astype(x.dtype), **k),
        lambda x, **k: F.soft_margin_loss(x, torch.tensor(SIGNS).to(x), **k),
        (X * 5,),
    ),
    "multi_margin_loss": (nn.multi_margin_loss, F.multi_margin_loss, (X, LABELS)),
    "multi_margin_loss all": (
        lambda x, t, **k: nn.multi_margin_loss(x, t, 2, 0.7, WEIGHT.astype(x.dtype), **k),
        lambda x, t, **k: F.multi_margin_loss(x, t, 2, 0.7, torch.tensor(WEIGHT).to(x), **k),
        (X, LABELS),
    ),
    "multi_margin_loss one": (nn.multi_margin_loss, F.multi_margin_loss, (X[0], LABELS[0])),
}
for p, swap in ((2.0, False), (2.0, True), (1.0, False), (3.0, True)):
    PAIRS[f"triplet_margin_loss {p} {swap}"] = (
        lambda a, b, c, p=p, swap=swap, **k: nn.triplet_margin_loss(a, b, c, 2, p, swap=swap, **k),
        lambda a, b, c, p=p, swap=swap, **k: F.triplet_margin_loss(a, b, c, 2, p, swap=swap, **k),
        (X, Y, Z),
    )


def arranged(operands, dtype):
    given = [np.asarray(a) for a in operands]
    return [a.astype(dtype) if a.dtype.kind == "f" else a for a in given]


def with_gradients(ours, gradient, reduction, *arrays):
    value, pull_back = composit.vjp(lambda *a: ours(*a, reduction=reduction), *arrays)
    gradients = pull_back(gradient(value) if callable(gradient) else gradient)
    gradients = gradients if isinstance(gradients, (list, tuple)) else [gradients]
    return value, *[g for a, g in zip(arrays, gradients, strict=True) if a.dtype.kind == "f"]


def compare(ours, theirs, operands, dtype, reduction, bound):
    given = arranged(operands, dtype)
    smooth = [k for k, a in enumerate(given) if a.dtype.kind == "f"]
    tensors = [torch.tensor(a) for a in given]
    for k in smooth:
        tensors[k].requires_grad_()
    expected = theirs(*tensors, reduction=reduction)
    gradient = np.random.RandomState(1).uniform(0.5, 1.5, tuple(expected.shape)).astype(dtype)
    expected.backward(torch.tensor(gradient))
    found = composit.evaluate(*with_gradients(ours, gradient, reduction, *given))
    wanted = [expected.detach().numpy(), *[tensors[k].grad.numpy() for k in smooth]]
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PAIRS)
def test_values_and_gradients(name, dtype, reduction):
    compare(*PAIRS[name], dtype, reduction, 1e-11 if dtype == "float64" else 1e-4)


def test_every_loss_is_compared():
    assert {name.split()[0] for name in PAIRS} | {"ctc_loss"} == set(nn.losses.__all__)


def test_batchmean():
    compare(nn.kl_div, F.kl_div, (X, P), "float64", "batchmean", 1e-11)


def test_probabilities_of_zero_and_one():
    x = np.array([0.0, 1.0, 0.0, 1.0, 1e-14, 1 - 1e-14, 1e-7])
    target = np.array([0.0, 1.0, 1.0, 0.0, 0.5, 0.25, 0.5])
    tensor = torch.tensor(x, requires_grad=True)
    expected = F.binary_cross_entropy(tensor, torch.tensor(target), reduction="none")
    expected.sum().backward()

    def loss(x):
        return nn.binary_cross_entropy(x, target, reduction="none")

    np.testing.assert_allclose(loss(x), expected.detach(), rtol=1e-11)
    gradient = composit.grad(lambda x: loss(x).sum())(x)
    np.testing.assert_allclose(gradient, tensor.grad, rtol=1e-8)


# ----- CTC

TIMES, BATCH, CLASSES = 9, 4, 5
SCORES = rng.standard_normal((TIMES, BATCH, CLASSES))
TARGETS = np.array([[1, 2, 2, 3], [4, 4, 1, 1], [2, 1, 3, 4], [3, 3, 3, 3]])
IMPOSSIBLE = (np.array([9, 6, 3, 6]), np.array([4, 0, 4, 4]))
POSSIBLE = (np.array([9, 8, 6, 7]), np.array([4, 3, 1, 4]))


def ctc(targets, lengths, blank=0, zero=False):
    def ours(x, reduction):
        logs = nn.log_softmax(x, -1)
        return nn.ctc_loss(logs, targets, *lengths, blank, reduction, zero)

    def theirs(x, reduction):
        logs = F.log_softmax(x, -1)
        given = [torch.tensor(a) for a in (targets, *lengths)]
        return F.ctc_loss(logs, *given, blank, reduction, zero)

    return ours, theirs


def joined(targets, lengths):
    return np.concatenate([row[:n] for row, n in zip(targets, lengths[1], strict=True)])


CTC = {
    "padded": ctc(TARGETS, POSSIBLE),
    "joined": ctc(joined(TARGETS, POSSIBLE), POSSIBLE),
    "another blank": ctc(np.where(TARGETS == 2, 0, TARGETS), POSSIBLE, blank=2),
    "impossible as zero": ctc(TARGETS, IMPOSSIBLE, zero=True),
    "impossible": ctc(TARGETS, IMPOSSIBLE),
    "joined, impossible": ctc(joined(TARGETS, IMPOSSIBLE), IMPOSSIBLE, zero=True),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CTC)
def test_ctc(name, dtype, reduction):
    compare(*CTC[name], (SCORES,), dtype, reduction, 1e-10 if dtype == "float64" else 1e-4)


@pytest.mark.long_tail
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled_bits_are_the_interpreters(dtype):
    """One program with values and gradients of all losses."""
    cases = [(ours, arranged(a, dtype)) for ours, _, a in PAIRS.values()]
    cases += [(ours, arranged((SCORES,), dtype)) for ours, _ in CTC.values()]

    def everything(*arrays):
        results, left = [], list(arrays)
        for ours, given in cases:
            mine, left = left[: len(given)], left[len(given) :]
            results += with_gradients(ours, np.ones((), dtype), "mean", *mine)
        return results

    arrays = [a for _, given in cases for a in given]
    expected = composit.compile(everything, backend="interpreter")(*arrays)
    for threads in (1, 2):
        found = composit.compile(everything, threads=threads)(*arrays)
        for a, b in zip(found, expected, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            a, b = np.where(np.isnan(a), 7, a), np.where(np.isnan(b), 7, b)
            assert a.tobytes() == b.tobytes()


def test_ctc_of_one_sequence():
    lengths = (np.array(9), np.array(3))
    ours, theirs = ctc(TARGETS[0][:3], lengths)
    for reduction in REDUCTIONS:
        compare(ours, theirs, (SCORES[:, 0],), "float64", reduction, 1e-10)


def test_ctc_is_one_loop():
    scores = rng.standard_normal((200, 2, 5)).astype("float32")
    targets, lengths = np.ones((2, 3), int), (np.array([200, 150]), np.array([3, 2]))

    def loss(x):
        return nn.ctc_loss(nn.log_softmax(x), targets, *lengths)

    for function, count in ((loss, 1), (composit.grad(loss), 2)):
        kernels = composit.compile(function, scores).kernels
        assert [kernel.kind for kernel in kernels].count("Repeat") == count


def test_batches():
    """vmap of a loss is the loss with a batch."""
    found = composit.vmap(lambda x, t: nn.cross_entropy(x, t, ignore_index=2))(X, SOME)
    expected = F.cross_entropy(
        torch.tensor(X), torch.tensor(SOME), ignore_index=2, reduction="none"
    )
    np.testing.assert_allclose(np.nan_to_num(found), expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.l1_loss(X, Y, "median"),
         "l1_loss: reduction is 'median'. Available: mean, sum, none."),
        (lambda: nn.huber_loss(X, Y, delta=0), "huber_loss: delta is 0. It must be positive."),
        (lambda: nn.l1_loss(X * 1j, Y),
         "l1_loss: an operand is complex128. Real dtypes are required."),
        (lambda: nn.cross_entropy(X, LABELS, weight=WEIGHT[:2]),
         "cross_entropy: weight has shape (2,). (5,), a number for each class, is required."),
        (lambda: nn.cross_entropy(X, P, ignore_index=1),
         "cross_entropy: ignore_index is 1 with probabilities. It requires labels."),
        (lambda: nn.cross_entropy(X, P[:2]),
         "cross_entropy: logits have shape (6, 5), probabilities have shape (2, 5). Equal shapes"),
        (lambda: nn.cross_entropy(X, LABELS, label_smoothing=2),
         "cross_entropy: label_smoothing is 2. 0 to 1 is required."),
        (lambda: nn.nll(X, LABELS[:2], weight=WEIGHT),
         "nll: scores have shape (6, 5), labels have shape (2,). scores.shape must be"),
        (lambda: nn.multi_margin_loss(X, LABELS, 3),
         "multi_margin_loss: p is 3. 1 or 2 is required."),
        (lambda: nn.ctc_loss(SCORES, TARGETS, *POSSIBLE, 7),
         "ctc_loss: blank is 7. One of 5 classes is required."),
        (lambda: nn.ctc_loss(SCORES, TARGETS[:2], *POSSIBLE),
         "ctc_loss: targets have shape (2, 4). (4, length), or one axis for all sequences, is"),
        (lambda: nn.ctc_loss(SCORES, TARGETS, POSSIBLE[0][:2], POSSIBLE[1]),
         "ctc_loss: input_lengths have shape (2,). (4,), one for each sequence, is required."),
    ],
)  # fmt: skip
def test_errors(call, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        call()


def test_labels_out_of_range():
    for label in (5, -6):
        with pytest.raises(IndexError):
            np.asarray(nn.cross_entropy(X[:1], np.array([label]), ignore_index=0))
