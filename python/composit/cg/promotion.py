"""Dtypes of operands: Python's numbers among them promote as NumPy's do, by their kind alone.

Source: NEP 50, https://numpy.org/neps/nep-0050-scalar-promotion.html
"""

from __future__ import annotations

from typing import Any

from composit import _core
from composit._core import LazyTensor

NUMBERS = (int, float, complex)
_LIKE: dict[str, Any] = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}


def is_number(value: Any) -> bool:
    """Whether it is a number of Python, which has no dtype of its own."""
    return type(value) in NUMBERS


def operands(
    nodes: list[Any], tensors: list[LazyTensor], is_call: bool = False
) -> list[LazyTensor]:
    """The tensors of nodes that an operator is given: parameters that are numbers of Python in the
    dtype that such a number has beside the others. (Literals are weak tensors: functions of tensors
    do that themselves.) In the call, OverflowError for integers that it has no room for."""
    if not any(node._is_weak for node in nodes):
        return tensors
    are_weak = [n._is_weak and not x.ndim and not x.is_weak for n, x in zip(nodes, tensors)]
    result = []
    others = [x for x, is_weak in zip(tensors, are_weak) if not is_weak and not x.is_weak]
    for i, x in enumerate(tensors):
        checked = nodes[i] if is_call and not nodes[i]._is_lazy else None
        result.append(_beside(x, others, checked) if are_weak[i] else x)
    return result


def strong(tensors: list[LazyTensor]) -> list[LazyTensor]:
    """The tensors where placeholders, which are never weak, take their places: weak ones of floats
    in the dtype that they have beside the others. Integers stay, as they may be indices."""
    others = [x for x in tensors if not x.is_weak]
    return [
        _beside(_core.numpy.strong(x), others) if x.is_weak and x.dtype.kind in "fc" else x
        for x in tensors
    ]


def _beside(x: LazyTensor, others: list[LazyTensor], checked: Any = None) -> LazyTensor:
    import numpy as np

    if all(one.dtype == x.dtype for one in others):
        return x
    dtype = _core.numpy.result_type([*others, weak(_LIKE[x.dtype.kind])])
    if checked is not None and dtype.kind in "iu":
        np.asarray(checked.value, dtype)  # which refuses what does not fit
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
