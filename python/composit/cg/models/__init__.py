"""Modules to start from: feed-forward, convolutional, recurrent, autoencoder, transformer."""

from composit.cg.models import autoencoder, convolutional, fcn, recurrent, transformer
from composit.cg.models.autoencoder import Autoencoder
from composit.cg.models.convolutional import Convolutional
from composit.cg.models.fcn import FeedForward, Linear
from composit.cg.models.recurrent import LSTMCell, Recurrent
from composit.cg.models.transformer import Transformer

__all__ = [
    "Autoencoder", "Convolutional", "FeedForward", "LSTMCell", "Linear", "Recurrent", "Transformer",
    "autoencoder", "convolutional", "fcn", "recurrent", "transformer",
]  # fmt: skip
