"""Options of optimisers and schedules that are out of bounds: PyTorch's errors."""

from __future__ import annotations

import re
from typing import Any

import pytest

import composit.torch as ours

torch = pytest.importorskip("torch")

_OPTIMIZERS = [
    "SGD(p, lr=-0.1)", "SGD(p, momentum=-1)", "SGD(p, weight_decay=-0.5)",
    "SGD(p, nesterov=True)", "SGD(p, momentum=0.5, dampening=0.1, nesterov=True)",
    "Adam(p, lr=-1)", "Adam(p, eps=-1e-08)", "Adam(p, betas=(1.0, 0.9))",
    "Adam(p, betas=(0.9, -1))", "Adam(p, betas=(0.9, 2))", "Adam(p, weight_decay=-1e-05)",
    "AdamW(p, betas=(0.9, 1.5))", "NAdam(p, eps=-1)", "RAdam(p, betas=(1, 0.9))",
    "Adamax(p, eps=-0.5)", "RMSprop(p, alpha=-0.1)", "RMSprop(p, momentum=-0.5)",
    "RMSprop(p, eps=-2)", "Adagrad(p, lr_decay=-0.1)", "Adagrad(p, initial_accumulator_value=-1)",
    "Adagrad(p, eps=-1.0)", "Adadelta(p, rho=1.5)", "Adadelta(p, rho=-1)", "Adadelta(p, eps=-1)",
    "Rprop(p, etas=(1.5, 1.2))", "Rprop(p, etas=(0.5, 1))", "ASGD(p, weight_decay=-1.0)",
    "SparseAdam(p, betas=(0.9, 1.0))", "Adafactor(p, beta2_decay=0.5)",
    "Adafactor(p, eps=(-0.1, 1e-3))", "Adafactor(p, eps=(None, -1.0))", "Adafactor(p, d=0.5)",
    "LBFGS(p, lr=-2)",
]  # fmt: skip
_SCHEDULES = [
    "OneCycleLR(o, 0.1)", "OneCycleLR(o, 0.1, epochs=3)", "OneCycleLR(o, 0.1, total_steps=0)",
    "OneCycleLR(o, 0.1, total_steps=2.5)", "OneCycleLR(o, 0.1, epochs=-1, steps_per_epoch=3)",
    "OneCycleLR(o, 0.1, epochs=2, steps_per_epoch=0)",
    "OneCycleLR(o, 0.1, total_steps=9, pct_start=1.5)",
    "OneCycleLR(o, 0.1, total_steps=9, pct_start=1)",
    "OneCycleLR(o, 0.1, total_steps=9, anneal_strategy='line')",
    "CosineAnnealingWarmRestarts(o, 0)", "CosineAnnealingWarmRestarts(o, 2.5)",
    "CosineAnnealingWarmRestarts(o, 2, T_mult=0)", "CosineAnnealingWarmRestarts(o, 2, T_mult=1.5)",
    "CosineAnnealingWarmRestarts(o, 2).step(-1)", "CosineAnnealingWarmRestarts(o, 2).step(-0.5)",
    "ReduceLROnPlateau(o, factor=1.0)", "ReduceLROnPlateau(o, mode='mean')",
    "ReduceLROnPlateau(o, threshold_mode='half')",
]  # fmt: skip


def _error_of(library: Any, text: str) -> tuple[type, str]:
    parameter = library.zeros(2, 2, requires_grad=True)
    optim = library.optim
    optimizer = optim.SGD([parameter], lr=0.1, momentum=0.9)
    names = {**vars(optim), **vars(optim.lr_scheduler), "p": [parameter], "o": optimizer}
    names["LBFGS"] = optim.LBFGS  # composit.torch has parts that are imported when asked for
    with pytest.raises(Exception) as caught:
        eval(text, names)
    return caught.type, re.sub(r" \[<string>:1\]$", "", str(caught.value))


@pytest.mark.parametrize("text", _OPTIMIZERS + _SCHEDULES)
def test_bounds_are_pytorchs(text: str) -> None:
    assert _error_of(ours, text) == _error_of(torch, text)


def test_rates_that_are_tensors_have_no_bounds() -> None:
    library: Any = ours
    rate = library.tensor(0.1)
    assert library.optim.Adam([library.zeros(2)], lr=rate).param_groups[0]["lr"] is rate
