"""Neural networks: operations, layers, gradients, optimisers."""

from composit.nn import core, initializers, layers, operations
from composit.nn.initializers import *
from composit.nn.layers import *
from composit.nn.operations import *
from composit.nn.optimize import Optimizer, adam, adamw, optimize, sgd, sgd_optimizer
from composit.nn.training import chain_rule, stop_gradient
from composit.operations import wrap_as_operation

__all__ = [
    *operations.__all__,
    *layers.__all__,
    *initializers.__all__,
    "adam",
    "adamw",
    "chain_rule",
    "optimize",
    "sgd",
    "sgd_optimizer",
    "stop_gradient",
    "wrap_as_operation",
]
