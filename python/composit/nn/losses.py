"""Losses, with the values and gradients of torch.nn.functional's. Classes stand in the last axis.

reduction is "mean", "sum" or "none". Operands broadcast; integers are computed in float64.
ValueError for another reduction and shapes that do not fit, TypeError for complex numbers. In C++:
composit/nn/losses.h.
"""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor

_c = _core.nn

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "cross_entropy", "ctc_loss", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss",
    "kl_div", "l1_loss", "margin_ranking_loss", "mse", "multi_margin_loss", "nll",
    "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip


def cross_entropy(
    logits: Any,
    labels: Any,
    reduction: str = "mean",
    *,
    weight: Any = None,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
) -> LazyTensor:
    """-log_softmax(logits)[label], of logits (…, classes) and integer labels (…); or the mean of
    -log_softmax(logits) over probabilities of the shape of logits.

    weight (classes,) scales the losses of each class; the mean is over the weights of the labels
    that count. Labels equal to ignore_index have no loss and do not count (the mean of none is NaN,
    its gradient 0). label_smoothing spreads that part of the target over all classes. IndexError
    for labels out of range."""
    if weight is None and ignore_index is None and label_smoothing == 0 and _are_labels(labels):
        return _c.cross_entropy(logits, labels, reduction)
    return _c.cross_entropy_of(logits, labels, weight, ignore_index, label_smoothing, reduction)


def nll(
    log_probabilities: Any,
    labels: Any,
    reduction: str = "mean",
    *,
    weight: Any = None,
    ignore_index: int | None = None,
) -> LazyTensor:
    """-log_probabilities[label], of (…, classes) and integer labels (…). weight and ignore_index as
    in cross_entropy. IndexError for labels out of range."""
    if weight is None and ignore_index is None:
        return _c.nll(log_probabilities, labels, reduction)
    return _c.nll_of(log_probabilities, labels, weight, ignore_index, 0.0, reduction)


def _are_labels(target: Any) -> bool:
    dtype = getattr(target, "dtype", None)
    return dtype is not None and getattr(dtype, "kind", "i") != "f"


def mse(prediction: Any, target: Any, reduction: str = "mean") -> LazyTensor:
    """(prediction - target)^2"""
    return _c.mse(prediction, target, reduction)


def l1_loss(x: Any, target: Any, reduction: str = "mean") -> LazyTensor:
    """|x - target|, slope 0 where they are equal."""
    return _c.l1_loss(x, target, reduction)


def smooth_l1_loss(x: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> LazyTensor:
    """d^2 / 2 / beta where d = |x - target| < beta, else d - beta / 2."""
    return _c.smooth_l1_loss(x, target, beta, reduction)


def huber_loss(x: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> LazyTensor:
    """d^2 / 2 where d = |x - target| < delta, else delta (d - delta / 2)."""
    return _c.huber_loss(x, target, delta, reduction)


def binary_cross_entropy(
    x: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> LazyTensor:
    """-(target log x + (1 - target) log(1 - x)) weight, of probabilities; logarithms not below
    -100."""
    return _c.binary_cross_entropy(x, target, weight, reduction)


def binary_cross_entropy_with_logits(
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> LazyTensor:
    """binary_cross_entropy of sigmoid(x), without overflow; pos_weight scales the losses of
    target."""
    return _c.binary_cross_entropy_with_logits(x, target, weight, pos_weight, reduction)


def kl_div(x: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> LazyTensor:
    """target (log target - x), 0 where target is 0, of log-probabilities x; with log_target
    exp(target) (target - x). Reduction "batchmean" divides the sum by the length of the first
    axis."""
    return _c.kl_div(x, target, reduction, log_target)


def gaussian_nll_loss(
    x: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> LazyTensor:
    """(log v + (x - target)^2 / v) / 2 with v = max(var, eps), whose slope is 1. var may lack the
    last axis of x. full adds log(2 pi) / 2."""
    return _c.gaussian_nll_loss(x, target, var, full, eps, reduction)


def poisson_nll_loss(
    x: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> LazyTensor:
    """exp(x) - target x, or x - target log(x + eps) without log_input. full adds Stirling's
    approximation of log(target!) where target > 1."""
    return _c.poisson_nll_loss(x, target, log_input, full, eps, reduction)


def margin_ranking_loss(
    x1: Any, x2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> LazyTensor:
    """max(0, margin - target (x1 - x2)), targets 1 or -1."""
    return _c.margin_ranking_loss(x1, x2, target, margin, reduction)


def hinge_embedding_loss(
    x: Any, target: Any, margin: float = 1.0, reduction: str = "mean"
) -> LazyTensor:
    """x where target is 1, max(0, margin - x) where it is -1."""
    return _c.hinge_embedding_loss(x, target, margin, reduction)


def cosine_embedding_loss(
    x1: Any, x2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> LazyTensor:
    """Of vectors (…, length) and targets (…): 1 - cos where target is 1, max(0, cos - margin) where
    it is -1."""
    return _c.cosine_embedding_loss(x1, x2, target, margin, reduction)


def soft_margin_loss(x: Any, target: Any, reduction: str = "mean") -> LazyTensor:
    """log(1 + exp(-target x)), targets 1 or -1."""
    return _c.soft_margin_loss(x, target, reduction)


def multi_margin_loss(
    x: Any,
    labels: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
) -> LazyTensor:
    """Of scores (…, classes) and integer labels (…): the sum over the other classes of
    max(0, margin - x[label] + x[class])^p, / classes, times weight[label] (classes,). p is 1 or 2.
    IndexError for labels out of range."""
    return _c.multi_margin_loss(x, labels, p, margin, weight, reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> LazyTensor:
    """max(0, margin + |anchor - positive| - |anchor - negative|) of vectors (…, length): norms of
    order p, eps added to each difference. swap takes the negative's lesser distance from both."""
    return _c.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


def ctc_loss(
    log_probabilities: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> LazyTensor:
    """Connectionist temporal classification: minus the logarithm of the sum over all alignments of
    targets to log_probabilities (times, batch, classes), or (times, classes).

    targets are integers (batch, length), of which the first target_lengths count, or those of all
    sequences one after the other; input_lengths and target_lengths (batch,). Infinite, with a
    gradient of NaN, where there is no alignment; 0 with zero_infinity. The mean is over
    losses / max(1, target_length). The gradient is that by log_probabilities themselves; torch's
    supposes that they come of a log_softmax, through which both are equal. One loop over times."""
    return _c.ctc_loss(
        log_probabilities, targets, input_lengths, target_lengths, blank, reduction, zero_infinity
    )
