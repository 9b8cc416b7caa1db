"""torch's losses, by composit::aten's. reduction is 0 for none, 1 for the mean, 2 for the sum."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit.flashlight.operators.table import operator

_aten = _core.aten


@operator("cross_entropy_loss")
def _cross_entropy(self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    return _aten.cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing)


@operator("nll_loss", "nll_loss_nd", "nll_loss2d")
def _nll_loss(self, target, weight=None, reduction=1, ignore_index=-100):
    return _aten.nll_loss(self, target, weight, reduction, ignore_index)


@operator("mse_loss")
def _mse(self, target, reduction=1):
    return _aten.mse_loss(self, target, reduction)


@operator("l1_loss")
def _l1(self, target, reduction=1):
    return _aten.l1_loss(self, target, reduction)


@operator("smooth_l1_loss")
def _smooth_l1(self, target, reduction=1, beta=1.0):
    return _aten.smooth_l1_loss(self, target, reduction, beta)


@operator("huber_loss")
def _huber(self, target, reduction=1, delta=1.0):
    return _aten.huber_loss(self, target, reduction, delta)


@operator("binary_cross_entropy")
def _binary_cross_entropy(self, target, weight=None, reduction=1):
    return _aten.binary_cross_entropy(self, target, weight, reduction)


@operator("binary_cross_entropy_with_logits")
def _binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1):
    return _aten.binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)


@operator("kl_div")
def _kl_div(self, target, reduction=1, *, log_target=False):
    return _aten.kl_div(self, target, reduction, log_target)


@operator("poisson_nll_loss")
def _poisson_nll(input, target, log_input, full, eps, reduction):
    return _aten.poisson_nll_loss(input, target, log_input, full, eps, reduction)


@operator("soft_margin_loss")
def _soft_margin(self, target, reduction=1):
    return _aten.soft_margin_loss(self, target, reduction)


@operator("margin_ranking_loss")
def _margin_ranking(input1, input2, target, margin=0.0, reduction=1):
    return _aten.margin_ranking_loss(input1, input2, target, margin, reduction)


@operator("hinge_embedding_loss")
def _hinge_embedding(self, target, margin=1.0, reduction=1):
    return _aten.hinge_embedding_loss(self, target, margin, reduction)


@operator("cosine_similarity")
def _cosine_similarity(x1, x2, dim=1, eps=1e-08):
    return _aten.cosine_similarity(x1, x2, dim, eps)


def _shape_of_ctc(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: int = 1, zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """A number, or a loss for each sequence of a batch."""
    return log_probs.new_empty(log_probs.shape[1:-1] if reduction == 0 else ())


@operator("ctc_loss.IntList", "ctc_loss.Tensor", meta=_shape_of_ctc)
def _ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False
):
    inputs, outputs = cnp.asarray(input_lengths), cnp.asarray(target_lengths)
    return _aten.ctc_loss(log_probs, targets, inputs, outputs, blank, reduction, zero_infinity)
