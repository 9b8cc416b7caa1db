"""logspace: a module, or a function of tensors, computed with logarithms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error
from composit.cg.derived import derived
from composit.cg.function import Operator
from composit.cg.module import Module
from composit.cg.values import described
from composit.evaluation import as_tensor


def logspace(function: Any) -> Any:
    """The logarithm of what a module, an operator or a function of tensors computes, itself
    computed with logarithms: a product is a sum, a sum a logsumexp, and what has no such rule is
    computed as it is. A product of many probabilities, which underflows to 0, keeps its value, and
    so do its gradients.

        cg.logspace(model)(p).value  # log(model(p).value), exact where that is log(0)

    What is multiplied, added and raised to powers must be at least 0: the logarithm of anything
    else is NaN. Where a number is exactly 0, whose logarithm is -inf, the value is right and the
    derivative with respect to that number NaN. A module has the same inputs and parameters, a
    function the same arguments."""
    if isinstance(function, (Operator, Module)):
        own = [] if isinstance(function, Operator) else function.parameters()
        return derived(f"log {function.functional_name}", function, own, _logs, logspace, function)
    if not callable(function):
        raise type_error(
            f"logspace: {described(function)}, of type {type(function).__name__}, is given. A "
            "module, an operator or a function of tensors is required."
        )

    @functools.wraps(function)
    def in_logs(*tensors: Any) -> LazyTensor:
        given = [as_tensor(x) for x in tensors]
        return _logs(lambda inside: as_tensor(function(*inside)), given)

    return in_logs


def _logs(compute: Callable[[list[LazyTensor]], LazyTensor], given: list[LazyTensor]) -> LazyTensor:
    """Between placeholders and the result: how the arguments were made does not matter."""
    inside = [_core.input(f"x{i}", x.dtype, x.shape) for i, x in enumerate(given)]
    return _core.substitute(_core.cg.logspace([compute(inside)]), inside, given)[0]
