"""Modules: layers that hold parameters and are called."""

from composit.tensorgrad.nn import init
from composit.tensorgrad.nn.layers import (
    Conv2d,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    Linear,
    MultiheadAttention,
    ReLU,
    Sequential,
    Sigmoid,
    Softmax,
)
from composit.tensorgrad.nn.losses import CrossEntropyLoss, MSELoss
from composit.tensorgrad.nn.module import Buffer, Module, Parameter
from composit.tensorgrad.nn.norms import BatchNorm1d, BatchNorm2d, LayerNorm
from composit.tensorgrad.nn.pools import AvgPool2d, MaxPool2d

__all__ = [
    "AvgPool2d", "BatchNorm1d", "BatchNorm2d", "Buffer", "Conv2d", "CrossEntropyLoss", "Dropout",
    "Embedding", "Flatten", "Identity", "LayerNorm", "Linear", "MSELoss", "MaxPool2d", "Module",
    "MultiheadAttention", "Parameter", "ReLU", "Sequential", "Sigmoid", "Softmax", "init",
]  # fmt: skip
