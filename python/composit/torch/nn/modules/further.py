"""Modules of the functions in composit/torch/nn/further.py."""

from __future__ import annotations

from typing import Any

from composit.torch import calling
from composit.torch.nn import further, grid, init
from composit.torch.nn.module import Module
from composit.torch.nn.modules.of_function import module_of
from composit.torch.nn.modules.plain import parameter

assert further and grid
__all__ = [
    "EmbeddingBag", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "MultiMarginLoss",
    "TripletMarginWithDistanceLoss", "UpsamplingBilinear2d", "UpsamplingNearest2d",
]  # fmt: skip


def _enter(made: Any) -> None:
    globals()[made.__name__] = made
    __all__.append(made.__name__)


_reduction = "size_average=None, reduce=None, reduction=mean"
for _name, _function, _signature, _doc in (
    ("LocalResponseNorm", "local_response_norm", "size, alpha=0.0001, beta=0.75, k=1.0",
     "Divided by a power of the mean square of neighbouring channels."),
    ("MultiLabelMarginLoss", "multilabel_margin_loss", _reduction,
     "How far classes that are no labels are above those that are, less 1."),
    ("CTCLoss", "ctc_loss", "blank=0, reduction=mean, zero_infinity=False",
     "-log of the probability of the targets, over all ways to align them."),
):  # fmt: skip
    _enter(module_of(_name, _function, _signature, doc=_doc))
for _name, _function in (("AlphaDropout", "alpha_dropout"),
                         ("FeatureAlphaDropout", "feature_alpha_dropout")):  # fmt: skip
    _enter(module_of(_name, _function, "p=0.5, inplace=False", in_training=True,
                     doc="Dropout that keeps mean and variance of what SELU gives."))  # fmt: skip


class _MaxUnpool(Module):
    """Elements back where max_pool's indices say, zeros elsewhere."""

    _function = ""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """input unpooled; output_size where several would fit."""
        return calling.neural[self._function](
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        """Its options."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The inverse of MaxPool1d."""

    _function = "max_unpool1d"


class MaxUnpool2d(_MaxUnpool):
    """The inverse of MaxPool2d."""

    _function = "max_unpool2d"


class MaxUnpool3d(_MaxUnpool):
    """The inverse of MaxPool3d."""

    _function = "max_unpool3d"


class MultiMarginLoss(Module):
    """How far other classes are above the target's less a margin."""

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: Any = None,
        reduce: Any = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__()
        self.register_buffer("weight", weight)
        self.p, self.margin, self.reduction = p, margin, reduction

    def forward(self, input: Any, target: Any) -> Any:
        """The loss."""
        return calling.neural["multi_margin_loss"](
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(Module):
    """How much nearer than the positive, less a margin, the negative is to the anchor."""

    def __init__(
        self, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__()
        self.distance_function, self.margin = distance_function, margin
        self.swap, self.reduction = swap, reduction

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        """The loss."""
        return calling.neural["triplet_margin_with_distance_loss"](
            anchor, positive, negative, distance_function=self.distance_function,
            margin=self.margin, swap=self.swap, reduction=self.reduction,
        )  # fmt: skip


class _Upsampling(Module):
    _mode = "nearest"
    _align: bool | None = None

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def forward(self, input: Any) -> Any:
        """Images of another size."""
        return calling.neural["interpolate"](input, self.size, self.scale_factor, self._mode,
                                             self._align)  # fmt: skip


class UpsamplingNearest2d(_Upsampling):
    """Images of another size, by the nearest pixel."""


class UpsamplingBilinear2d(_Upsampling):
    """Images of another size, bilinearly with corners aligned."""

    _mode, _align = "bilinear", True


class EmbeddingBag(Module):
    """Sums, means or largest of rows of weight, by bags."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, _weight: Any = None, include_last_offset: bool = False,
        padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.options = {"max_norm": max_norm, "norm_type": norm_type, "sparse": sparse,
                        "scale_grad_by_freq": scale_grad_by_freq, "mode": mode,
                        "include_last_offset": include_last_offset,
                        "padding_idx": padding_idx}  # fmt: skip
        self.mode, self.padding_idx = mode, padding_idx
        self.weight = parameter(num_embeddings, embedding_dim, dtype=dtype, device=device)
        if _weight is None:
            init.normal_(self.weight)
        else:
            self.weight.data = _weight

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Bags of rows: (bags, embedding_dim)."""
        return calling.neural["embedding_bag"](
            input, self.weight, offsets, per_sample_weights=per_sample_weights, **self.options
        )

    def extra_repr(self) -> str:
        """Its sizes and mode."""
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}"
