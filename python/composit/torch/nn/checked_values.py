"""Functions of networks that refuse values: probabilities outside [0, 1], classes that are not
there. Values that are not computed yet are not checked, so that no check cuts a graph in two."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit.torch import calling
from composit.torch.calling import TensorBase
from composit.torch.functions.random import extremes
from composit.torch.materializing import known_values_of
from composit.torch.nn import functional, losses, pools_and_losses

_aten = _core.aten
assert functional and losses and pools_and_losses  # they fill the table of functions


def _check_probabilities(input: Any, target: Any, *_: Any, **__: Any) -> None:
    for name, tensor in (("input", input), ("target", target)):
        _aten.check_probabilities(name, *extremes(tensor, 0.5))


def _check_target(input: Any, target: Any, p: int = 1, *_: Any, **__: Any) -> None:
    _aten.check_margin_power(p)
    if input.ndim:
        _aten.check_margin_labels(*extremes(target, 0), max(input.shape[-1], 1))


def _check_classes(input: Any, num_classes: int = -1) -> None:
    if isinstance(input, TensorBase):
        _aten.check_class_count(input.dtype.numpy, input.numel(), num_classes)
        _aten.check_class_values(*extremes(input, 0), max(num_classes, -1))


def _longest(lengths: Any) -> int:
    values = known_values_of(lengths) if isinstance(lengths, TensorBase) else lengths
    return 0 if values is None else int(np.max(values, initial=0))


def _check_lengths(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *_: Any, **__: Any
) -> None:  # fmt: skip
    length = targets.shape[1] if targets.ndim == 2 else -1
    _aten.check_ctc_lengths(
        _longest(input_lengths), log_probs.shape[0], _longest(target_lengths), length
    )


def _checked(name: str, check: Callable[..., None]) -> None:
    """Puts the check before the function of that name."""
    function = calling.neural[name]

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        check(*args, **kwargs)
        return function(*args, **kwargs)

    calling.neural[name] = checked


_checked("binary_cross_entropy", _check_probabilities)
_checked("multi_margin_loss", _check_target)
_checked("one_hot", _check_classes)
_checked("ctc_loss", _check_lengths)
