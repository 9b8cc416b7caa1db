"""Modules of pools at drawn places, and of losses that hold the layer before them."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit.torch import calling
from composit.torch.named_results import named
from composit.torch.nn import fractional
from composit.torch.nn.losses import LinearCrossEntropyOptions
from composit.torch.nn.module import Module
from composit.torch.nn.modules.containers import ModuleList, Sequential
from composit.torch.nn.modules.plain import Linear

assert fractional
__all__ = ["AdaptiveLogSoftmaxWithLoss", "FractionalMaxPool2d", "FractionalMaxPool3d",
           "LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]  # fmt: skip


def _repeated(value: Any, kind: type, count: int) -> Any:
    """One number for each dimension; what is no number of that kind as it is."""
    return (value,) * count if isinstance(value, kind) else value


class _FractionalMaxPool(Module):
    _count = 2

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        count = self._count
        self.kernel_size = _repeated(kernel_size, int, count)
        self.output_size = _repeated(output_size, int, count)
        self.output_ratio = _repeated(output_ratio, float, count)
        _core.aten.check_fractional(type(self).__name__, output_size is not None, self.output_ratio)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Any) -> Any:
        """The largest elements; with return_indices also where they are."""
        return calling.neural[f"fractional_max_pool{self._count}d"](
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows of images, at drawn places."""


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows of volumes, at drawn places."""

    _count = 3


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax over many classes, the frequent ones first: those before the first cutoff have a
    row of their own, others are clusters of smaller width (Grave et al., arXiv 1609.04309)."""

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Any, div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.cutoffs, widths, sizes = map(
            list, _core.aten.class_clusters(in_features, n_classes, tuple(cutoffs), div_value)
        )
        self.in_features, self.n_classes = in_features, n_classes
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for width, size in zip(widths, sizes):
            self.tail.append(
                Sequential(Linear(in_features, width, bias=False, **made),
                           Linear(width, size, bias=False, **made))
            )  # fmt: skip

    def reset_parameters(self) -> None:
        """Draws all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> Any:
        """(output, loss): the target's log-probability of each sample, and their mean's negative.
        RuntimeError for targets that are no classes."""
        lowest, highest = int(target_.min()), int(target_.max())
        _core.aten.check_clustered(
            tuple(input_.shape), tuple(target_.shape), lowest, highest, self.n_classes
        )
        found = self.log_prob(input_.reshape(-1, input_.shape[-1]))
        output = found.gather(1, target_.reshape(-1, 1)).squeeze(1)
        return named("_ASMoutput")(output.reshape(target_.shape), (-output).mean())

    def log_prob(self, input: Any) -> Any:
        """Log-probabilities of all classes: (batch, n_classes)."""
        head = self.head(input).log_softmax(1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            own = head[:, self.shortlist_size + i : self.shortlist_size + i + 1]
            parts.append(cluster(input).log_softmax(1) + own)
        return calling.functions["cat"](parts, 1)

    def predict(self, input: Any) -> Any:
        """The likeliest class of each sample."""
        return self.log_prob(input).argmax(1)


class LinearCrossEntropyLoss(Module):
    """cross_entropy of a Linear's results; with out_features the loss has dimensions of its own."""

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: Any = (), bias: bool = False,
        device: Any = None, dtype: Any = None, reduction: str = "mean", weight: Any = None,
        ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_features, self.num_classes = in_features, num_classes
        self.out_features, self.reduction = tuple(out_features), reduction
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.options = options
        self.register_buffer("weight", weight)
        count = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, count, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Any, target: Any) -> Any:
        """The loss."""
        outer = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return calling.neural["linear_cross_entropy"](
            input, self.linear.weight.reshape(*outer, self.in_features), target,
            linear_bias=None if bias is None else bias.reshape(*outer), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip
