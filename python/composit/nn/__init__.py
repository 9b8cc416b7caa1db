"""Neural networks: operations, layers, gradients, optimisers."""

from composit import _public_names
from composit.nn import (
    activations,
    attention,
    checkpoints,
    composing,
    core,
    images,
    initializers,
    layers,
    losses,
    operations,
    quantization,
    recurrent,
    resizing,
    schedules,
)
from composit.nn.activations import *
from composit.nn.attention import *
from composit.nn.budget import compile_within
from composit.nn.checkpoints import *
from composit.nn.composing import *
from composit.nn.evaluate import evaluate
from composit.nn.images import *
from composit.nn.initializers import *
from composit.nn.layers import *
from composit.nn.losses import *
from composit.nn.operations import *
from composit.nn.optimize import (
    Optimizer,
    Schedule,
    adagrad,
    adam,
    adamw,
    clip_by_global_norm,
    clip_by_value,
    global_norm,
    lion,
    optimize,
    rmsprop,
    sgd,
    sgd_optimizer,
)
from composit.nn.quantization import *
from composit.nn.recurrent import *
from composit.nn.remat import remat
from composit.nn.resizing import *
from composit.nn.schedules import *
from composit.nn.training import chain_rule, gradient_where, stop_gradient, with_values
from composit.operations import wrap_as_operation

__all__ = [
    *activations.__all__,
    *attention.__all__,
    *images.__all__,
    *operations.__all__,
    *layers.__all__,
    *losses.__all__,
    *initializers.__all__,
    *quantization.__all__,
    *recurrent.__all__,
    *resizing.__all__,
    *schedules.__all__,
    *checkpoints.__all__,
    *composing.__all__,
    "adagrad",
    "adam",
    "adamw",
    "chain_rule",
    "clip_by_global_norm",
    "clip_by_value",
    "compile_within",
    "evaluate",
    "global_norm",
    "gradient_where",
    "lion",
    "optimize",
    "remat",
    "rmsprop",
    "sgd",
    "sgd_optimizer",
    "stop_gradient",
    "with_values",
    "wrap_as_operation",
]

_public_names.publish("composit.nn", globals())
