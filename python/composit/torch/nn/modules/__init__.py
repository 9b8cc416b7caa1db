"""The modules of composit.torch.nn, by subject."""

from composit.torch.nn.modules import (
    activations,
    attention,
    containers,
    convolutions,
    further,
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
from composit.torch.nn.modules.further import *
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
    *further.__all__, *lazy.__all__,
    *losses.__all__, *normalisation.__all__, *plain.__all__, *pools.__all__,
    *recurrent.__all__, *sampled.__all__,
    *transformer.__all__,
]  # fmt: skip
