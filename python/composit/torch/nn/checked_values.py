"""Functions of networks that refuse values: probabilities outside [0, 1], classes that are not
there. Values that are not computed yet are not checked, so that no check cuts a graph in two."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from composit._core import runtime_error, value_error
from composit.torch import calling, dtypes
from composit.torch.calling import TensorBase
from composit.torch.materializing import known_values_of
from composit.torch.nn import functional, losses, pools_and_losses

assert functional and losses and pools_and_losses  # they fill the table of functions


def _refuse(text: str) -> None:
    raise runtime_error(text)


def _known(tensor: Any) -> Any:
    return known_values_of(tensor) if isinstance(tensor, TensorBase) else None


def _check_probabilities(input: Any, target: Any, *_: Any, **__: Any) -> None:
    for name, tensor in (("input", input), ("target", target)):
        values = _known(tensor)
        if values is not None and not ((values >= 0) & (values <= 1)).all():
            _refuse(f"all elements of {name} should be between 0 and 1")


def _check_target(input: Any, target: Any, p: int = 1, *_: Any, **__: Any) -> None:
    if p not in (1, 2):
        raise value_error("only p == 1 and p == 2 supported")
    values = _known(target)
    if values is not None and input.ndim and ((values < 0) | (values >= input.shape[-1])).any():
        _refuse("target out of range")


def _check_classes(input: Any, num_classes: int = -1) -> None:
    if not isinstance(input, TensorBase):
        return
    if input.dtype is not dtypes.by_name["int64"]:
        _refuse("one_hot is only applicable to index tensor of type LongTensor.")
    if input.numel() == 0:
        if num_classes <= 0:
            _refuse("Can not infer total number of classes from empty tensor.")
        return
    values = _known(input)
    if values is not None and values.min() < 0:
        _refuse("Class values must be non-negative.")
    is_small = values is None or num_classes == -1 or values.max() < num_classes
    if not is_small or num_classes < -1:
        _refuse("Class values must be smaller than num_classes.")


def _check_lengths(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *_: Any, **__: Any
) -> None:  # fmt: skip
    def longest(lengths: Any) -> int:
        values = _known(lengths) if isinstance(lengths, TensorBase) else lengths
        return 0 if values is None else int(np.max(values, initial=0))

    times, length = log_probs.shape[0], longest(target_lengths)
    if longest(input_lengths) > times:
        _refuse(
            f"Expected input_lengths to have value at most {times}, but got value "
            f"{longest(input_lengths)} (while checking arguments for ctc_loss)"
        )
    if targets.ndim == 2 and length > targets.shape[1]:
        _refuse(
            f"Expected tensor to have size at least {length} at dimension 1, but got size "
            f"{targets.shape[1]} for argument #2 'targets' (while checking arguments for ctc_loss)"
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
