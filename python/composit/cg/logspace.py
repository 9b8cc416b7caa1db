"""logspace: a module, or a function of tensors, computed with logarithms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from composit import _core
from composit._core import LazyTensor, with_location
from composit.cg.derivatives import of_tensors
from composit.cg.function import Operator
from composit.cg.module import DerivedModule, Module
from composit.cg.session import with_hidden
from composit.cg.template import Variable, distinct
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
        return _module(function)
    if not callable(function):
        raise TypeError(
            with_location(
                f"logspace: {described(function)}, of type {type(function).__name__}, is given. A "
                "module, an operator or a function of tensors is required."
            )
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


def _module(function: Any) -> Module:
    role = f"log {function.functional_name}"
    own = [] if isinstance(function, Operator) else function.parameters()

    class Logspace(Operator):
        """The function, in log space."""

        def __init__(self, parameters: list[Any]) -> None:
            names = distinct([one.short_name for one in (*function.inputs, *parameters)])
            super().__init__(tuple(map(Variable, names)), functional_name=role)
            self._compute = of_tensors(function, parameters)
            self._promoted = len(function.inputs)  # parameters do where the function uses them

        def _op_impl(self, *arrays: Any) -> LazyTensor:
            return _logs(self._compute, list(arrays))

    def call(module: Any, *nodes: Any) -> Any:
        return with_hidden(lambda known: Logspace(known)(*nodes, *known), own)

    return DerivedModule(role, call, logspace, function)
