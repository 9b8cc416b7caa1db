"""Dtypes of operands: Python's numbers among them promote as NumPy's do, by their kind alone.

Source: NEP 50, https://numpy.org/neps/nep-0050-scalar-promotion.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, NotSupported

# What operators refuse operands with.
REFUSALS = (TypeError, ValueError, IndexError, NotSupported)
NUMBERS = (int, float, complex)
_LIKE: dict[str, Any] = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}


def is_number(value: Any) -> bool:
    """Whether it is a number of Python, which has no dtype of its own."""
    return type(value) in NUMBERS


def applied(
    operator: Any, nodes: list[Any], tensors: list[LazyTensor], is_call: bool = False
) -> LazyTensor:
    """What the operator makes of these tensors of its nodes: parameters that are numbers of Python
    in the dtype that such a number has beside the others. Integers stay where the operator needs
    them as such (an index), and where its dtype does not depend on theirs. (Literals are weak
    tensors: functions of tensors do that themselves.) In the call, OverflowError for integers that
    the dtype has no room for."""
    are_weak = [n._is_weak and not x.ndim and not x.is_weak for n, x in zip(nodes, tensors)]
    others = [x for x, is_weak in zip(tensors, are_weak) if not is_weak and not x.is_weak]
    if operator._promoted is not None:
        are_weak[operator._promoted :] = [False] * len(are_weak[operator._promoted :])
        others = [x for x in others if any(x is one for one in tensors[: operator._promoted])]
    given = [_beside(x, others) if is_weak else x for x, is_weak in zip(tensors, are_weak)]
    integers = [i for i, x in enumerate(tensors) if given[i] is not x and x.dtype.kind in "iu"]
    try:
        made = operator.apply(given)
        # Of float operands the number is a float; of integers it may be wider than their dtype.
        places = [i for i in integers if given[i].dtype.kind in "iu"]
        given, made = _tried(operator, given, made, {i: tensors[i] for i in places})
    except REFUSALS:
        kept = [tensors[i] if i in integers else x for i, x in enumerate(given)]
        if not integers or (made := _accepted(operator, kept)) is None:
            raise
        places = [i for i in integers if given[i].dtype.kind not in "iu"]
        given, made = _tried(
            operator, kept, made, {i: given[i] for i in places}, is_dtype_kept=False
        )
    if is_call:
        for i in integers:
            if given[i] is not tensors[i] and given[i].dtype.kind in "iu" and not nodes[i]._is_lazy:
                np.asarray(nodes[i].value, given[i].dtype)  # which refuses what does not fit
    return made


def _tried(
    operator: Any,
    given: list[LazyTensor],
    made: LazyTensor,
    instead: dict[int, LazyTensor],
    is_dtype_kept: bool = True,
) -> tuple[list[LazyTensor], LazyTensor]:
    """The operands with those of `instead`, one by one, that the operator takes, and by which its
    dtype stays if that is wanted; what it makes of them."""
    for i, x in instead.items():
        trial = [*given[:i], x, *given[i + 1 :]]
        result = _accepted(operator, trial)
        if result is not None and (result.dtype == made.dtype or not is_dtype_kept):
            given, made = trial, result
    return given, made


def _accepted(operator: Any, tensors: list[LazyTensor]) -> LazyTensor | None:
    try:
        return operator.apply(tensors)  # type: ignore[no-any-return]
    except REFUSALS:
        return None


def strong(tensors: list[LazyTensor]) -> list[LazyTensor]:
    """The tensors where placeholders, which are never weak, take their places: weak ones of floats
    in the dtype that they have beside the others. Integers stay, as they may be indices."""
    others = [x for x in tensors if not x.is_weak]
    return [
        _beside(_core.numpy.strong(x), others) if x.is_weak and x.dtype.kind in "fc" else x
        for x in tensors
    ]


def _beside(x: LazyTensor, others: list[LazyTensor]) -> LazyTensor:
    if all(one.dtype == x.dtype for one in others):
        return x
    dtype = _core.numpy.result_type([*others, weak(_LIKE[x.dtype.kind])])
    return x if x.dtype == dtype else x.astype(dtype)


def as_float(x: LazyTensor) -> LazyTensor:
    """Integers as float64; weak ones stay weak."""
    if not x.is_weak:
        return x.astype("float64")
    from composit.evaluation import evaluate

    return weak(float(evaluate(x)))


def weak(value: Any) -> LazyTensor:
    """A number of Python as a tensor that takes the dtype of the others in an operation."""
    return _core.substitute([value], [], [])[0]
