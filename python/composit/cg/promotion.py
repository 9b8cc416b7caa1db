"""Dtypes of operands: Python's numbers among them promote as NumPy's do, by their kind alone.

Source: NEP 50, https://numpy.org/neps/nep-0050-scalar-promotion.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor

NUMBERS = (int, float, complex)


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
    are_numbers = [bool(node._is_weak) for node in nodes]
    made, given = _core.cg.applied_to_numbers(
        operator.apply, tensors, are_numbers, operator._promoted
    )
    if is_call:
        for node, before, after in zip(nodes, tensors, given):
            if before.dtype != after.dtype and after.dtype.kind in "iu" and not node._is_lazy:
                np.asarray(node.value, after.dtype)  # which refuses what does not fit
    return made


def weak(value: Any) -> LazyTensor:
    """A number of Python as a tensor that takes the dtype of the others in an operation."""
    return _core.substitute([value], [], [])[0]
