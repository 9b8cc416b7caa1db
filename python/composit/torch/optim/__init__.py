"""composit.torch.optim: torch's optimisers, whose formulas are torch's, and learning rates."""

from composit.torch import parts
from composit.torch.optim import lr_scheduler
from composit.torch.optim.adams import Adam, AdamW, NAdam, RAdam
from composit.torch.optim.adaptive import (
    ASGD,
    Adadelta,
    Adagrad,
    Adamax,
    RMSprop,
    Rprop,
    SparseAdam,
)
from composit.torch.optim.factored import Adafactor, Muon
from composit.torch.optim.lbfgs import LBFGS
from composit.torch.optim.optimizer import Optimizer
from composit.torch.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
]  # fmt: skip

__getattr__ = parts.getter(__name__, ("swa_utils",))
