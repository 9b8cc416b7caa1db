"""torch's losses. reduction is 0 for none, 1 for the mean, 2 for the sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.promotion import floating, floats, together
from composit.flashlight.operators.reductions import root
from composit.flashlight.operators.table import operator


def _reduced(losses: Any, reduction: int) -> Any:
    return losses if reduction == 0 else cnp.mean(losses) if reduction == 1 else cnp.sum(losses)


def _nll(
    log_probabilities: Any, target: Any, weight: Any, reduction: int, ignore_index: int,
    smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """-log_probabilities[target] over the axis of classes, 1 (0 of what has one axis)."""
    axis = 1 if log_probabilities.ndim > 1 else 0
    counts = target != ignore_index
    classes = log_probabilities.shape[axis]
    # No target counts from the end: negative ones are made too large, which the look refuses.
    safe = cnp.where(counts, cnp.where(target < 0, classes, target), 0)
    zero = cnp.zeros((), log_probabilities.dtype)
    picked = cnp.take_along_axis(log_probabilities, cnp.expand_dims(safe, axis), axis=axis)
    losses = -cnp.squeeze(picked, axis)
    weights = cnp.astype(counts, log_probabilities.dtype)
    if weight is not None:
        weights = weights * cnp.take(weight, safe)
        losses = losses * cnp.take(weight, safe)
    losses = cnp.where(counts, losses, zero)
    if smoothing:
        shape = tuple(-1 if i == axis else 1 for i in range(log_probabilities.ndim))
        every = log_probabilities if weight is None else (
            log_probabilities * cnp.reshape(weight, shape)
        )  # fmt: skip
        spread = cnp.where(counts, -cnp.sum(every, axis=axis) / classes, zero)
        losses = (1 - smoothing) * losses + smoothing * spread
    if reduction == 1:
        return cnp.sum(losses) / cnp.sum(weights)
    return _reduced(losses, reduction)


@operator("cross_entropy_loss")
def _cross_entropy(self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    axis = 1 if self.ndim > 1 else 0
    logs = nn.log_softmax(self, axis)
    if self.shape != target.shape or target.dtype.kind in "iu":
        return _nll(logs, target, weight, reduction, ignore_index, label_smoothing)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / self.shape[axis]
    terms = -logs * target
    if weight is not None:
        shape = tuple(-1 if i == axis else 1 for i in range(self.ndim))
        terms = terms * cnp.reshape(weight, shape)
    losses = cnp.sum(terms, axis=axis)
    if reduction == 1:
        return cnp.sum(losses) / max(losses.size, 1)
    return _reduced(losses, reduction)


@operator("nll_loss", "nll_loss_nd", "nll_loss2d")
def _nll_loss(self, target, weight=None, reduction=1, ignore_index=-100):
    return _nll(self, target, weight, reduction, ignore_index)


@operator("mse_loss")
def _mse(self, target, reduction=1):
    x, y = together(self, target)
    return _reduced(cnp.square(x - y), reduction)


@operator("l1_loss")
def _l1(self, target, reduction=1):
    x, y = together(self, target)
    return _reduced(cnp.abs(x - y), reduction)


@operator("smooth_l1_loss")
def _smooth_l1(self, target, reduction=1, beta=1.0):
    away = cnp.abs(self - target)
    if beta == 0:
        return _reduced(away, reduction)
    is_near = away < beta
    near = cnp.where(is_near, away, cnp.zeros((), away.dtype))  # its square is finite
    return _reduced(cnp.where(is_near, 0.5 * near * near / beta, away - 0.5 * beta), reduction)


@operator("huber_loss")
def _huber(self, target, reduction=1, delta=1.0):
    away = cnp.abs(self - target)
    is_near = away <= delta
    near = cnp.where(is_near, away, cnp.zeros((), away.dtype))  # its square is finite
    return _reduced(cnp.where(is_near, 0.5 * near * near, delta * (away - 0.5 * delta)), reduction)


@operator("binary_cross_entropy")
def _binary_cross_entropy(self, target, weight=None, reduction=1):
    low = -100.0  # torch's bound of the logarithms
    losses = (target - 1) * cnp.maximum(cnp.log1p(-self), low) - target * cnp.maximum(
        cnp.log(self), low
    )
    return _reduced(losses if weight is None else losses * weight, reduction)


@operator("binary_cross_entropy_with_logits")
def _binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1):
    log_sigmoid = -cnp.logaddexp(-self, 0.0)
    factor = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    losses = (1 - target) * self - factor * log_sigmoid
    return _reduced(losses if weight is None else losses * weight, reduction)


@operator("kl_div")
def _kl_div(self, target, reduction=1, *, log_target=False):
    if log_target:
        return _reduced(cnp.exp(target) * (target - self), reduction)
    is_positive = target > 0
    logs = cnp.log(cnp.where(is_positive, target, cnp.ones((), target.dtype)))
    zero = cnp.zeros((), target.dtype)
    return _reduced(cnp.where(is_positive, target * logs, zero) - target * self, reduction)


@operator("poisson_nll_loss")
def _poisson_nll(input, target, log_input, full, eps, reduction):
    input, target = floats(input, target)
    losses = cnp.exp(input) - target * input if log_input else input - target * cnp.log(input + eps)
    if full:
        stirling = target * cnp.log(target) - target + 0.5 * cnp.log(2 * np.pi * target)
        losses = losses + cnp.where(target <= 1, cnp.zeros((), losses.dtype), stirling)
    return _reduced(losses, reduction)


@operator("soft_margin_loss")
def _soft_margin(self, target, reduction=1):
    return _reduced(cnp.logaddexp(-target * self, 0.0), reduction)


@operator("margin_ranking_loss")
def _margin_ranking(input1, input2, target, margin=0.0, reduction=1):
    return _reduced(cnp.maximum(-target * (input1 - input2) + margin, 0), reduction)


@operator("hinge_embedding_loss")
def _hinge_embedding(self, target, margin=1.0, reduction=1):
    zero = cnp.zeros((), self.dtype)
    apart = cnp.where(target == 1, zero, cnp.maximum(margin - self, 0))
    return _reduced(apart + cnp.where(target == -1, zero, self), reduction)


@operator("cosine_similarity")
def _cosine_similarity(x1, x2, dim=1, eps=1e-08):
    x, y = cnp.broadcast_arrays(*together(floating(x1), x2))

    def unit(v: Any) -> Any:
        return v / cnp.maximum(root(cnp.sum(v * v, axis=dim, keepdims=True)), eps)

    return cnp.sum(unit(x) * unit(y), axis=dim)
