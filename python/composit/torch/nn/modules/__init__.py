"""The modules of composit.torch.nn, by subject."""

from __future__ import annotations

from typing import Any

from composit.torch import parts, places
from composit.torch.nn.module import Module as Module
from composit.torch.nn.modules import (
    activations,
    attention,
    containers,
    convolutions,
    embedding_bag,
    lazy,
    losses,
    normalisation,
    plain,
    pools,
    recurrent,
    sampled,
    transformer,
)
from composit.torch.nn.modules.activations import *
from composit.torch.nn.modules.attention import *
from composit.torch.nn.modules.containers import *
from composit.torch.nn.modules.convolutions import *
from composit.torch.nn.modules.embedding_bag import *
from composit.torch.nn.modules.lazy import *
from composit.torch.nn.modules.losses import *
from composit.torch.nn.modules.normalisation import *
from composit.torch.nn.modules.plain import *
from composit.torch.nn.modules.pools import *
from composit.torch.nn.modules.recurrent import *
from composit.torch.nn.modules.sampled import *
from composit.torch.nn.modules.transformer import *

__all__ = [
    *activations.__all__, *attention.__all__, *containers.__all__, *convolutions.__all__,
    *embedding_bag.__all__, *lazy.__all__,
    *losses.__all__, *normalisation.__all__, *plain.__all__, *pools.__all__,
    *recurrent.__all__, *sampled.__all__,
    *transformer.__all__,
]  # fmt: skip

_part = parts.getter(__name__, ("utils",))
places.make_modules_on_devices([globals()[name] for name in __all__])

# PyTorch's names of base classes.
_bases = {
    "_ConvNd": convolutions._Convolution, "_ConvTransposeNd": convolutions._Transposed,
    "_BatchNorm": normalisation._BatchNorm, "_NormBase": normalisation._ByChannel,
    "_InstanceNorm": normalisation._InstanceNorm, "_MaxPoolNd": pools._MaxPool,
    "_AvgPoolNd": pools._AvgPool, "_DropoutNd": pools._DropoutNd, "_Loss": losses._Loss,
    "_WeightedLoss": losses._WeightedLoss,
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Bases by PyTorch's names, and modules that have PyTorch's names for these ones."""
    return _bases[name] if name in _bases else _part(name)
